//go:build device && linux

package device

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// Many goroutines write by batches and by chains, on the same queue pairs, and poll
// the completion queue that all share in both ways, while the collector never
// rests. Every byte arrives, every completion comes once, and nobody waits for ever.
func TestBatchStress(t *testing.T) {
	const workers, rounds, most, size = 8, 40, 16, 256
	r := newRig(t)
	ops := rxeOps(t)
	shared := r.extendedCQ(2*workers*most, rxeFlags)
	poll, err := ibv.NewExtendedPoll(shared, rxeFields)
	require.NoError(t, err)
	var done [workers]atomic.Int64
	var broken atomic.Bool
	failures := make(chan error, workers)
	worker := func(me int, qp *ibv.QPEx, from, to *ibv.MR) error {
		random := rand.New(rand.NewPCG(uint64(me), 2))
		b, err := ibv.NewBatch(qp, ops, most, 2)
		if err != nil {
			return err
		}
		chain, err := ibv.NewSendChain(most, 1)
		if err != nil {
			return err
		}
		into, wcs := make([]ibv.ExtendedWC, 8), make([]ibv.WC, 8)
		var expected int64
		deadline := time.Now().Add(patience)
		for round := range rounds {
			n := 1 + random.IntN(most)
			wipe(to.Bytes(), 0)
			for i := range n * size {
				from.Bytes()[i] = byte(random.Uint32())
			}
			wrID := func(i int) uint64 { return uint64(me)<<32 | uint64(round*most+i) }
			// The front of it by a batch, the rest by a chain.
			cut := random.IntN(n + 1)
			for i := range cut {
				if err := b.RDMAWrite(i, wrID(i), ibv.SendSignaled, uint64(to.Addr)+uint64(i*size), to.RKey); err != nil {
					return err
				}
				half := size / 2
				err := b.SetSGEs(i, from.SGE(i*size, half), from.SGE(i*size+half, half))
				if i%2 == 0 {
					err = b.SetSGE(i, from.SGE(i*size, size))
				}
				if err != nil {
					return err
				}
			}
			for i := cut; i < n; i++ {
				if err := chain.SetRDMA(i, wrID(i), ibv.WRRDMAWrite, ibv.SendSignaled, from.SGE(i*size, size), uint64(to.Addr)+uint64(i*size), to.RKey); err != nil {
					return err
				}
			}
			if accepted, err := b.PostRange(0, cut); err != nil {
				return fmt.Errorf("%d of %d: %w", accepted, cut, err)
			}
			runtime.Gosched()
			if _, err := chain.PostRange(&qp.QPBase, cut, n); err != nil {
				return err
			}
			expected += int64(n)
			for done[me].Load() < expected {
				if random.IntN(2) == 0 {
					got, err := poll.Poll(into[:1+random.IntN(8)])
					if err != nil {
						return err
					}
					for i := range into[:got] {
						if err := into[i].Err(); err != nil {
							return err
						}
						done[into[i].WRID>>32].Add(1)
					}
				} else {
					got, err := shared.CQ().Poll(wcs)
					if err != nil {
						return err
					}
					for i := range wcs[:got] {
						if err := wcs[i].Err(); err != nil {
							return err
						}
						done[wcs[i].WRID>>32].Add(1)
					}
				}
				runtime.Gosched()
				if broken.Load() || time.Now().After(deadline) {
					return fmt.Errorf("worker %d has %d of %d completions", me, done[me].Load(), expected)
				}
			}
			if string(from.Bytes()[:n*size]) != string(to.Bytes()[:n*size]) {
				return fmt.Errorf("worker %d, round %d: other bytes arrived", me, round)
			}
		}
		return nil
	}
	var group sync.WaitGroup
	for me := range workers {
		a := r.extendedQP(ibv.QPTRC, ops, 2*most, 1, shared.CQ(), shared.CQ())
		b := r.extendedQP(ibv.QPTRC, ops, 1, 1, shared.CQ(), shared.CQ())
		r.connect(&a.QPBase, &b.QPBase)
		from, to := r.memory(1), r.memory(1)
		group.Go(func() {
			err := worker(me, a, from, to)
			if err != nil {
				broken.Store(true)
			}
			failures <- err
		})
	}
	stop, collected := make(chan struct{}), make(chan int)
	go func() {
		for n := 1; ; n++ {
			runtime.GC()
			select {
			case <-stop:
				collected <- n
				return
			default:
			}
		}
	}()
	group.Wait()
	close(stop)
	require.Positive(t, <-collected)
	for range workers {
		require.NoError(t, <-failures)
	}
	r.none(poll)
}
