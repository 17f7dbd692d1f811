//go:build device && linux

package rdma

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// threads is how many threads the process has.
func threads(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	n, err := strconv.Atoi(string(regexp.MustCompile(`(?m)^Threads:\s+(\d+)$`).FindSubmatch(status)[1]))
	require.NoError(t, err)
	return n
}

// processorTime is how long the process has run.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// files is how many files the process has open.
func files(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}

// A thousand goroutines that wait, on a hundred queues, need ten threads at most and
// no processor, and all are woken.
func TestThousandWait(t *testing.T) {
	if !child(t, func() {}) {
		return
	}
	const waiters, queues = 1000, 100
	r := newRig(t)
	var flushers []*flusher
	for range queues {
		flushers = append(flushers, r.flusher(r.cq(64)))
	}
	var waiting, woken sync.WaitGroup
	for i := range waiters {
		waiting.Add(1)
		woken.Go(func() {
			waiting.Done()
			n, err := flushers[i%queues].cq.Wait(context.Background(), make([]ibv.WC, 1))
			if n != 1 || err != nil {
				t.Errorf("Wait returned %d, %v", n, err)
			}
		})
	}
	waiting.Wait()
	time.Sleep(100 * time.Millisecond) // until they are parked
	before := processorTime(t)
	time.Sleep(time.Second)
	used, running := processorTime(t)-before, threads(t)
	t.Logf("%d threads, and %v of a processor in a second", running, used)
	require.LessOrEqual(t, running, 10)
	// The system may count in ticks of 10 ms.
	require.LessOrEqual(t, used, 200*time.Millisecond, "of a second: one that spins would take all of it")
	for i := range waiters {
		flushers[i%queues].complete(uint64(i))
	}
	woken.Wait()
	require.LessOrEqual(t, threads(t), 10)
}

// Channels and queues leave neither goroutines nor files nor events behind, with and
// without somebody who waits.
func TestChannelsAndQueuesLeaveNothing(t *testing.T) {
	r := newRig(t)
	wcs := make([]ibv.WC, 1)
	once := func(i int) {
		channel, err := r.dev.CreateChannel()
		require.NoError(t, err)
		cq, err := r.dev.CreateCQ(1, rdma.CQOptions{Channel: channel})
		require.NoError(t, err)
		if i%10 == 0 {
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error)
			go func() {
				_, err := cq.Wait(ctx, wcs)
				done <- err
			}()
			runtime.Gosched()
			var children *rdma.ChildrenError
			require.ErrorAs(t, channel.Close(), &children)
			require.Equal(t, []string{cq.String()}, children.Children)
			if i%20 == 0 {
				cancel()
				require.ErrorIs(t, <-done, context.Canceled)
			} else {
				require.NoError(t, cq.Close())
				require.ErrorIs(t, <-done, rdma.ErrClosed)
			}
			cancel()
		}
		require.NoError(t, channel.CloseAll())
		require.ErrorIs(t, channel.Close(), rdma.ErrClosed)
	}
	once(0)
	goroutines, open := runtime.NumGoroutine(), files(t)
	for i := range effort(t, 10_000) {
		once(i)
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+1 }, patience, time.Millisecond, "Eventually has one itself")
	require.Equal(t, open, files(t))
}

// A device closes with the channel of its own, and leaves nothing.
func TestDevicesLeaveNothing(t *testing.T) {
	once := func() {
		dev, err := rdma.Open(deviceName, rdma.DeviceOptions{})
		require.NoError(t, err)
		cq, err := dev.CreateCQ(1, rdma.CQOptions{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = cq.Wait(ctx, make([]ibv.WC, 1))
		require.ErrorIs(t, err, context.Canceled)
		for _, err := range dev.Events(ctx) {
			require.ErrorIs(t, err, context.Canceled)
		}
		require.NoError(t, cq.Close())
		require.NoError(t, dev.Close())
	}
	once()
	goroutines, open := runtime.NumGoroutine(), files(t)
	for range 200 {
		once()
	}
	require.Equal(t, goroutines, runtime.NumGoroutine())
	require.Equal(t, open, files(t))
}

// A hundred thousand completions wake goroutines of which some are cancelled at the
// same time. Each gets its own, and none is lost: the next one comes when the one
// before is there.
func TestHundredThousandWakeUps(t *testing.T) {
	r := newRig(t)
	f := r.flusher(r.cq(64))
	got := make(chan uint64)
	var cancelled atomic.Int64
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(i)))
			wcs := make([]ibv.WC, 1)
			for {
				one, end := ctx, func() {}
				if i > 0 && random.IntN(3) == 0 {
					one, end = context.WithTimeout(ctx, time.Duration(random.IntN(200))*time.Microsecond)
				}
				n, err := f.cq.Wait(one, wcs)
				end()
				switch {
				case n == 1 && err == nil:
					got <- wcs[0].WRID
				case ctx.Err() != nil:
					return
				case errors.Is(err, context.DeadlineExceeded):
					cancelled.Add(1)
					time.Sleep(time.Millisecond) // others have to be woken
				default:
					t.Errorf("Wait returned %d, %v", n, err)
					return
				}
			}
		})
	}
	for i := range uint64(effort(t, 100_000)) {
		f.complete(i)
		require.Equal(t, i, <-got)
	}
	cancel()
	all.Wait()
	t.Logf("%d were cancelled", cancelled.Load())
}

