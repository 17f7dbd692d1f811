package ibv

import "unsafe"

// pointerTo makes the pointer of an address that C gave out. The memory is
// C's, so the garbage collector has nothing to do with it.
//
// It is not inlined: Go 1.26's compiler for amd64 gives up on a copy from a
// pointer that it has seen as an integer.
//
//go:noinline
func pointerTo[T any](address uintptr) *T {
	// Safe: the address becomes the pointer it is in C; T has C's layout.
	return *(**T)(unsafe.Pointer(&address))
}
