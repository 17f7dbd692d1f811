package dl

import (
	"unsafe"
)

// errnoFunction is the C function that returns where the calling thread's errno is, 0 if there is none.
var errnoFunction = findErrnoFunction()

// findErrnoFunction looks in the C library that is loaded already: the errno macro hides a function there, and
// its name depends on the library.
func findErrnoFunction() uintptr {
	for _, name := range []string{"__errno_location", "__error"} { // glibc and musl; FreeBSD
		if address, err := findSymbol(everywhere, name); err == nil {
			return address
		}
	}
	return 0
}

// ErrnoFunction returns the address of the C function that returns where the calling thread's errno is: int *f(void).
// It is 0 when the C library has none that is known.
func ErrnoFunction() uintptr { return errnoFunction }

// threadErrno returns the calling thread's errno, or nil. The goroutine must be locked to its thread.
func threadErrno() *int32 {
	if errnoFunction == 0 {
		return nil
	}
	address := call(errnoFunction)
	// Safe: C's thread-local storage is not the Go heap's, so the collector does not care, and it lives as long as the
	// thread, to which the caller is locked. The detour over a pointer to the address says that it is no arithmetic.
	return *(**int32)(unsafe.Pointer(&address))
}
