//go:build device && linux

package device

import (
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/emulated"
)

// channel is a completion channel, which does not block if it says so.
func (r *rig) channel(nonblocking bool) *ibv.CompChannel {
	r.t.Helper()
	channel, err := r.ctx.CreateCompChannel()
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, channel.Close()) })
	require.NoError(r.t, channel.SetNonblock(nonblocking))
	return channel
}

// cqOn is a completion queue whose events go to the channel.
func (r *rig) cqOn(channel *ibv.CompChannel, entries int, cqContext uintptr, vector int) *ibv.CQ {
	r.t.Helper()
	cq, err := r.ctx.CreateCQWithChannel(entries, cqContext, channel, vector)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, cq.Close()) })
	return cq
}

// qpOn is a queue pair with the given completion queues.
func (r *rig) qpOn(typ ibv.QPType, send, recv *ibv.CQ) *ibv.QP {
	r.t.Helper()
	qp, err := r.pd.CreateQP(&ibv.QPInitAttr{
		SendCQ: send, RecvCQ: recv, QPType: typ,
		Cap: ibv.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 4, MaxRecvSGE: 4},
	})
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, qp.Close()) })
	return qp
}

// listener is a sender, and a receiver whose completions cause events.
type listener struct {
	*rig
	channel  *ibv.CompChannel
	cq       *ibv.CQ // of the receiver's receives
	sender   side
	receiver *ibv.QP
	mr       *ibv.MR
}

const cookie = uintptr(0x1122334455667788)

func newListener(t *testing.T, nonblocking bool, vector int) *listener {
	t.Helper()
	r := newRig(t)
	l := &listener{rig: r, channel: r.channel(nonblocking), mr: r.memory(2)}
	l.cq = r.cqOn(l.channel, 64, cookie, vector)
	l.sender, l.receiver = r.side(ibv.QPTRC, 16, 1, nil), r.qpOn(ibv.QPTRC, r.cq(16), l.cq)
	r.connect(l.sender.QP, l.receiver)
	return l
}

// message sends one message, which has arrived when message returns.
func (l *listener) message(flags ibv.SendFlags) {
	l.t.Helper()
	_, err := l.recvChain(1, l.mr).Post(l.receiver)
	require.NoError(l.t, err)
	sends := l.sendChain(1, l.mr, func(int) int { return 8 })
	require.NoError(l.t, sends.Set(0, 7, ibv.WRSend, ibv.SendSignaled|flags, l.mr.SGE(slot, 8)))
	_, err = sends.Post(l.sender.QP)
	require.NoError(l.t, err)
	l.poll(l.sender.send, 1)
}

// event gets an event of the queue, and acknowledges it.
func (l *listener) event() {
	l.t.Helper()
	cq, context, err := l.channel.GetCQEvent()
	require.NoError(l.t, err)
	require.Same(l.t, l.cq, cq)
	require.Equal(l.t, cookie, context)
	require.NoError(l.t, cq.AckEvents(1))
}

// noEvent requires that a channel that does not block has no event.
func (l *listener) noEvent() {
	l.t.Helper()
	_, _, err := l.channel.GetCQEvent()
	require.ErrorIs(l.t, err, syscall.EAGAIN)
}

func TestCompletionEvents(t *testing.T) {
	ctx, err := ibv.Open(deviceName)
	require.NoError(t, err)
	last := int(ctx.NumCompVectors) - 1
	require.NoError(t, ctx.Close())
	for _, vector := range []int{0, last} {
		l := newListener(t, true, vector)
		require.Equal(t, cookie, l.cq.CQContext)
		require.Equal(t, l.channel, l.cq.Channel)
		_, _, err := l.channel.GetCQEvent()
		require.ErrorIs(t, err, syscall.EAGAIN)
		require.ErrorContains(t, err, "wait until it is readable")

		l.message(0)
		l.noEvent() // nobody asked
		require.NoError(t, l.cq.ReqNotify(false))
		l.noEvent() // what is there already does not count
		l.poll(l.cq, 1)
		l.message(0)
		l.message(0)
		l.event()
		l.noEvent() // one for a request
		l.poll(l.cq, 2)
	}
}

