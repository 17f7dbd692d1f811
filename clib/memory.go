package clib

import (
	"fmt"
	"strings"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/dl"
)

// At is the pointer that an address of C's is. What is there must be a T and not in the Go heap, unless a pointer keeps it
// there.
//
// It is not inlined: Go 1.26's compiler for amd64 gives up on a copy from a pointer that it has seen as an integer.
//
//go:noinline
func At[T any](address uintptr) *T {
	// Safe as far as the caller is right: the address becomes the pointer that it is in C.
	return *(**T)(unsafe.Pointer(&address))
}

// Text copies the string at an address of C's, up to its NUL. NULL is "".
func Text(address uintptr) string { return dl.Text(address) }

// String copies text into memory of Go's that C can read as a string, a NUL at its end. A NUL within is an error, because
// C would read the text up to there.
func String(text string) (*byte, error) {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return nil, fmt.Errorf("clib: pass %q to C: byte %d of it is NUL, where C's strings end: %w", text, i, syscall.EINVAL)
	}
	return unsafe.SliceData(append([]byte(text), 0)), nil
}
