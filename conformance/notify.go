package conformance

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var notifyScenarios = []Scenario{
	{"notify", "one event for a request", "ibv_req_notify_cq(3); IBTA 11.4.2.2", notifyOnce},
	{"notify", "what is there already is none", "ibv_req_notify_cq(3); IBTA 11.4.2.2", notifyNotForOld},
	{"notify", "solicited", "ibv_req_notify_cq(3); IBTA 11.4.2.2", notifySolicited},
	{"notify", "solicited, then any", "IBTA 11.4.2.2", notifyWidened},
	{"notify", "any, then solicited", "IBTA 11.4.2.2", notifyNotNarrowed},
	{"notify", "a flushed receive is solicited", "ibv_req_notify_cq(3); IBTA 11.4.2.2", notifyFlushed},
	{"notify", "a failed send is solicited", "ibv_req_notify_cq(3); IBTA 11.4.2.2", notifyFailedSend},
	{"notify", "sends", "ibv_req_notify_cq(3)", notifySends},
	{"notify", "many queues on a channel", "ibv_get_cq_event(3)", notifyMany},
	{"notify", "a channel is busy while it has queues", "ibv_destroy_comp_channel(3)", notifyBusy},
	{"notify", "close waits for acknowledgements", "ibv_ack_cq_events(3)", notifyAcknowledged},
	{"notify", "a queue without a channel", "ibv_req_notify_cq(3)", notifyNowhere},
	{"notify", "channels of other contexts", "ibv_create_cq(3)", notifyForeign},
	{"wait", "waiting", "rdma.CQ.Wait", waitWoken},
	{"wait", "waiting ends with the context", "rdma.CQ.Wait", waitCancelled},
	{"wait", "waiting ends with the queue", "rdma.CQ.Wait", waitClosed},
	{"wait", "many wait, each completion comes once", "rdma.CQ.Wait", waitMany},
	{"wait", "queues on a channel of the program's", "rdma.CQOptions.Channel", waitOnChannel},
}

// listener is a sender, and a receiver whose completions can cause events.
type listener struct {
	t       *T
	channel *ibv.CompChannel
	raw     *ibv.CQ // where b's receives complete
	cq      *rdma.CQ
	a, b    *End
	memory  *rdma.Region
}

const cqCookie = uintptr(0x1122_3344)

func newListener(t *T) *listener {
	l := &listener{t: t, channel: channelOf(t), memory: t.Region(64, 0)}
	l.raw, l.cq = rawCQ(t, l.channel, 64, cqCookie)
	const room = 8
	l.a, l.b = pairOf(t, rdma.QPOptions{Cap: caps(room, room)}, rdma.QPOptions{RecvCQ: l.cq, Cap: caps(room, room)})
	postRecvs(t, l.b.QP, recvs(t, l.memory, room, 8))
	return l
}

// message sends a message, which has arrived and completed when message returns.
func (l *listener) message(flags ibv.SendFlags) {
	chain := sends(l.t, l.memory, 1, 8)
	chain.WR(0).SendFlags |= flags
	postSends(l.t, l.a.QP, chain)
	l.t.Done(l.a.SendCQ, 1)
}

// take takes n completions, which are there or about to be.
func (l *listener) take(n int) {
	l.t.Done(l.cq, n)
}

// event takes an event, which is of the queue, and acknowledges it.
func (l *listener) event() {
	cq, context := awaitCQEvent(l.t, l.channel)
	require.Same(l.t, l.raw, cq)
	require.Equal(l.t, cqCookie, context)
	require.NoError(l.t, cq.AckEvents(1))
}

func notifyOnce(t *T) {
	l := newListener(t)
	require.Equal(t, cqCookie, l.raw.CQContext)
	require.Equal(t, l.channel, l.raw.Channel)
	l.message(0)
	l.take(1)
	noCQEvent(t, l.channel, "nobody asked")
	require.NoError(t, l.raw.ReqNotify(false))
	noCQEvent(t, l.channel, "nothing has come since")
	l.message(0)
	l.message(0)
	l.event()
	l.take(2)
	noCQEvent(t, l.channel, "one request has one event")
	require.NoError(t, l.raw.ReqNotify(false))
	l.message(0)
	l.event()
}

// A request is for what completes after it. So a program that has asked polls once more.
func notifyNotForOld(t *T) {
	l := newListener(t)
	require.NoError(t, l.raw.ReqNotify(false))
	l.message(0)
	l.event() // so it is there, and stays
	require.NoError(t, l.raw.ReqNotify(false))
	noCQEvent(t, l.channel, "it was there before")
	l.take(1)
	l.message(0)
	l.event()
}

func notifySolicited(t *T) {
	l := newListener(t)
	require.NoError(t, l.raw.ReqNotify(true))
	l.message(0)
	l.take(1)
	noCQEvent(t, l.channel, "it was not solicited")
	l.message(ibv.SendSolicited)
	if t.Differs(SolicitedEvents) {
		l.take(1)
		noCQEvent(t, l.channel, "solicited as it was")
		return
	}
	l.event()
	l.take(1)
	l.message(ibv.SendSolicited)
	l.take(1)
	noCQEvent(t, l.channel, "one request has one event")
}

