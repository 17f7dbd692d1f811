//go:build !freebsd

package ibvtest_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// channelWithQueue is a channel of C's, with a queue on it.
func channelWithQueue(t *testing.T, entries int) (*ends, *ibv.CompChannel, *ibv.CQ) {
	t.Helper()
	e := &ends{t: t}
	var err error
	e.dev, err = rdma.Open(ibvtest.New(t).Names()[0], rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.dev.CloseAll()) })
	channel, err := e.dev.Raw().CreateCompChannel()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, channel.Close()) })
	cq, err := e.dev.Raw().CreateCQWithChannel(entries, 77, channel, 0)
	require.NoError(t, err)
	return e, channel, cq
}

// attach makes a queue pair that completes to the queue, in INIT.
func (e *ends) attach(cq *ibv.CQ) (close func()) {
	e.t.Helper()
	pd, err := e.dev.Raw().AllocPD()
	require.NoError(e.t, err)
	qp, err := pd.CreateQP(&ibv.QPInitAttr{SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC, Cap: ibv.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 1, MaxRecvSGE: 1}})
	require.NoError(e.t, err)
	require.NoError(e.t, qp.Modify(&ibv.QPAttr{QPState: ibv.QPSInit, PortNum: 1},
		ibv.QPAttrMaskState|ibv.QPAttrMaskPKeyIndex|ibv.QPAttrMaskPort|ibv.QPAttrMaskAccessFlags))
	recv, err := ibv.NewRecvChain(8, 0)
	require.NoError(e.t, err)
	_, err = recv.Post(qp)
	require.NoError(e.t, err)
	require.NoError(e.t, qp.Modify(&ibv.QPAttr{QPState: ibv.QPSErr}, ibv.QPAttrMaskState))
	return func() {
		require.NoError(e.t, qp.Close())
		require.NoError(e.t, pd.Close())
	}
}

// Getting an event waits for one, or does not, as the channel is told.
func TestGetCQEvent(t *testing.T) {
	e, channel, cq := channelWithQueue(t, 8)
	require.NoError(t, channel.SetNonblock(true))
	_, _, err := channel.GetCQEvent()
	require.ErrorIs(t, err, syscall.EAGAIN)
	require.NoError(t, channel.SetNonblock(false))
	require.ErrorIs(t, channel.Close(), syscall.EBUSY)

	require.NoError(t, cq.ReqNotify(false))
	type event struct {
		cq     *ibv.CQ
		number uintptr
		err    error
	}
	got := make(chan event)
	go func() {
		var e event
		e.cq, e.number, e.err = channel.GetCQEvent()
		got <- e
	}()
	end := e.attach(cq)
	require.Equal(t, event{cq, 77, nil}, <-got)
	end()

	// Close waits for what was got.
	closed := make(chan error)
	var acknowledged atomic.Bool
	go func() {
		err := cq.Close()
		if !acknowledged.Load() {
			err = syscall.EDOM
		}
		closed <- err
	}()
	runtime.Gosched()
	acknowledged.Store(true)
	require.NoError(t, cq.AckEvents(1))
	require.NoError(t, <-closed)
}

// Who waits for an event when the device is closed, or the test is over, waits no more.
func TestWaitForEventEnds(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, ctx *ibv.Context){
		"device": func(t *testing.T, ctx *ibv.Context) { require.NoError(t, ctx.Close()) },
		"test":   func(*testing.T, *ibv.Context) {},
	} {
		failed := make(chan error, 2)
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, err := ibv.Open(ibvtest.New(t).Names()[0])
				require.NoError(t, err)
				channel, err := ctx.CreateCompChannel()
				require.NoError(t, err)
				errs := make(chan error, 2)
				go func() {
					_, _, err := channel.GetCQEvent()
					errs <- err
				}()
				go func() {
					_, err := ctx.GetAsyncEvent()
					errs <- err
				}()
				synctest.Wait()
				require.Empty(t, errs)
				end(t, ctx)
				go func() {
					for range 2 {
						failed <- <-errs
					}
				}()
			})
		})
		for range 2 {
			require.ErrorIs(t, <-failed, syscall.EIO, name)
		}
	}
}

