//go:build device && linux

package rdma

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// eventOf runs the body for each event of the type, past others, until the body
// returns false.
func (r *rig) eventOf(typ ibv.EventType, body func(rdma.Event) bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for event, err := range r.dev.Events(ctx) {
		require.NoError(r.t, err)
		if event.Type == typ && !body(event) {
			return
		}
	}
}

// overrun has a completion queue overrun, which is an event for each completion
// that is lost.
func (r *rig) overrun(lost int) *flusher {
	f := r.flusher(r.cq(1))
	for range int(f.cq.Raw().CQE) + lost {
		f.complete(0)
	}
	return f
}

// A queue that overruns says so, and can be closed in the loop's body, which has one
// of its events while others are to come.
func TestCloseInEventLoop(t *testing.T) {
	r := newRig(t)
	f := r.overrun(3)
	r.eventOf(ibv.EventCQErr, func(event rdma.Event) bool {
		require.Same(t, f.cq, event.CQ)
		require.Same(t, f.cq.Raw(), event.Raw.CQ())
		require.Equal(t, "asynchronous event IBV_EVENT_CQ_ERR of "+f.cq.String(), event.String())
		require.NoError(t, f.qp.Close())
		require.NoError(t, f.cq.Close())
		return false
	})
}

// However a loop ends, what it had is acknowledged: Close of the queue does not wait
// for ever.
func TestEventLoopEnds(t *testing.T) {
	r := newRig(t)
	for name, end := range map[string]func(){
		"break":  func() {},
		"panic":  func() { panic("here") },
		"goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			f := r.overrun(3)
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				r.eventOf(ibv.EventCQErr, func(rdma.Event) bool {
					end()
					return false
				})
			}()
			<-done
			require.NoError(t, f.qp.Close())
			require.NoError(t, f.cq.Close())
		})
	}
}

// Adopted objects have their handles too, and those without a handle are in Raw.
func TestEventsOfAdopted(t *testing.T) {
	r := newRig(t)
	const number = 1 // which a handle of the device's may have as well
	raw, err := r.dev.Raw().CreateCQWithChannel(1, number, nil, 0)
	require.NoError(t, err)
	overrun := func(cq *rdma.CQ) *flusher {
		f := r.flusher(cq)
		for range int(raw.CQE) + 6 {
			f.complete(0)
		}
		return f
	}
	cq, err := r.dev.AdoptCQ(raw, rdma.CQOptions{})
	require.NoError(t, err)
	f := overrun(cq)
	r.eventOf(ibv.EventCQErr, func(event rdma.Event) bool {
		require.Same(t, cq, event.CQ)
		return false
	})
	require.NoError(t, f.qp.Close()) // not before: completions take a moment
	require.NoError(t, overrun(cq).qp.Close())
	require.NoError(t, cq.Close())
	r.eventOf(ibv.EventCQErr, func(event rdma.Event) bool {
		require.Nil(t, event.CQ)
		require.Same(t, raw, event.Raw.CQ())
		return false
	})
	require.NoError(t, raw.Close())
}

// A shared receive queue tells that it runs low.
func TestSRQLimitEvent(t *testing.T) {
	const n = 8
	r := newRig(t)
	srq, err := r.pd.CreateSRQ(n, rdma.SRQOptions{})
	require.NoError(t, err)
	sender, receiver := r.end(rdma.QPOptions{}), r.end(rdma.QPOptions{SRQ: srq})
	r.connect(sender.QP, receiver.QP)
	region := r.region(n)
	_, err = srq.PostRecv(r.recvChain(n, region, 1))
	require.NoError(t, err)
	require.NoError(t, srq.Raw().Modify(ibv.SRQAttr{SRQLimit: n - 2}, ibv.SRQLimit))
	_, err = sender.PostSend(r.sendChain(4, region, 1))
	require.NoError(t, err)
	r.eventOf(ibv.EventSRQLimitReached, func(event rdma.Event) bool {
		require.Same(t, srq, event.SRQ)
		require.Nil(t, event.QP)
		require.NoError(t, receiver.Close())
		require.NoError(t, srq.Close())
		return false
	})
}

