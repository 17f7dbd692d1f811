package ibv_test

import (
	"context"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/emulated"
)

// A goroutine that does nothing but post or poll can be stopped by the collector.
// Without asynchronous preemption it stops only where a call leaves a place for
// that, so a process whose calls leave none hangs.
func TestLoopsLetTheCollectorRun(t *testing.T) {
	const role = "IBV_TEST_LOOPS"
	if os.Getenv(role) == "" {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := emulated.CommandContext(ctx, os.Args[0], "-test.run=^TestLoopsLetTheCollectorRun$", "-test.v")
		cmd.Env = append(os.Environ(), role+"=1", "GODEBUG=asyncpreemptoff=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	p := newProvider(t, wholeContext)
	recv, send := recvChain(t, 4, 0), sendChain(t, 4, 0)
	wcs := make([]ibv.WC, 4)
	picked := []int{2, 0}
	bound, boundSRQ, boundSend, poller := p.QP.RecvPoster(), p.SRQ.RecvPoster(), p.QP.SendPoster(), p.CQ.Poller()
	attached := p.SRQQP.RecvPoster()
	for _, s := range []script{{Room: all}, {Result: 12, Bad: element}} {
		p.Play(s)
		for name, loop := range map[string]func(stop *atomic.Bool){
			"RecvChain.Post": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = recv.Post(p.QP)
				}
			},
			"RecvChain.Post with an SRQ": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = recv.Post(p.SRQQP)
				}
			},
			"RecvChain.PostSRQ": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = recv.PostSRQ(p.SRQ)
				}
			},
			"SendChain.Post": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = send.Post(p.QP)
				}
			},
			"SendChain.PostRange": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = send.PostRange(p.QP, 1, 3)
				}
			},
			"RecvChain.PostPicked": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = recv.PostPicked(p.QP, picked)
				}
			},
			"RecvPoster.Post": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = bound.Post(recv)
				}
			},
			"RecvPoster.Post with an SRQ": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = attached.Post(recv)
				}
			},
			"RecvPoster.Post to an SRQ": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = boundSRQ.Post(recv)
				}
			},
			"RecvPoster.PostRange": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = bound.PostRange(recv, 1, 3)
				}
			},
			"SendPoster.Post": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = boundSend.Post(send)
				}
			},
			"Poller.Poll": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = poller.Poll(wcs)
				}
			},
			"QP.PostRecv": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = p.QP.PostRecv(recv.WR(0))
				}
			},
			"QP.PostSend of nothing": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = p.QP.PostSend(nil)
				}
			},
			"CQ.Poll": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = p.CQ.Poll(wcs)
				}
			},
			"CQ.Poll without room": func(stop *atomic.Bool) {
				for !stop.Load() {
					_, _ = p.CQ.Poll(nil)
				}
			},
		} {
			t.Run(name, func(t *testing.T) {
				var stop atomic.Bool
				done := make(chan struct{})
				go func() {
					defer close(done)
					loop(&stop)
				}()
				for range 3 {
					runtime.GC()
				}
				stop.Store(true)
				<-done
			})
		}
	}
}
