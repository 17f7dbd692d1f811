package ibv_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// Completions on a goroutine's stack are where C wrote them, however the stack
// grows and shrinks meanwhile. With coverage and the race detector together, the
// compiler makes other code of it.
func TestPollOntoStacksThatMove(t *testing.T) {
	p := newProvider(t, wholeContext)
	p.Play(script{Completions: 4})
	var stop atomic.Bool
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		for !stop.Load() {
			runtime.GC()
		}
	}()
	poller := p.CQ.Poller()
	lost := 0
	for i := range 600 {
		done := make(chan int)
		go func() { done <- pollBelow(p.CQ, nil, i%97, 5+i%40) }() // a new goroutine has a small stack
		lost += <-done
		go func() { done <- pollBelow(nil, &poller, i%97, 5+i%40) }()
		lost += <-done
	}
	stop.Store(true)
	<-collected
	require.Zero(t, lost, "polls that lost what C wrote")
}

// pollBelow polls at each of so many depths, after going down some way, and
// returns how often something else than C wrote was there.
//
//go:noinline
func pollBelow(cq *ibv.CQ, poller *ibv.Poller, pad, depth int) (lost int) {
	if pad > 0 {
		var x [8]byte
		x[pad%8] = 1
		return pollBelow(cq, poller, pad-1, depth) + int(x[(pad+1)%8])
	}
	var wcs [4]ibv.WC
	var n int
	var err error
	if poller != nil {
		n, err = poller.Poll(wcs[:])
	} else {
		n, err = cq.Poll(wcs[:])
	}
	if depth > 0 {
		lost = pollBelow(cq, poller, 0, depth-1)
	}
	if n != 4 || err != nil {
		return lost + 1
	}
	for i := range wcs {
		if wcs[i].WRID != 0x1122334455667700+uint64(i) {
			return lost + 1
		}
	}
	return lost
}