func notifyWidened(t *T) {
	l := newListener(t)
	require.NoError(t, l.raw.ReqNotify(true))
	require.NoError(t, l.raw.ReqNotify(false))
	l.message(0)
	l.event()
}

// A request for any completion is not taken back by one for solicited ones.
func notifyNotNarrowed(t *T) {
	l := newListener(t)
	require.NoError(t, l.raw.ReqNotify(false))
	require.NoError(t, l.raw.ReqNotify(true))
	l.message(0)
	if t.Differs(LastingRequests) {
		l.take(1)
		noCQEvent(t, l.channel, "the second request counts")
		return
	}
	l.event()
}

func notifyFlushed(t *T) {
	l := newListener(t)
	require.NoError(t, l.raw.ReqNotify(true))
	require.NoError(t, l.b.ToErr())
	require.Equal(t, ibv.WCWRFlushErr, t.Poll(l.cq, 1)[0].Status)
	if t.Differs(SolicitedEvents) || t.Differs(FlushedEvents) {
		noCQEvent(t, l.channel, "failed as it has")
		return
	}
	l.event()
}

func notifyFailedSend(t *T) {
	channel := channelOf(t)
	raw, cq := rawCQ(t, channel, 16, cqCookie)
	a, _ := pairOf(t, rdma.QPOptions{SendCQ: cq}, rdma.QPOptions{})
	memory := t.Region(8, 0)
	require.NoError(t, raw.ReqNotify(true))
	chain := sends(t, memory, 1, 8)
	chain.SGEs(0)[0].LKey = noKey(memory.LKey())
	postSends(t, a.QP, chain)
	require.NotEqual(t, ibv.WCSuccess, t.Poll(cq, 1)[0].Status)
	if t.Differs(FailedSendEvents) {
		noCQEvent(t, channel, "failed as it has")
		return
	}
	got, _ := awaitCQEvent(t, channel)
	require.Same(t, raw, got)
	require.NoError(t, got.AckEvents(1))
}

func notifySends(t *T) {
	channel := channelOf(t)
	raw, cq := rawCQ(t, channel, 16, cqCookie)
	a, b := pairOf(t, rdma.QPOptions{SendCQ: cq}, rdma.QPOptions{})
	memory := t.Region(8, 0)
	postRecvs(t, b.QP, recvs(t, memory, 1, 8))
	require.NoError(t, raw.ReqNotify(false))
	postSends(t, a.QP, sends(t, memory, 1, 8))
	got, context := awaitCQEvent(t, channel)
	require.Same(t, raw, got)
	require.Equal(t, cqCookie, context)
	require.NoError(t, got.AckEvents(1))
	t.Done(cq, 1)
}

// Each event of a channel is of the queue that it says.
func notifyMany(t *T) {
	const n = 4
	channel := channelOf(t)
	queues := map[*ibv.CQ]uintptr{}
	var flushes []*flushes
	for i := range n {
		raw, cq := rawCQ(t, channel, 8, uintptr(100+i))
		queues[raw] = uintptr(100 + i)
		flushes = append(flushes, newFlushes(t, 2, cq))
		require.NoError(t, raw.ReqNotify(false))
	}
	for _, f := range flushes {
		f.flush(2)
	}
	for range n {
		cq, context := awaitCQEvent(t, channel)
		require.Equal(t, queues[cq], context, "the queue's own, and once")
		delete(queues, cq)
		require.NoError(t, cq.AckEvents(1))
	}
	noCQEvent(t, channel, "each has had its one")
}

func notifyBusy(t *T) {
	channel, err := t.Device().Raw().CreateCompChannel()
	require.NoError(t, err)
	cq, err := t.Device().Raw().CreateCQWithChannel(1, 0, channel, 0)
	require.NoError(t, err)
	require.ErrorIs(t, channel.Close(), syscall.EBUSY)
	require.NoError(t, cq.Close())
	require.NoError(t, channel.Close())
}

func notifyAcknowledged(t *T) {
	channel := channelOf(t)
	raw, err := t.Device().Raw().CreateCQWithChannel(8, 0, channel, 0)
	require.NoError(t, err)
	cq, err := t.Device().AdoptCQ(raw, rdma.CQOptions{})
	require.NoError(t, err)
	f := newFlushes(t, 1, cq)
	require.NoError(t, raw.ReqNotify(false))
	f.flush(1)
	got, _ := awaitCQEvent(t, channel)
	require.Same(t, raw, got)
	require.NoError(t, f.qp.Close())
	require.NoError(t, cq.Close())
	closed := make(chan error, 1)
	go func() { closed <- raw.Close() }()
	select {
	case err := <-closed:
		require.Fail(t, "it was closed before its event was acknowledged", "%v", err)
	case <-time.After(5 * time.Millisecond):
	}
	require.NoError(t, got.AckEvents(1))
	select {
	case err := <-closed:
		require.NoError(t, err)
	case <-time.After(t.patience):
		require.Fail(t, "it was not closed though its event was acknowledged")
	}
}

