//go:build unix

package rdma

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// rounds is how often each race is run.
func rounds() int {
	if testing.Short() {
		return 1000
	}
	return 100_000
}

// watchdog ends the test with all stacks if it takes far too long: something waits
// for ever.
func watchdog(t *testing.T) {
	timer := time.AfterFunc(2*time.Minute, func() {
		stacks := make([]byte, 1<<20)
		panic(t.Name() + " hangs:\n" + string(stacks[:runtime.Stack(stacks, true)]))
	})
	t.Cleanup(func() { timer.Stop() })
}

// until waits for a condition that is to come.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Microsecond) {
		require.True(t, time.Now().Before(end), what)
	}
}

// parkedIn is how many goroutines are parked.
func (w *waiters) parkedIn() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := w.parked.after; p != &w.parked; p = p.after {
		n++
	}
	return n
}

// Of several that wait, some are cancelled while completions come. Whoever takes them,
// each of the others gets one in the end, as long as they come when there are none.
func TestNoWakeUpIsLost(t *testing.T) {
	watchdog(t)
	f := newFakeChannel(t)
	q := f.newCQ(false, 0)
	cq := q.handle()
	random := rand.New(rand.NewPCG(1, 2))
	for range rounds() {
		patient, fickle := 1+random.IntN(3), random.IntN(3)
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		for range patient {
			room := 1 + random.IntN(3)
			all.Go(func() {
				n, err := cq.Wait(context.Background(), make([]ibv.WC, room))
				if n < 1 || n > room || err != nil {
					t.Errorf("Wait returned %d, %v", n, err)
				}
			})
		}
		for range fickle {
			room := 1 + random.IntN(3)
			all.Go(func() {
				n, err := cq.Wait(ctx, make([]ibv.WC, room))
				if (n > 0) != (err == nil) || (err != nil && !errors.Is(err, context.Canceled)) {
					t.Errorf("Wait returned %d, %v", n, err)
				}
			})
		}
		for range random.IntN(4) {
			runtime.Gosched()
		}
		if random.IntN(2) == 0 {
			cancel()
		}
		if random.IntN(2) == 0 {
			q.complete(make([]uint64, patient)...)
		} else {
			for range patient {
				q.complete(0)
			}
		}
		cancel()
		q.keepFull(true)
		all.Wait()
		q.keepFull(false)
		_, err := q.poll(make([]ibv.WC, 10))
		require.NoError(t, err)
	}
	require.NoError(t, q.close())
}

// Many goroutines take completions of several queues of one channel in all ways. Each
// completion is taken once, and the next ones come when all are taken.
func TestEachCompletionOnce(t *testing.T) {
	watchdog(t)
	f := newFakeChannel(t)
	const queues, takers = 3, 4
	ctx, cancel := context.WithCancel(context.Background())
	taken := make(chan uint64, 100)
	var all sync.WaitGroup
	var qs []*fakeCQ
	for i := range queues {
		q := f.newCQ(i == 1, time.Duration(i/2)*time.Microsecond)
		qs = append(qs, q)
		for range takers {
			all.Go(func() {
				wcs := make([]ibv.WC, 1+i)
				for {
					n, err := q.handle().Wait(ctx, wcs)
					for _, wc := range wcs[:n] {
						taken <- wc.WRID
					}
					if err != nil {
						require.ErrorIs(t, err, context.Canceled)
						return
					}
				}
			})
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	missing := map[uint64]bool{}
	for next := uint64(0); next < uint64(rounds()); {
		for range 1 + random.IntN(2) {
			q := qs[random.IntN(queues)]
			ids := make([]uint64, 1+random.IntN(6))
			for i := range ids {
				ids[i] = next
				missing[next] = true
				next++
			}
			q.complete(ids...)
		}
		for len(missing) > 0 {
			id := <-taken
			require.True(t, missing[id], "%d was taken twice", id)
			delete(missing, id)
		}
	}
	cancel()
	all.Wait()
	for _, q := range qs {
		require.NoError(t, q.close())
	}
}

// Queues are closed while goroutines wait, completions come and events are
// outstanding. All that wait come back, C is not called afterwards, and its events
// are acknowledged. Where C refuses, all goes on.
func TestCloseWhileWaiting(t *testing.T) {
	watchdog(t)
	f := newFakeChannel(t)
	random := rand.New(rand.NewPCG(5, 6))
	for range rounds() {
		q := f.newCQ(random.IntN(2) == 0, 0)
		cq := q.handle()
		if random.IntN(4) == 0 {
			q.refuse = syscall.EBUSY
		}
		var all sync.WaitGroup
		for i := range random.IntN(4) {
			all.Go(func() {
				for {
					n, err := cq.Wait(context.Background(), make([]ibv.WC, 1+i%2))
					if err != nil {
						if n != 0 || !errors.Is(err, ErrClosed) {
							t.Errorf("Wait returned %d, %v", n, err)
						}
						return
					}
				}
			})
		}
		all.Go(func() {
			q.complete(1)
			q.complete(2, 3)
		})
		for range random.IntN(4) {
			runtime.Gosched()
		}
		if q.refuse != nil {
			require.ErrorIs(t, q.close(), syscall.EBUSY)
			q.refuse = nil
		}
		require.NoError(t, q.close())
		all.Wait()
	}
	require.Empty(t, f.numbers)
	require.Empty(t, f.adopted)
	require.Zero(t, f.channel.armed.Load(), "the channel knows of an event that cannot come")
}

// Who waits when C refuses to destroy the queue gets ErrClosed, and who waits
// afterwards is woken as ever.
func TestCloseRefusedWhileWaiting(t *testing.T) {
	watchdog(t)
	f := newFakeChannel(t)
	q := f.newCQ(false, 0)
	waiting := func() <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := q.handle().Wait(context.Background(), make([]ibv.WC, 1))
			done <- err
		}()
		until(t, "nobody waits", func() bool { return q.parkedIn() == 1 })
		return done
	}
	q.refuse = syscall.EBUSY
	for range 3 {
		done := waiting()
		require.ErrorIs(t, q.close(), syscall.EBUSY)
		require.ErrorIs(t, <-done, ErrClosed)
		done = waiting()
		q.complete(1)
		require.NoError(t, <-done)
	}
	q.refuse = nil
	require.NoError(t, q.close())
}

// badContext is one whose Done panics.
type badContext struct{ context.Context }

func (badContext) Done() <-chan struct{} { panic("no Done") }

// Without a context nobody waits, and a context that panics leaves the queue as it was.
func TestWaitWithoutContext(t *testing.T) {
	watchdog(t)
	f := newFakeChannel(t)
	q := f.newCQ(false, 0)
	cq := q.handle()
	wcs := make([]ibv.WC, 1)
	var none context.Context
	_, err := cq.Wait(none, wcs)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "the context is nil")
	require.Panics(t, func() { _, _ = cq.Wait(badContext{context.Background()}, wcs) })
	require.Zero(t, q.parkedIn())
	errs := q.parkN(t, 1)
	q.complete(1)
	require.NoError(t, <-errs)
	q.complete(2)
	_, err = cq.Wait(none, wcs)
	require.NoError(t, err, "a completion that is there comes first")
	require.NoError(t, q.close())
}
