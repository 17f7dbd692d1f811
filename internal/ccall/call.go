package ccall

import "runtime"

// Call calls the C function at fn, which must not be zero, with six integers or pointers. One that takes fewer does
// not mind the rest. result is the register that C returned it in, of which an int has the lower half. errno is as with
// [Post], for an int. The rules for C functions that are called directly hold: see the package's.
//
// Memory whose pointer is converted to uintptr in the argument list stays alive and in place until Call returns.
//
//go:uintptrescapes
func Call(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32) {
	return callChosen(fn, a, b, c, d, e, f)
}

func callAny(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32) {
	raceRelease()
	return call(fn, a, b, c, d, e, f)
}

// Unsigned is the register that C passes a 32-bit unsigned number in: some conventions have it as wide as the register by
// its sign bit, as if it were an int.
func Unsigned(number uint32) uintptr {
	if runtime.GOARCH == "riscv64" || runtime.GOARCH == "loong64" {
		return uintptr(int(int32(number)))
	}
	return uintptr(number)
}
