package ccall

import (
	"fmt"
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
	if Direct() {
		b.Run("direct, bound", func(b *testing.B) {
			b.ReportAllocs()
			l, bound := &List{First: list, Len: 1}, BindList(fn, nil, nil)
			for range b.N {
				bound(l, 0, 0)
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

// benchObject is struct bench of testdata/calls.c.
type benchObject struct {
	id                                              uint64
	flags, behind                                   uint32
	held                                            int64
	sink                                            [8]uint64
	tail                                            uint64
	start, write, setSGE, complete, next, end, read uintptr
	left                                            uint64
}

func newBenchObject(b *testing.B) *benchObject {
	o := new(benchObject)
	dl.Call(symbol(b, "bench_init"), uintptr(unsafe.Pointer(o)))
	return o
}

// Batches of writes, by a loop in C, and as a program.
func BenchmarkPlay(b *testing.B) {
	o, loop := newBenchObject(b), symbol(b, "bench_batches")
	for _, wrs := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(wrs, "/C"), func(b *testing.B) {
			dl.Call(loop, uintptr(unsafe.Pointer(o)), uintptr(wrs), uintptr(b.N))
		})
		b.Run(fmt.Sprint(wrs, "/program"), func(b *testing.B) {
			steps := make([]Step, wrs)
			for i := range steps {
				at := uintptr(i) * 64
				steps[i] = Step{WRID: uint64(i), Flags: 2, Plain: 1, Op: o.write, OpArgs: [5]uintptr{7, at}, Data: o.setSGE, DataArgs: [3]uintptr{9, at, 64}}
			}
			p := &Program{Object: unsafe.Pointer(o), Words: unsafe.Pointer(&o.id), Start: o.start, Complete: o.complete}
			b.ReportAllocs()
			for b.Loop() {
				p.Play(steps)
			}
		})
	}
}

// Extended polls that read two things of each completion, by a loop in C, and in one crossing.
func BenchmarkPollEx(b *testing.B) {
	o, loop := newBenchObject(b), symbol(b, "bench_polls")
	for _, wrs := range []int{1, 16, 64} {
		into := make([][4]uint64, wrs)
		b.Run(fmt.Sprint(wrs, "/C"), func(b *testing.B) {
			dl.Call(loop, uintptr(unsafe.Pointer(o)), uintptr(wrs), uintptr(b.N), uintptr(unsafe.Pointer(&into[0])))
		})
		b.Run(fmt.Sprint(wrs, "/program"), func(b *testing.B) {
			p := &ExtendedPoll{
				CQ: unsafe.Pointer(o), Start: o.start, Next: o.next, End: o.end, Size: 32,
				Head: unsafe.Pointer(&[2]uint64{}), OnSuccess: Reads(Read{o.read, 16}, Read{o.read, 24}),
			}
			b.ReportAllocs()
			for b.Loop() {
				p.Poll(unsafe.Pointer(&into[0]), wrs)
			}
		})
	}
}
