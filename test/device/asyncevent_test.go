//go:build device && linux

package device

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// about is what an event is about.
type about struct {
	cq   *ibv.CQ
	qp   *ibv.QP
	srq  *ibv.SRQ
	wq   *ibv.WQ
	port uint32
}

func aboutOf(e ibv.AsyncEvent) about { return about{e.CQ(), e.QP(), e.SRQ(), e.WQ(), e.Port()} }

// asyncEvent waits for an event of the type, past others of ports.
func asyncEvent(t *testing.T, ctx *ibv.Context, typ ibv.EventType) ibv.AsyncEvent {
	t.Helper()
	for {
		event, err := ctx.GetAsyncEvent()
		require.NoError(t, err)
		if event.EventType == typ {
			return event
		}
		require.NotZero(t, event.Port(), "%v", event)
		require.NoError(t, event.Ack())
	}
}

func TestNoAsyncEvent(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.ctx.SetAsyncNonblock(true))
	_, err := r.ctx.GetAsyncEvent()
	require.ErrorIs(t, err, syscall.EAGAIN)
	require.ErrorContains(t, err, "get asynchronous event on rxe0")
	require.ErrorContains(t, err, "wait until it is readable")
	require.NoError(t, r.ctx.SetAsyncNonblock(false))
}

// A shared receive queue tells that it runs low, and its Close waits for the
// acknowledgement.
func TestSRQLimitReached(t *testing.T) {
	const n = 8
	r := newRig(t)
	srq, err := r.ctx.CreateSRQEx(&ibv.SRQInitAttrEx{
		SRQContext: cookie,
		Attr:       ibv.SRQAttr{MaxWR: n, MaxSGE: 1},
		CompMask:   ibv.SRQInitAttrPD | ibv.SRQInitAttrType,
		SRQType:    ibv.SRQTBasic,
		PD:         r.pd,
	})
	require.NoError(t, err)
	require.Equal(t, cookie, srq.SRQContext)
	mr := r.memory(n)
	sends, recvs := r.cq(n), r.cq(n)
	sender := r.side(ibv.QPTRC, n, 1, nil)
	receiver, err := r.pd.CreateQP(&ibv.QPInitAttr{SendCQ: sends, RecvCQ: recvs, SRQ: srq, QPType: ibv.QPTRC})
	require.NoError(t, err)
	r.connect(sender.QP, receiver)
	_, err = r.recvChain(n, mr).PostSRQ(srq)
	require.NoError(t, err)
	require.NoError(t, srq.Modify(ibv.SRQAttr{SRQLimit: n - 2}, ibv.SRQLimit))
	attr, err := srq.Query()
	require.NoError(t, err)
	require.EqualValues(t, n-2, attr.SRQLimit)
	_, err = r.sendChain(4, mr, func(int) int { return 1 }).Post(sender.QP)
	require.NoError(t, err)
	event := asyncEvent(t, r.ctx, ibv.EventSRQLimitReached)
	require.Equal(t, about{srq: srq}, aboutOf(event))
	require.Same(t, srq, event.SRQ())
	require.Contains(t, event.String(), "asynchronous event IBV_EVENT_SRQ_LIMIT_REACHED of the object at 0x")
	r.poll(recvs, 4)
	require.NoError(t, receiver.Close())

	var closed atomic.Bool
	done := make(chan error)
	go func() {
		err := srq.Close()
		closed.Store(true)
		done <- err
	}()
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
		runtime.GC()
	}
	require.False(t, closed.Load(), "the event is not acknowledged")
	require.NoError(t, event.Ack())
	require.NoError(t, <-done)
}

// A completion queue that overruns says so.
func TestCompletionQueueOverrun(t *testing.T) {
	r := newRig(t)
	cq := r.cq(1)
	capacity := int(cq.CQE)
	sender := r.qpOn(ibv.QPTRC, cq, r.cq(1))
	receiver := r.side(ibv.QPTRC, 1, 1, nil)
	r.connect(sender, receiver.QP)
	mr := r.memory(1)
	writes, err := ibv.NewSendChain(1, 1)
	require.NoError(t, err)
	require.NoError(t, writes.Set(0, 1, ibv.WRRDMAWrite, ibv.SendSignaled, mr.SGE(0, 1)))
	*writes.WR(0).WR.RDMA() = ibv.SendWRWRRDMA{RemoteAddr: uint64(mr.Addr), RKey: mr.RKey}
	for range capacity + 2 {
		_, err := writes.Post(sender)
		require.NoError(t, err)
		time.Sleep(time.Millisecond)
	}
	event := asyncEvent(t, r.ctx, ibv.EventCQErr)
	require.Equal(t, about{cq: cq}, aboutOf(event))
	require.NoError(t, event.Ack())
	// There may be one for each completion that was lost, and Close waits for those
	// that were got only.
}

func TestSendQueueDrained(t *testing.T) {
	r := newRig(t)
	a, b := r.pair(4, 4)
	require.NoError(t, a.Modify(&ibv.QPAttr{QPState: ibv.QPSSQD, EnSQDAsyncNotify: 1}, ibv.QPAttrMaskState|ibv.QPAttrMaskEnSQDAsyncNotify))
	mr := r.memory(1)
	_, err := r.recvChain(1, mr).Post(b.QP)
	require.NoError(t, err)
	_, err = r.sendChain(1, mr, func(int) int { return 1 }).Post(a.QP) // which makes rxe look at the state
	require.NoError(t, err)
	event := asyncEvent(t, r.ctx, ibv.EventSQDrained)
	require.Equal(t, about{qp: a.QP}, aboutOf(event))
	require.NoError(t, event.Ack())
}

// A port tells when its interface goes down, and comes up again.
func TestPortEvents(t *testing.T) {
	r := newRig(t)
	gids, err := r.ctx.GIDs(port)
	require.NoError(t, err)
	guest.SetLink(t, false)
	restored := false
	t.Cleanup(func() {
		if !restored {
			guest.SetLink(t, true)
		}
	})
	event := asyncEvent(t, r.ctx, ibv.EventPortErr)
	require.Equal(t, about{port: port}, aboutOf(event))
	require.Equal(t, "asynchronous event IBV_EVENT_PORT_ERR of port 1", event.String())
	require.NoError(t, event.Ack())
	attr, err := r.ctx.QueryPort(port)
	require.NoError(t, err)
	require.NotEqual(t, ibv.PortActive, attr.State)

	guest.SetLink(t, true)
	restored = true
	event = asyncEvent(t, r.ctx, ibv.EventPortActive)
	require.Equal(t, about{port: port}, aboutOf(event))
	require.NoError(t, event.Ack())
	// The other tests find what was there.
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		now, err := r.ctx.GIDs(port)
		require.NoError(t, err)
		if assert.ObjectsAreEqual(gids, now) {
			break
		}
		require.True(t, time.Now().Before(end), "the port's GIDs are %v, and were %v", now, gids)
	}
}
