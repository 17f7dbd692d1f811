//go:build unix

package rdma

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// parkN has goroutines wait on the queue, and returns when all are parked.
func (q *fakeCQ) parkN(t *testing.T, n int) <-chan error {
	t.Helper()
	errs := make(chan error, n)
	for range n {
		go func() {
			_, err := q.handle().Wait(context.Background(), make([]ibv.WC, 1))
			errs <- err
		}()
	}
	until(t, "nobody waits", func() bool { return q.parkedIn() == n })
	return errs
}

// When the device is gone, all that wait on all queues of the channel learn of it,
// and those that come later. What is there can be taken, and all can be closed.
func TestChannelFails(t *testing.T) {
	watchdog(t)
	f := newFakeChannel(t)
	qs := []*fakeCQ{f.newCQ(false, 0), f.newCQ(true, 0)}
	var errs []<-chan error
	for _, q := range qs {
		errs = append(errs, q.parkN(t, 3))
	}
	f.mu.Lock()
	f.broken = syscall.EIO
	f.event(qs[0])
	f.mu.Unlock()
	for i, q := range append(qs, f.newCQ(false, 0)) {
		if i < len(errs) {
			for range 3 {
				require.ErrorIs(t, <-errs[i], syscall.EIO)
			}
		}
		<-f.channel.ended
		q.complete(7)
		wcs := make([]ibv.WC, 2)
		n, err := q.handle().Wait(context.Background(), wcs)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		_, err = q.handle().Wait(context.Background(), wcs)
		require.ErrorIs(t, err, syscall.EIO)
		require.ErrorContains(t, err, "wait on fake queue")
		require.NoError(t, q.close())
	}
}

// When a queue cannot be polled or asked for events, all that wait get the error.
func TestQueueFails(t *testing.T) {
	watchdog(t)
	f := newFakeChannel(t)
	other := f.newCQ(false, 0)
	elsewhere := other.parkN(t, 1)
	q := f.newCQ(false, 0)
	errs := q.parkN(t, 3)
	f.mu.Lock()
	q.fail = syscall.EIO
	q.armed = false
	f.event(q)
	f.mu.Unlock()
	for range 3 {
		require.ErrorIs(t, <-errs, syscall.EIO)
	}
	other.complete(1)
	require.NoError(t, <-elsewhere)

	q = f.newCQ(false, 0)
	q.refuseArm = syscall.EINVAL
	for range 3 {
		_, err := q.handle().Wait(context.Background(), make([]ibv.WC, 1))
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	q.refuseArm = nil
	require.Zero(t, f.channel.armed.Load())
	errs = q.parkN(t, 2)
	q.complete(1, 2)
	require.NoError(t, <-errs)
	require.NoError(t, <-errs)
	require.NoError(t, q.close())
}

// Events of queues that nobody waits for, or that are not ours, are acknowledged.
func TestEventsOfOthers(t *testing.T) {
	watchdog(t)
	f := newFakeChannel(t)
	q, closed := f.newCQ(false, 0), f.newCQ(false, 0)
	f.channel.remove(closed.waiters)
	for range 1000 {
		f.mu.Lock()
		f.event(closed)
		f.event(q)
		f.mu.Unlock()
	}
	until(t, "an event is not acknowledged", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.events) == 0 && closed.got == 1000 && closed.acked == 1000
	})
	require.Greater(t, q.acked, 1000-batch)
	errs := q.parkN(t, 1)
	q.complete(1)
	require.NoError(t, <-errs)
	require.NoError(t, q.close())
	require.Equal(t, q.got, q.acked)
}

// An event that is got when Close has acknowledged all others already does not hold
// it up.
func TestEventWhileClosing(t *testing.T) {
	watchdog(t)
	f := newFakeChannel(t)
	q := f.newCQ(false, 0)
	event := func() {
		f.mu.Lock()
		got := q.got
		f.event(q)
		f.mu.Unlock()
		until(t, "nobody gets the event", func() bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			return q.got == got+1
		})
	}
	event()
	require.Zero(t, q.acked)
	q.late = event
	require.NoError(t, q.close())
	require.Equal(t, 2, q.acked)
}

// A file that the runtime cannot watch is refused.
func TestWatch(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer file.Close()
	_, err = watch(int32(file.Fd()), "the file")
	require.ErrorIs(t, err, os.ErrNoDeadline)
	require.ErrorContains(t, err, "watch the file")
	_, err = watch(-1, "the file")
	require.ErrorIs(t, err, syscall.EBADF)
}

// Completions that are there win over a context that has ended, also when both come
// while it waits.
func TestCompletionsWin(t *testing.T) {
	watchdog(t)
	f := newFakeChannel(t)
	q := f.newCQ(false, 0)
	for range rounds() / 10 {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			_, err := q.handle().Wait(ctx, make([]ibv.WC, 1))
			done <- err
		}()
		runtime.Gosched()
		q.complete(1)
		cancel()
		require.NoError(t, <-done)
	}
	require.NoError(t, q.close())
}

// Waiting works on one processor, and spinning does not keep others from it.
func TestOneProcessor(t *testing.T) {
	watchdog(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	f := newFakeChannel(t)
	for _, spin := range []time.Duration{0, 100 * time.Microsecond} {
		a, b := f.newCQ(false, spin), f.newCQ(false, spin)
		done := make(chan error, 1)
		go func() {
			var err error
			for range 1000 {
				_, e := a.handle().Wait(context.Background(), make([]ibv.WC, 1))
				err = errors.Join(err, e)
				b.complete(1)
			}
			done <- err
		}()
		for range 1000 {
			a.complete(1)
			_, err := b.handle().Wait(context.Background(), make([]ibv.WC, 1))
			require.NoError(t, err)
		}
		require.NoError(t, <-done)
	}
}

// Waiting allocates nothing, be there completions or not.
func TestWaitAllocatesNothing(t *testing.T) {
	l, err := begin("fake queue")
	require.NoError(t, err)
	var ready atomic.Int64
	w := newWaiters(new(ibv.CQ), l, ibv.NewPoller(func([]ibv.WC) (int, error) { return int(ready.Swap(0)), nil }), 0)
	newFakeChannel(t).channel.add(w)
	requests := make(chan struct{})
	w.arm = func() error {
		requests <- struct{}{}
		return nil
	}
	go func() {
		for range requests {
			for w.parkedIn() == 0 {
				runtime.Gosched()
			}
			ready.Store(1)
			w.event()
		}
	}()
	cq := &CQ{l: l, waiters: w}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	wcs := make([]ibv.WC, 1)
	wait := func() {
		if n, err := cq.Wait(ctx, wcs); n != 1 || err != nil {
			panic(err)
		}
	}
	parked := testing.AllocsPerRun(1000, wait)
	close(requests)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		ready.Store(1)
		wait()
	}))
	if !ccall.RaceDetector { // which has pools forget
		require.Zero(t, parked)
	}
}
