package dl

import (
	"runtime"
	"syscall"
)

// Call calls the C function at fn, which must not be zero, with up to 15 integers or pointers.
//
// It may block: the goroutine is in a system call meanwhile, so neither the garbage collector nor other goroutines wait.
// errno is what the function left in its thread's errno, 0 when it did not touch it; only the caller knows whether the
// result makes it mean anything. Memory whose pointer is converted to uintptr in the argument list stays alive and in
// place until Call returns. Where nothing can be loaded there is nothing to call: it returns -1 and ENOSYS.
//
//go:uintptrescapes
func Call(fn uintptr, args ...uintptr) (result uintptr, errno syscall.Errno) {
	if !loads {
		return ^uintptr(0), syscall.ENOSYS
	}
	// Locked, so that errno is cleared, set and read on one thread. The runtime starts no threads from a locked thread and
	// makes its own system calls without the C library, so nothing else writes errno between the call and the read.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	location := threadErrno()
	if location != nil {
		*location = 0
	}
	result = call(fn, args...)
	if location != nil {
		errno = syscall.Errno(uint32(*location)) // a nonsensical one must not become enormous
	}
	return result, errno
}

// CallInt is [Call] for the functions that return an int and have a reason in errno only when that is -1. It looks
// at errno only then, and does not clear it before, which makes success twice as fast.
//
//go:uintptrescapes
func CallInt(fn uintptr, args ...uintptr) (result int32, errno syscall.Errno) {
	if !loads {
		return -1, syscall.ENOSYS
	}
	runtime.LockOSThread() // as in Call
	defer runtime.UnlockOSThread()
	result = int32(call(fn, args...))
	if result == -1 {
		if location := threadErrno(); location != nil {
			errno = syscall.Errno(uint32(*location)) // a nonsensical one must not become enormous
		}
	}
	return result, errno
}
