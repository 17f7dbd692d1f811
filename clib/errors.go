package clib

import (
	"errors"
	"fmt"
	"syscall"
)

// Error is the failure of a C function. It unwraps to the reason, so errors.Is(err, syscall.ENOMEM) works on it.
type Error struct {
	Function string // in C
	Errno    syscall.Errno
}

// Error names the function and the reason.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Function, e.Errno) }

// Unwrap gives the errno.
func (e *Error) Unwrap() error { return e.Errno }

// MissingError says that the loaded library does not have a function. By errors.Is it is [ErrNoFunction] and
// errors.ErrUnsupported.
type MissingError struct {
	Function string // in C
	Library  string // by the name that it was loaded by
	Since    string // the release of rdma-core that brought the function, or ""
}

// Error names the function, the library, and the release that has it.
func (e *MissingError) Error() string {
	text := fmt.Sprintf("no such symbol: %s in %s", e.Function, e.Library)
	if e.Since != "" {
		text += ", which is older than rdma-core " + e.Since
	}
	return text
}

// Is reports whether target is what a missing function is.
func (e *MissingError) Is(target error) bool {
	return target == ErrNoFunction || target == errors.ErrUnsupported
}

// Reason makes an errno of a C function's result that is not 0. Man pages promise a positive errno value; there are
// functions that return its negative, or -1 with the reason in errno.
func Reason(result int64, errno syscall.Errno) syscall.Errno {
	switch {
	case result == -1:
		return known(errno)
	case result < 0:
		return syscall.Errno(-result)
	default:
		return syscall.Errno(result)
	}
}

// known replaces an errno of 0: a call that failed had some reason.
func known(errno syscall.Errno) syscall.Errno {
	if errno == 0 {
		return syscall.EIO
	}
	return errno
}