func TestSolicitedEvents(t *testing.T) {
	l := newListener(t, true, 0)
	require.NoError(t, l.cq.ReqNotify(true))
	l.message(0)
	l.noEvent()
	l.message(ibv.SendSolicited)
	l.event()
	l.noEvent()
	require.NoError(t, l.cq.ReqNotify(true))
	require.NoError(t, l.cq.ReqNotify(false))
	l.message(0)
	l.event()
}

func TestEventsWithoutChannel(t *testing.T) {
	r := newRig(t)
	cq := r.cq(4)
	require.Nil(t, cq.Channel)
	require.NoError(t, cq.ReqNotify(false), "which the provider does not refuse")
}

// A channel's events say which of its queues they are of.
func TestSeveralQueuesOnAChannel(t *testing.T) {
	const n = 5
	r := newRig(t)
	channel, mr := r.channel(false), r.memory(1)
	contexts := map[*ibv.CQ]uintptr{}
	for i := range n {
		cq := r.cqOn(channel, 16, uintptr(100+i), i%int(r.ctx.NumCompVectors))
		sender, receiver := r.side(ibv.QPTRC, 1, 1, nil), r.qpOn(ibv.QPTRC, r.cq(4), cq)
		r.connect(sender.QP, receiver)
		require.NoError(t, cq.ReqNotify(false))
		_, err := r.recvChain(1, mr).Post(receiver)
		require.NoError(t, err)
		_, err = r.sendChain(1, mr, func(int) int { return 1 }).Post(sender.QP)
		require.NoError(t, err)
		contexts[cq] = uintptr(100 + i)
	}
	require.ErrorIs(t, channel.Close(), syscall.EBUSY, "queues are on it")
	for range n {
		cq, context, err := channel.GetCQEvent()
		require.NoError(t, err)
		require.Equal(t, contexts[cq], context)
		delete(contexts, cq)
		require.NoError(t, cq.AckEvents(1))
		r.poll(cq, 1)
	}
	require.Empty(t, contexts)
}

func TestMisplacedQueue(t *testing.T) {
	r, other := newRig(t), newRig(t)
	_, err := r.ctx.CreateCQWithChannel(1, 0, other.channel(false), 0)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "belongs to a different context")
	_, err = r.ctx.CreateCQWithChannel(1, 0, nil, -1)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "no completion vector -1")
	_, err = r.ctx.CreateCQWithChannel(1, 0, r.channel(false), int(r.ctx.NumCompVectors))
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "the completion vector is")
}

// Closing a queue waits for the acknowledgement of its events, and other
// goroutines go on meanwhile.
func TestCloseWaitsForAcknowledgement(t *testing.T) {
	r := newRig(t)
	channel, mr := r.channel(false), r.memory(1)
	cq, err := r.ctx.CreateCQWithChannel(16, 0, channel, 0)
	require.NoError(t, err)
	sender := r.side(ibv.QPTRC, 1, 1, nil)
	receiver, err := r.pd.CreateQP(&ibv.QPInitAttr{SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC, Cap: ibv.QPCap{MaxRecvWR: 4, MaxRecvSGE: 1}})
	require.NoError(t, err)
	r.connect(sender.QP, receiver)
	require.ErrorIs(t, cq.Close(), syscall.EBUSY)
	for range 2 {
		require.NoError(t, cq.ReqNotify(false))
		_, err = r.recvChain(1, mr).Post(receiver)
		require.NoError(t, err)
		_, err = r.sendChain(1, mr, func(int) int { return 1 }).Post(sender.QP)
		require.NoError(t, err)
		got, _, err := channel.GetCQEvent()
		require.NoError(t, err)
		require.Same(t, cq, got)
		r.poll(sender.send, 1)
	}
	require.NoError(t, receiver.Close())
	var closed atomic.Bool
	done := make(chan error)
	go func() {
		err := cq.Close()
		closed.Store(true)
		done <- err
	}()
	// Long enough for a Close that does not wait.
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
		runtime.GC()
	}
	require.False(t, closed.Load(), "two events are not acknowledged")
	require.NoError(t, cq.AckEvents(1))
	time.Sleep(20 * time.Millisecond)
	require.False(t, closed.Load(), "an event is not acknowledged")
	require.NoError(t, cq.AckEvents(1))
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(patience):
		require.Fail(t, "the acknowledgements have not ended the wait")
	}
}