// A queue that overran keeps what is in it, and then polls fail; an event tells of it and of the queue pair, which is in ERR.
func TestOverrun(t *testing.T) {
	e, _, cq := channelWithQueue(t, 3)
	end := e.attach(cq)
	wcs := make([]ibv.WC, 8)
	n, err := cq.Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	_, err = cq.Poll(wcs)
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorIs(t, cq.Resize(100), syscall.EINVAL, "nothing mends it")
	event, err := e.dev.Raw().GetAsyncEvent()
	require.NoError(t, err)
	require.Equal(t, ibv.EventCQErr, event.EventType)
	require.Equal(t, cq, event.CQ())
	end()
	closed := make(chan error)
	go func() { closed <- cq.Close() }()
	select {
	case <-closed:
		t.Fatal("the event was not acknowledged")
	case <-time.After(10 * time.Millisecond):
	}
	require.NoError(t, event.Ack())
	require.NoError(t, <-closed)
}

// Events are held back until there are as many completions, or for as long, in the time of a bubble.
func TestModeration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := connected(t, ibvtest.New(t), rdma.CQOptions{})
		cq := e.cqs[1]
		moderate := func(count, period uint16) {
			require.NoError(t, cq.Modify(ibv.ModifyCQAttr{AttrMask: ibv.CQAttrModerate, Moderate: ibv.ModerateCQ{CQCount: count, CQPeriod: period}}))
		}
		var took time.Duration
		wait := func() chan int {
			got := make(chan int, 1)
			start := time.Now()
			go func() {
				n, err := cq.Wait(context.Background(), make([]ibv.WC, 8))
				if err != nil {
					n = -1
				}
				took = time.Since(start)
				got <- n
			}()
			synctest.Wait()
			return got
		}
		moderate(3, 0)
		got := wait()
		e.send(2, 0)
		synctest.Wait()
		require.Empty(t, got)
		e.send(1, 0)
		require.Equal(t, 3, <-got)

		moderate(0, 50)
		got = wait()
		e.send(2, 0)
		require.Equal(t, 2, <-got)
		require.Equal(t, 50*time.Microsecond, took)

		moderate(0, 0)
		got = wait()
		e.send(1, 0)
		require.Equal(t, 1, <-got)
		require.Zero(t, took)
	})
}

// Loops over a device's events are in a bubble, too: each event comes to one of them.
func TestEventsInBubble(t *testing.T) {
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			f := ibvtest.New(t)
			dev, err := rdma.Open(f.Names()[0], rdma.DeviceOptions{})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, dev.CloseAll()) })
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var events atomic.Int32
			ended := make(chan error, 2)
			for range 2 {
				go func() {
					for _, err := range dev.Events(ctx) {
						if err != nil {
							ended <- err
							return
						}
						events.Add(1)
					}
				}()
			}
			synctest.Wait()
			device := f.Device(0)
			for i := range 3 {
				require.NoError(t, device.SetPort(1, i%2 == 1))
			}
			synctest.Wait()
			require.EqualValues(t, 3, events.Load())
			start := time.Now()
			for range 2 {
				require.ErrorIs(t, <-ended, context.DeadlineExceeded)
			}
			require.Equal(t, time.Minute, time.Since(start))
		})
	}
}

// A test that ends with everything open leaves nothing behind: a bubble would not end with a goroutine that waits.
func TestEndsWithAllOpen(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			f := ibvtest.New(t)
			dev, err := rdma.Open(f.Names()[0], rdma.DeviceOptions{})
			require.NoError(t, err)
			cq, err := dev.CreateCQ(4, rdma.CQOptions{})
			require.NoError(t, err)
			go func() { _, _ = cq.Wait(context.Background(), make([]ibv.WC, 1)) }()
			go func() {
				for range dev.Events(context.Background()) {
				}
			}()
			synctest.Wait()
		})
	}
	for n := 0; n < 1000 && runtime.NumGoroutine() > before; n++ {
		time.Sleep(time.Millisecond) // the last ones are on their way out
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// Close ends who waits, and a second one says so.
func TestCloseWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := connected(t, ibvtest.New(t), rdma.CQOptions{})
		cq, err := e.dev.CreateCQ(4, rdma.CQOptions{})
		require.NoError(t, err)
		failed := make(chan error, 3)
		for range 3 {
			go func() {
				_, err := cq.Wait(context.Background(), make([]ibv.WC, 1))
				failed <- err
			}()
		}
		synctest.Wait()
		require.NoError(t, cq.Close())
		for range 3 {
			require.ErrorIs(t, <-failed, rdma.ErrClosed)
		}
		require.ErrorIs(t, cq.Close(), rdma.ErrClosed)
	})
}
