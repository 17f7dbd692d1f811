package ccall

import (
	"testing"
	"unsafe"

	"github.com/goverbs/goverbs/internal/dl"
)

// The same empty C function, called by a loop in C, directly, and the portable way.
func BenchmarkPost(b *testing.B) {
	fn, loop := symbol(b, "post_empty"), symbol(b, "bench_loop")
	list := unsafe.Pointer(new([4]int64))
	b.Run("C", func(b *testing.B) {
		function := &fn
		dl.Call(loop, uintptr(unsafe.Pointer(function)), uintptr(b.N), uintptr(list))
	})
	if Direct() {
		b.Run("direct", func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				Post(fn, nil, list)
			}
		})
	}
	if Direct() {
		b.Run("direct, list", func(b *testing.B) {
			b.ReportAllocs()
			l := &List{First: list, Len: 1}
			for range b.N {
				PostList(fn, nil, l, nil, nil)
			}
		})
	}
	b.Run("portable", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			postPortable(fn, nil, list)
		}
	})
}

func BenchmarkPoll(b *testing.B) {
	fn := symbol(b, "post_empty") // three arguments and an int, which is all that matters
	wc := unsafe.Pointer(new([4]int64))
	b.ReportAllocs()
	for range b.N {
		Poll(fn, nil, wc, 1, nil)
	}
}
