package ccall

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv/internal/dl"
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

// pollPortable is poll on every platform that can call C at all.
func pollPortable(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32) {
	// Safe: as in postPortable. A negative n keeps its sign in the wider word, as C conventions want it.
	result, reason := dl.CallInt(fn, uintptr(cq), uintptr(n), uintptr(wc))
	return result, int32(reason)
}
