package ibv_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/dl"
)

// Posting and polling as Go pays for it and, as impl=c, as a loop in C does, with
// a provider that does what Soft-RoCE's does for a work request. With
// GOVERBS_CCALL=portable in the environment, impl=goverbs is
// impl=goverbs-fallback.

// impl is this package's name among the implementations.
func impl() string {
	if ccall.Direct() {
		return "impl=goverbs"
	}
	return "impl=goverbs-fallback"
}

func benchmarkProvider(b *testing.B) *provider {
	p := newProvider(b, wholeContext)
	p.Call("provider_measure")
	return p
}

func BenchmarkPostRecv(b *testing.B) {
	p := benchmarkProvider(b)
	loop := p.Symbol("provider_post_loop")
	for _, n := range []int{1, 4, 16, 64} {
		chain := recvChain(b, n, 0)
		head := chain.WR(0)
		wr := fmt.Sprintf("wr=%d", n)
		b.Run("impl=c/"+wr, func(b *testing.B) {
			result, _ := dl.Call(loop, uintptr(unsafe.Pointer(p.QP)), uintptr(unsafe.Pointer(head)), uintptr(b.N))
			require.Zero(b, int32(result))
		})
		b.Run(impl()+"/"+wr, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := p.QP.PostRecv(head); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(impl()+"-chain/"+wr, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := chain.Post(p.QP); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(impl()+"-range/"+wr, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := chain.PostRange(p.QP, 0, n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPollEmpty(b *testing.B) {
	p := benchmarkProvider(b)
	loop := p.Symbol("provider_poll_loop")
	wcs := make([]ibv.WC, 16)
	b.Run("impl=c", func(b *testing.B) {
		result, _ := dl.Call(loop, uintptr(unsafe.Pointer(p.CQ)), uintptr(unsafe.Pointer(&wcs[0])), uintptr(len(wcs)), uintptr(b.N))
		require.Zero(b, int32(result))
	})
	b.Run(impl(), func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if n, err := p.CQ.Poll(wcs); n != 0 || err != nil {
				b.Fatal(n, err)
			}
		}
	})
}

// A post that the queue has no room for is done as often as one that succeeds.
func BenchmarkPostRefused(b *testing.B) {
	p := newProvider(b, wholeContext)
	chain := recvChain(b, 16, 0)
	p.Play(script{Result: 12, Bad: element})
	b.Run(impl(), func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if n, err := chain.Post(p.QP); n != 0 || err == nil {
				b.Fatal(n, err)
			}
		}
	})
}
