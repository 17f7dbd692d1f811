//go:build (linux && !android && (amd64 || arm64 || loong64 || ppc64le || riscv64 || (s390x && (cgo || go1.27)))) || (freebsd && (amd64 || arm64) && (cgo || goverbs_fakecgo))

package dl

import (
	"runtime"
	"syscall"

	"github.com/ebitengine/purego"
)

// Call calls the C function at fn, which must not be zero, with up to 15 integers or pointers.
//
// It may block: the goroutine is in a system call meanwhile, so neither the garbage collector nor other goroutines wait.
// errno is what the function left in its thread's errno, 0 when it did not touch it; only the caller knows whether the
// result makes it mean anything. Memory whose pointer is converted to uintptr in the argument list stays alive and in
// place until Call returns.
//
//go:uintptrescapes
func Call(fn uintptr, args ...uintptr) (result uintptr, errno syscall.Errno) {
	// Locked, so that errno is cleared, set and read on one thread. The runtime starts no threads from a locked thread and
	// makes its own system calls without the C library, so nothing else writes errno between the call and the read.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	location := threadErrno()
	if location != nil {
		*location = 0
	}
	result, _, _ = purego.SyscallN(fn, args...)
	if location != nil {
		errno = syscall.Errno(*location)
	}
	return result, errno
}

// CallInt is [Call] for the functions that return an int and have a reason in errno only when that is -1. It looks
// at errno only then, and does not clear it before, which makes success twice as fast.
//
//go:uintptrescapes
func CallInt(fn uintptr, args ...uintptr) (result int32, errno syscall.Errno) {
	runtime.LockOSThread() // as in Call
	defer runtime.UnlockOSThread()
	word, _, _ := purego.SyscallN(fn, args...)
	result = int32(word)
	if result == -1 {
		if location := threadErrno(); location != nil {
			errno = syscall.Errno(*location)
		}
	}
	return result, errno
}