// A queue closes while goroutines wait and its events are outstanding.
func TestCloseWhileWaiting(t *testing.T) {
	r := newRig(t)
	random := rand.New(rand.NewPCG(8, 9))
	for range effort(t, 5_000) {
		cq := r.cq(16)
		f := r.flusher(cq)
		var all sync.WaitGroup
		for range random.IntN(3) {
			all.Go(func() {
				for {
					n, err := cq.Wait(context.Background(), make([]ibv.WC, 1))
					if errors.Is(err, rdma.ErrClosed) {
						return
					}
					if n != 1 || err != nil {
						t.Errorf("Wait returned %d, %v", n, err)
					}
				}
			})
		}
		for i := range random.IntN(4) {
			f.complete(uint64(i))
			if random.IntN(2) == 0 {
				runtime.Gosched()
			}
		}
		require.NoError(t, f.qp.Close())
		require.NoError(t, cq.Close())
		all.Wait()
	}
}

// A queue that is made without a channel can only be polled.
func TestNoChannel(t *testing.T) {
	r := newRig(t)
	cq, err := r.dev.CreateCQ(16, rdma.CQOptions{NoChannel: true})
	require.NoError(t, err)
	require.Nil(t, cq.Raw().Channel)
	f := r.flusher(cq)
	_, err = cq.Wait(context.Background(), make([]ibv.WC, 1))
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorIs(t, err, syscall.EOPNOTSUPP)
	require.ErrorContains(t, err, "NoChannel")
	f.complete(5)
	require.EqualValues(t, 5, r.pollAny(cq, 1)[0].WRID)
	channel, err := r.dev.CreateChannel()
	require.NoError(t, err)
	_, err = r.dev.CreateCQ(16, rdma.CQOptions{NoChannel: true, Channel: channel})
	require.ErrorIs(t, err, syscall.EINVAL)
}

// Queues of somebody else's channel can be waited for once both are adopted. Events
// of those that are not are dropped, and hold up nobody's Close.
func TestWaitOnAdopted(t *testing.T) {
	r := newRig(t)
	raw, err := r.dev.Raw().CreateCompChannel()
	require.NoError(t, err)
	var raws [3]*ibv.CQ
	for i := range raws {
		raws[i], err = r.dev.Raw().CreateCQWithChannel(16, 1, raw, 0) // the same number
		require.NoError(t, err)
	}
	channel, err := r.dev.AdoptChannel(raw)
	require.NoError(t, err)
	other, err := r.dev.CreateChannel()
	require.NoError(t, err)
	_, err = r.dev.AdoptCQ(raws[1], rdma.CQOptions{Channel: other})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, other.String())
	cq, err := r.dev.AdoptCQ(raws[1], rdma.CQOptions{Channel: channel})
	require.NoError(t, err)
	unadopted, err := r.dev.AdoptCQ(raws[2], rdma.CQOptions{})
	require.NoError(t, err)
	_, err = unadopted.Wait(context.Background(), make([]ibv.WC, 1))
	require.ErrorContains(t, err, "AdoptChannel")

	f, g := r.flusher(cq), r.flusher(unadopted)
	for i := range uint64(100) {
		require.NoError(t, raws[2].ReqNotify(false))
		g.complete(i)
		done := make(chan error)
		wcs := make([]ibv.WC, 1)
		go func() {
			_, err := cq.Wait(context.Background(), wcs)
			done <- err
		}()
		runtime.Gosched()
		f.complete(i)
		require.NoError(t, <-done)
		require.Equal(t, i, wcs[0].WRID)
		r.pollAny(unadopted, 1)
	}
	require.NoError(t, f.qp.Close())
	require.NoError(t, g.qp.Close())
	require.NoError(t, unadopted.Close())
	require.NoError(t, channel.CloseAll())
	for _, raw := range raws {
		require.NoError(t, raw.Close())
	}
	require.NoError(t, raw.Close())
}

// Wait takes completions that come while it spins, and gives up in time.
func TestSpin(t *testing.T) {
	r := newRig(t)
	cq, err := r.dev.CreateCQ(64, rdma.CQOptions{Spin: 5 * time.Millisecond})
	require.NoError(t, err)
	f := r.flusher(cq)
	wcs := make([]ibv.WC, 1)
	for i := range uint64(200) {
		done := make(chan error)
		go func() {
			_, err := cq.Wait(context.Background(), wcs)
			done <- err
		}()
		time.Sleep(time.Duration(i%10) * time.Millisecond)
		f.complete(i)
		require.NoError(t, <-done)
		require.Equal(t, i, wcs[0].WRID)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err = cq.Wait(ctx, wcs)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