// A goroutine that waits for an event stops neither the collector nor others, and
// no signal of the runtime's ends its wait.
func TestWaitForEvent(t *testing.T) {
	previous := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(previous)
	l := newListener(t, false, 0)
	require.NoError(t, l.cq.ReqNotify(false))
	type got struct {
		cq      *ibv.CQ
		context uintptr
		err     error
	}
	events := make(chan got)
	go func() {
		cq, context, err := l.channel.GetCQEvent()
		events <- got{cq, context, err}
	}()
	spin := make(chan struct{})
	var spins atomic.Uint64
	go func() { // which is preempted by signals
		for {
			select {
			case <-spin:
				return
			default:
				spins.Add(1)
			}
		}
	}()
	for range 10 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	close(spin)
	require.NotZero(t, spins.Load())
	select {
	case e := <-events:
		require.Fail(t, "an event that nobody caused", "%+v", e)
	default:
	}
	l.message(0)
	e := <-events
	require.NoError(t, e.err)
	require.Same(t, l.cq, e.cq)
	require.Equal(t, cookie, e.context)
	require.NoError(t, e.cq.AckEvents(1))
}

// Each event is got once, however many wait.
func TestManyWaitForEvents(t *testing.T) {
	const waiters, messages = 8, 24
	l := newListener(t, false, 0)
	var events atomic.Int32
	errs := make(chan error, waiters)
	for range waiters {
		go func() {
			for range messages / waiters {
				cq, context, err := l.channel.GetCQEvent()
				if err != nil || cq != l.cq || context != cookie {
					errs <- err
					return
				}
				if err := cq.AckEvents(1); err != nil {
					errs <- err
					return
				}
				events.Add(1)
			}
			errs <- nil
		}()
	}
	for i := range messages {
		require.NoError(t, l.cq.ReqNotify(false))
		l.message(0)
		l.poll(l.cq, 1)
		for end := time.Now().Add(patience); events.Load() <= int32(i); {
			require.True(t, time.Now().Before(end), "%d events", i)
			time.Sleep(100 * time.Microsecond)
		}
	}
	for range waiters {
		require.NoError(t, <-errs)
	}
	require.EqualValues(t, messages, events.Load())
}

// A channel's file is gone with it.
func TestClosedChannel(t *testing.T) {
	r := newRig(t)
	channel, err := r.ctx.CreateCompChannel()
	require.NoError(t, err)
	fd := int(channel.FD)
	require.NoError(t, channel.Close())
	var stat syscall.Stat_t
	require.ErrorIs(t, syscall.Fstat(fd, &stat), syscall.EBADF)
}

// Closing a channel does not wake who waits for its events: in a process of its own,
// where nothing else can be disturbed.
func TestClosedChannelWakesNobody(t *testing.T) {
	const role = "DEVICE_TEST_CLOSES_CHANNEL"
	if os.Getenv(role) == "" {
		cmd := emulated.Itself("-test.v", "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), role+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: "+t.Name())
		return
	}
	ctx, err := ibv.Open(deviceName)
	require.NoError(t, err)
	channel, err := ctx.CreateCompChannel()
	require.NoError(t, err)
	woken := make(chan error)
	go func() {
		_, _, err := channel.GetCQEvent()
		woken <- err
	}()
	time.Sleep(50 * time.Millisecond) // so that it waits
	require.NoError(t, channel.Close())
	for range 5 {
		runtime.GC()
		select {
		case err := <-woken:
			require.Fail(t, "it came back", "%v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	require.NoError(t, ctx.Close())
	select {
	case err := <-woken:
		require.ErrorIs(t, err, syscall.EIO)
		require.ErrorContains(t, err, "get event of completion channel on rxe0: ", "nothing that is gone is looked at")
	case <-time.After(patience):
		require.Fail(t, "the end of the device has not ended the wait")
	}
}
