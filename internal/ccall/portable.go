package ccall

import (
	"sync"
	"unsafe"

	"github.com/goverbs/goverbs/internal/dl"
)

// postPortable is post on every platform that can call C at all.
func postPortable(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr) {
	// The slot is an integer to the garbage collector: it runs during the call, and C stores without telling it.
	var slot uintptr
	// Safe: conversions in the argument list of a function that lets them escape keep what they point to alive and in
	// place until it returns.
	result, reason := dl.CallInt(fn, uintptr(object), uintptr(list), uintptr(unsafe.Pointer(&slot)))
	return result, int32(reason), slot
}

// portableBatch is how many completions the portable way asks C for at once.
const portableBatch = 256

// batches are blocks of memory that C can fill while the goroutine's stack, where the caller's may be, moves.
var batches = sync.Pool{New: func() any { return new([portableBatch * CompletionSize]byte) }}

// pollPortable is poll on every platform that can call C at all. It asks until it has n or there are no more, and returns
// what it has when C fails after that.
func pollPortable(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32) {
	batch := batches.Get().(*[portableBatch * CompletionSize]byte)
	defer batches.Put(batch)
	for taken := int32(0); ; {
		asked := min(n-taken, portableBatch)
		// Safe: wc has room for n. C gets what is there now, because it leaves alone what it does not fill.
		room := unsafe.Slice((*byte)(unsafe.Add(wc, int(taken)*CompletionSize)), max(asked, 0)*CompletionSize)
		copy(batch[:], room)
		// Safe: as in postPortable. A negative n keeps its sign in the wider word, as C conventions want it.
		got, reason := dl.CallInt(fn, uintptr(cq), uintptr(asked), uintptr(unsafe.Pointer(batch)))
		if got < 0 && taken == 0 {
			return got, int32(reason)
		}
		if got > asked {
			return max(taken+got, n+1), 0 // more than was asked for, whatever came before
		}
		copy(room, batch[:max(got, 0)*CompletionSize])
		taken += max(got, 0)
		if got < asked || taken >= n {
			return taken, 0
		}
	}
}