func notifyNowhere(t *T) {
	cq, err := t.Device().CreateCQ(4, rdma.CQOptions{NoChannel: true})
	require.NoError(t, err)
	require.Nil(t, cq.Raw().Channel)
	require.NoError(t, cq.Raw().ReqNotify(false), "which no provider refuses")
	f := newFlushes(t, 1, cq)
	f.flush(1)
	t.Poll(cq, 1)
	_, err = cq.Wait(t.Context(), make([]ibv.WC, 1))
	require.ErrorContains(t, err, "NoChannel")
}

func notifyForeign(t *T) {
	other, err := rdma.Open(t.Device().Name(), rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.CloseAll()) })
	channel, err := other.CreateChannel()
	require.NoError(t, err)
	_, err = t.Device().Raw().CreateCQWithChannel(1, 0, channel.Raw(), 0)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = t.Device().CreateCQ(1, rdma.CQOptions{Channel: channel})
	require.ErrorIs(t, err, syscall.EINVAL)
}

// waiting starts a wait for one completion, which is parked or about to be.
func waiting(t *T, ctx context.Context, cq *rdma.CQ) <-chan error {
	done := make(chan error, 1)
	go func() {
		var wcs [1]ibv.WC
		n, err := cq.Wait(ctx, wcs[:])
		if err == nil && n != 1 {
			err = errors.New("a wait without an error has no completion")
		}
		done <- err
	}()
	select {
	case err := <-done:
		require.Fail(t, "the wait ended with nothing to wait for", "%v", err)
	case <-time.After(2 * time.Millisecond):
	}
	return done
}

// ended is how a wait ends, which it does now.
func ended(t *T, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-time.After(t.patience):
		require.Fail(t, "the wait does not end")
		return nil
	}
}

func waitWoken(t *T) {
	a, b := pairOf(t, rdma.QPOptions{SendCQ: t.CQ(16, rdma.CQOptions{})}, rdma.QPOptions{RecvCQ: t.CQ(16, rdma.CQOptions{})})
	memory := t.Region(64, 0)
	postRecvs(t, b.QP, recvs(t, memory, 3, 8))
	for range 3 {
		done := waiting(t, t.Context(), b.RecvCQ)
		postSends(t, a.QP, sends(t, memory, 1, 8))
		require.NoError(t, ended(t, done))
		var wcs [2]ibv.WC
		n, err := a.SendCQ.Wait(t.Context(), wcs[:])
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NoError(t, wcs[0].Err())
	}
}

func waitCancelled(t *T) {
	cq := t.CQ(4, rdma.CQOptions{})
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := waiting(t, ctx, cq)
	cancel(reason)
	err := ended(t, done)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, reason)
	f := newFlushes(t, 1, cq)
	again := waiting(t, t.Context(), cq)
	f.flush(1)
	require.NoError(t, ended(t, again), "another wait goes on")
}

func waitClosed(t *T) {
	cq := t.CQ(4, rdma.CQOptions{})
	done := waiting(t, t.Context(), cq)
	require.NoError(t, cq.Close())
	require.ErrorIs(t, ended(t, done), rdma.ErrClosed)
	_, err := cq.Wait(t.Context(), make([]ibv.WC, 1))
	require.ErrorIs(t, err, rdma.ErrClosed)
}

func waitMany(t *T) {
	const n = 8
	cq := t.CQ(n, rdma.CQOptions{})
	f := newFlushes(t, n, cq)
	seen := make(chan uint64, n)
	failed := make(chan error, n)
	for range n {
		go func() {
			var wcs [1]ibv.WC
			_, err := cq.Wait(t.Context(), wcs[:])
			seen <- wcs[0].WRID
			failed <- err
		}()
	}
	f.flush(n)
	ids := map[uint64]bool{}
	for range n {
		require.NoError(t, ended(t, failed))
		ids[<-seen] = true
	}
	require.Len(t, ids, n)
	t.Quiet(cq)
}

func waitOnChannel(t *T) {
	channel, err := t.Device().CreateChannel()
	require.NoError(t, err)
	var queues []*rdma.CQ
	var waits []<-chan error
	var all []*flushes
	for range 3 {
		cq, err := t.Device().CreateCQ(4, rdma.CQOptions{Channel: channel})
		require.NoError(t, err)
		queues, all = append(queues, cq), append(all, newFlushes(t, 1, cq))
		waits = append(waits, waiting(t, t.Context(), cq))
	}
	var children *rdma.ChildrenError
	require.ErrorAs(t, channel.Close(), &children)
	require.Len(t, children.Children, len(queues))
	for i := len(all) - 1; i >= 0; i-- {
		all[i].flush(1)
		require.NoError(t, ended(t, waits[i]))
	}
}
