//go:build !freebsd

package ibv_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// Many goroutines post batches and classic work requests to queue pairs of their
// own and of a neighbour's, and poll completion queues that all share, in both
// ways, while the collector never rests. Every byte arrives, every completion is
// handed out once, and nobody waits for ever for a lock of C's: testdata/extended.c
// would end the process.
func TestBatchStress(t *testing.T) {
	const workers, queues, most, size = 8, 2, 32, 48
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	e := newExtended(t)
	e.play(extendedScript{loop: true})
	var cqs [queues]*ibv.CQEx
	for i := range cqs {
		cqs[i] = e.cq(i, allFlags, false)
	}
	qps := make([]*ibv.QPEx, workers)
	for i := range qps {
		qps[i] = e.qp(i, ibv.QPTRC, everything, false, cqs[i%queues])
	}
	var done [workers]atomic.Int64 // completions by who has posted
	var group sync.WaitGroup
	failures := make(chan error, workers)
	worker := func(me int) error {
		random := rand.New(rand.NewPCG(uint64(me), 1))
		from := make([]byte, most*size)
		to, err := ibv.AllocBuffer(most * size) // C has only numbers, which the stack would not stay for
		if err != nil {
			return err
		}
		defer to.Free()
		addr := func(b []byte, i int) uint64 { return uint64(uintptr(unsafe.Pointer(&b[i*size]))) }
		var batches [2]*ibv.Batch // of its own queue pair and the neighbour's
		for k := range batches {
			if batches[k], err = ibv.NewBatch(qps[(me+k)%workers], everything, most, 2); err != nil {
				return err
			}
		}
		chain, err := ibv.NewSendChain(most, 1)
		if err != nil {
			return err
		}
		p, err := ibv.NewExtendedPoll(cqs[me%queues], ibv.WCFieldOpcode|ibv.WCFieldByteLen|ibv.WCFieldQPNum)
		if err != nil {
			return err
		}
		other, err := ibv.NewExtendedPoll(cqs[(me+1)%queues], allFields)
		if err != nil {
			return err
		}
		into, wcs := make([]ibv.ExtendedWC, 16), make([]ibv.WC, 16)
		credit := func(wrID uint64) { done[wrID>>32].Add(1) }
		expected := int64(0)
		for round := range rounds {
			n := 1 + random.IntN(most)
			for i := range n * size {
				from[i], to[i] = byte(random.Uint32()), 0
			}
			wrID := func(i int) uint64 { return uint64(me)<<32 | uint64(round*most+i) }
			which := random.IntN(3)
			if which < 2 {
				b := batches[which]
				for i := range n {
					if err := b.RDMAWrite(i, wrID(i), ibv.SendSignaled, addr(to, i), 1); err != nil {
						return err
					}
					switch random.IntN(4) {
					case 0:
						err = b.SetInline(i, from[i*size:(i+1)*size])
					case 1:
						err = b.SetInlineList(i, from[i*size:i*size+7], from[i*size+7:(i+1)*size])
					default:
						err = b.SetSGE(i, ibv.SGE{Addr: addr(from, i), Length: size})
					}
					if err != nil {
						return err
					}
				}
				cut := random.IntN(n + 1)
				for _, part := range [][2]int{{0, cut}, {cut, n}} {
					if accepted, err := b.PostRange(part[0], part[1]); err != nil || accepted != part[1]-part[0] {
						return fmt.Errorf("%d of %v: %w", accepted, part, err)
					}
					runtime.Gosched()
				}
			} else {
				for i := range n {
					if err := chain.SetRDMA(i, wrID(i), ibv.WRRDMAWrite, ibv.SendSignaled, ibv.SGE{Addr: addr(from, i), Length: size}, addr(to, i), 1); err != nil {
						return err
					}
				}
				if _, err := chain.PostRange(&qps[me].QPBase, 0, n); err != nil {
					return err
				}
			}
			expected += int64(n)
			for done[me].Load() < expected {
				var got int
				switch random.IntN(3) {
				case 0:
					got, err = p.Poll(into)
				case 1:
					got, err = other.Poll(into[:1+random.IntN(16)])
				default:
					cq := (*ibv.CQ)(unsafe.Pointer(cqs[random.IntN(queues)]))
					got, err = cq.Poll(wcs)
					for i := range got {
						credit(wcs[i].WRID)
					}
					got = 0
				}
				if err != nil {
					return err
				}
				for i := range into[:got] {
					if into[i].Opcode() != ibv.WCRDMAWrite || into[i].QPNum() < 0x100 {
						return fmt.Errorf("not a completion of the test's: %v", &into[i])
					}
					credit(into[i].WRID)
				}
				runtime.Gosched()
			}
			if string(from[:n*size]) != string(to[:n*size]) {
				return fmt.Errorf("worker %d, round %d, way %d: other bytes arrived", me, round, which)
			}
			if done[me].Load() != expected {
				return fmt.Errorf("worker %d has more completions than it posted", me)
			}
		}
		return nil
	}
	var stop atomic.Bool
	collected := make(chan int)
	go func() {
		n := 0
		for !stop.Load() {
			runtime.GC()
			n++
		}
		collected <- n
	}()
	for me := range workers {
		group.Go(func() { failures <- worker(me) })
	}
	group.Wait()
	stop.Store(true)
	require.Positive(t, <-collected)
	for range workers {
		require.NoError(t, <-failures)
	}
	for i := range cqs {
		require.Zero(t, e.Call("extended_cq_left", uintptr(i)))
	}
	require.Empty(t, e.events(), "no lock is left")
}