// A queue pair tells that its send queue is drained.
func TestSQDrainedEvent(t *testing.T) {
	r := newRig(t)
	a, b := r.pair(rdma.QPOptions{})
	region := r.region(1)
	require.NoError(t, a.Raw().Modify(&ibv.QPAttr{QPState: ibv.QPSSQD, EnSQDAsyncNotify: 1}, ibv.QPAttrMaskState|ibv.QPAttrMaskEnSQDAsyncNotify))
	_, err := b.PostRecv(r.recvChain(1, region, 1))
	require.NoError(t, err)
	_, err = a.PostSend(r.sendChain(1, region, 1)) // which makes rxe look at the state
	require.NoError(t, err)
	r.eventOf(ibv.EventSQDrained, func(event rdma.Event) bool {
		require.Same(t, a.QP, event.QP)
		// On another goroutine while the body runs.
		closed := make(chan error)
		go func() { closed <- a.Close() }()
		require.NoError(t, <-closed)
		return false
	})
}

// A port tells when its interface goes down, and comes up again.
func TestPortEvents(t *testing.T) {
	r := newRig(t)
	gids, err := r.dev.Raw().GIDs(port)
	require.NoError(t, err)
	guest.SetLink(t, false)
	t.Cleanup(func() { // the other tests find what was there
		require.Eventually(t, func() bool {
			now, err := r.dev.Raw().GIDs(port)
			return err == nil && len(now) == len(gids)
		}, patience, time.Millisecond)
	})
	for _, typ := range []ibv.EventType{ibv.EventPortErr, ibv.EventPortActive} {
		r.eventOf(typ, func(event rdma.Event) bool {
			require.EqualValues(t, port, event.Port)
			require.Nil(t, event.QP)
			return false
		})
		guest.SetLink(t, true)
	}
}

// Two loops share the events, and each ends with its own context.
func TestTwoEventLoops(t *testing.T) {
	r := newRig(t)
	var seen [2]int
	var loops sync.WaitGroup
	got := make(chan struct{})
	reason := errors.New("the reason")
	var ends [2]context.CancelCauseFunc
	for i := range ends {
		var ctx context.Context
		ctx, ends[i] = context.WithCancelCause(context.Background())
		loops.Go(func() {
			for event, err := range r.dev.Events(ctx) {
				if err != nil {
					if !errors.Is(err, context.Canceled) || !errors.Is(err, reason) {
						t.Error(err)
					}
					return
				}
				if event.Type == ibv.EventCQErr {
					seen[i]++
					got <- struct{}{}
				}
			}
			t.Error("the loop ended without an error")
		})
	}
	f := r.flusher(r.cq(1))
	for range int(f.cq.Raw().CQE) {
		f.complete(0)
	}
	for range 50 {
		f.complete(0)
		<-got
	}
	ends[0](reason)
	for range 50 {
		f.complete(0)
		<-got
	}
	ends[1](reason)
	loops.Wait()
	require.Equal(t, 100, seen[0]+seen[1])
	require.GreaterOrEqual(t, seen[1], 50)
}

// Closing the device ends the loop, be it from the body.
func TestDeviceClosedInEventLoop(t *testing.T) {
	for _, inside := range []bool{false, true} {
		dev, err := rdma.Open(deviceName, rdma.DeviceOptions{})
		require.NoError(t, err)
		cq, err := dev.CreateCQ(1, rdma.CQOptions{})
		require.NoError(t, err)
		r := &rig{t: t, dev: dev}
		r.pd, err = dev.AllocPD()
		require.NoError(t, err)
		f := r.flusher(cq)
		for range int(cq.Raw().CQE) + 3 {
			f.complete(0)
		}
		if !inside {
			time.AfterFunc(20*time.Millisecond, func() { require.NoError(t, dev.CloseAll()) })
		}
		events := 0
		var last error
		for event, err := range dev.Events(context.Background()) {
			if err != nil {
				last = err
				continue
			}
			if event.Type != ibv.EventCQErr {
				continue
			}
			events++
			require.Same(t, cq, event.CQ)
			if inside {
				require.NoError(t, dev.CloseAll())
			}
		}
		require.ErrorIs(t, last, rdma.ErrClosed)
		require.NotZero(t, events)
		for _, err := range dev.Events(context.Background()) {
			require.ErrorIs(t, err, rdma.ErrClosed)
		}
	}
}

// Without a context nobody waits, nor connects.
func TestEventsWithoutContext(t *testing.T) {
	r := newRig(t)
	var none context.Context
	for _, err := range r.dev.Events(none) {
		require.ErrorIs(t, err, unix.EINVAL)
		require.ErrorContains(t, err, "the context is nil")
	}
	conn, peer := net.Pipe()
	defer conn.Close()
	defer peer.Close()
	_, err := r.end(rdma.QPOptions{}).Connect(none, conn, rdma.ConnectOptions{})
	require.ErrorIs(t, err, unix.EINVAL)
	require.ErrorContains(t, err, "the context is nil")
}
