package ccall

import (
	"runtime"
	"unsafe"

	"github.com/goverbs/goverbs/ibv/internal/dl"
)

// postPortable is [Post] on every platform that can call C at all.
func postPortable(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad unsafe.Pointer) {
	// The slot is an integer to the garbage collector: it runs during the call, and C stores without telling it.
	var slot uintptr
	// Safe: conversions in the argument list of a function that lets them escape keep what they point to alive and in
	// place until it returns.
	result, reason := dl.CallInt(fn, uintptr(object), uintptr(list), uintptr(unsafe.Pointer(&slot)))
	// Safe: what C stored is an element of the list, or C's own; the list is alive until after the conversion.
	bad = *(*unsafe.Pointer)(unsafe.Pointer(&slot))
	runtime.KeepAlive(list)
	return result, int32(reason), bad
}

// pollPortable is [Poll] on every platform that can call C at all.
func pollPortable(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32) {
	// Safe: as in postPortable. A negative n keeps its sign in the wider word, as C conventions want it.
	result, reason := dl.CallInt(fn, uintptr(cq), uintptr(n), uintptr(wc))
	return result, int32(reason)
}
