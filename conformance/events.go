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

var eventScenarios = []Scenario{
	{"events", "none", "ibv_get_async_event(3)", eventsNone},
	{"events", "close waits for the acknowledgement", "ibv_ack_async_event(3)", eventsAcknowledged},
	{"events", "closed in the loop that tells", "rdma.Device.Events", eventsClosedInLoop},
	{"events", "a loop that is left", "rdma.Device.Events", eventsLoopLeft},
	{"events", "a loop ends with its context", "rdma.Device.Events", eventsCancelled},
	{"events", "a loop ends with the device", "rdma.Device.Events", eventsDeviceClosed},
	{"events", "what came while nobody listened", "ibv_get_async_event(3)", eventsKept},
	{"events", "of one context only", "ibv_get_async_event(3)", eventsOfContext},
	{"events", "a drained send queue", "ibv_modify_qp(3), ibv_get_async_event(3); IBTA 10.3.1.5", eventsDrained},
}

// overrun has a completion queue overrun, and closes what has done it.
func overrun(t *T, pd *rdma.PD, cq *rdma.CQ) {
	n := cq.Entries() + 3
	qp, err := pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: caps(1, uint32(n))})
	require.NoError(t, err)
	region, err := pd.AllocRegion(8, rdma.RegionOptions{Access: ibv.AccessLocalWrite})
	require.NoError(t, err)
	postRecvs(t, qp, recvs(t, region, n, 8))
	require.NoError(t, qp.ToErr())
	t.Poll(cq, 1) // so it has begun
}

func eventsNone(t *T) {
	raw := t.Device().Raw()
	require.NoError(t, raw.SetAsyncNonblock(true))
	_, err := raw.GetAsyncEvent()
	require.ErrorIs(t, err, syscall.EAGAIN)
}

func eventsAcknowledged(t *T) {
	ctx := t.Device().Raw()
	raw, err := ctx.CreateCQ(1)
	require.NoError(t, err)
	cq, err := t.Device().AdoptCQ(raw, rdma.CQOptions{})
	require.NoError(t, err)
	overrun(t, t.PD(), cq)
	require.NoError(t, ctx.SetAsyncNonblock(true))
	var event ibv.AsyncEvent
	t.Until(func() bool {
		event, err = ctx.GetAsyncEvent()
		if errors.Is(err, syscall.EAGAIN) {
			return false
		}
		require.NoError(t, err)
		if event.EventType != ibv.EventCQErr {
			require.NoError(t, event.Ack())
			return false
		}
		return true
	}, "the event of the overrun")
	require.Same(t, raw, event.CQ())
	require.Nil(t, event.QP())
	require.Nil(t, event.SRQ())
	require.Zero(t, event.Port())
	require.NoError(t, cq.CloseAll()) // the handle, and the queue pair
	closed := make(chan error, 1)
	go func() { closed <- raw.Close() }()
	select {
	case err := <-closed:
		require.Fail(t, "it was closed before its event was acknowledged", "%v", err)
	case <-time.After(5 * time.Millisecond):
	}
	require.NoError(t, event.Ack())
	require.NoError(t, ended(t, closed))
}

func eventsClosedInLoop(t *T) {
	cq := t.CQ(1, rdma.CQOptions{})
	overrun(t, t.PD(), cq)
	for event, err := range t.Device().Events(t.Context()) {
		require.NoError(t, err)
		if event.Type != ibv.EventCQErr {
			continue
		}
		require.Same(t, cq, event.CQ)
		require.Same(t, cq.Raw(), event.Raw.CQ())
		require.NoError(t, cq.CloseAll(), "which does not wait for itself")
		return
	}
}

// However a loop is left, its event is acknowledged.
func eventsLoopLeft(t *T) {
	cq := t.CQ(1, rdma.CQOptions{})
	overrun(t, t.PD(), cq)
	func() {
		defer func() { require.Equal(t, "left", recover()) }()
		for event, err := range t.Device().Events(t.Context()) {
			require.NoError(t, err)
			if event.Type == ibv.EventCQErr {
				panic("left")
			}
		}
	}()
	require.NoError(t, cq.CloseAll())
}

func eventsCancelled(t *T) {
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	last := make(chan error, 1)
	go func() {
		for _, err := range t.Device().Events(ctx) {
			if err != nil {
				last <- err
				return
			}
		}
		last <- nil
	}()
	cancel(reason)
	err := ended(t, last)
	require.ErrorIs(t, err, reason)
	require.ErrorIs(t, err, context.Canceled)
}

func eventsDeviceClosed(t *T) {
	dev, err := rdma.Open(t.Device().Name(), rdma.DeviceOptions{})
	require.NoError(t, err)
	last := make(chan error, 1)
	listens := make(chan struct{})
	go func() {
		close(listens)
		for _, err := range dev.Events(t.Context()) {
			if err != nil {
				last <- err
				return
			}
		}
		last <- nil
	}()
	<-listens
	require.NoError(t, dev.CloseAll())
	require.ErrorIs(t, ended(t, last), rdma.ErrClosed)
}

// Events wait for somebody to ask.
func eventsKept(t *T) {
	first, second := t.CQ(1, rdma.CQOptions{}), t.CQ(1, rdma.CQOptions{})
	overrun(t, t.PD(), first)
	t.Until(func() bool { return awaitEvent(t, ibv.EventCQErr).CQ == first }, "the first queue's event")
	overrun(t, t.PD(), second)
	t.Until(func() bool { return awaitEvent(t, ibv.EventCQErr).CQ == second }, "the second queue's event")
}

func eventsOfContext(t *T) {
	other, err := rdma.Open(t.Device().Name(), rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.CloseAll()) })
	pd, err := other.AllocPD()
	require.NoError(t, err)
	cq, err := other.CreateCQ(1, rdma.CQOptions{})
	require.NoError(t, err)
	overrun(t, pd, cq)
	for event, err := range other.Events(t.Context()) {
		require.NoError(t, err)
		if event.Type == ibv.EventCQErr {
			require.Same(t, cq, event.CQ)
			break
		}
	}
	noEvent(t, ibv.EventCQErr)
}

func eventsDrained(t *T) {
	t.Needs(Moves)
	a, _ := t.Pair(PairOptions{})
	require.NoError(t, a.Raw().Modify(&ibv.QPAttr{QPState: ibv.QPSSQD, EnSQDAsyncNotify: 1}, ibv.QPAttrMaskState|ibv.QPAttrMaskEnSQDAsyncNotify))
	event := awaitEvent(t, ibv.EventSQDrained)
	require.Same(t, a.QP, event.QP)
	require.Nil(t, event.CQ)
}
