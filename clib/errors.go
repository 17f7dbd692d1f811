package clib

import (
	"errors"
	"fmt"
	"syscall"
)

// Error is the failure of a C function. It unwraps to the reason, so errors.Is(err, syscall.ENOMEM) works on it.
type Error struct {
	Function string        // in C
	Errno    syscall.Errno // the reason; 0 if C left none in errno
	// Result is what C returned, if that is a number below -1 which is not the reason itself: its meaning is in the
	// function's manual, as that of the numbers of getaddrinfo(3) is. Otherwise it is 0.
	Result int
}

// Error names the function, the result if there is one, and the reason.
func (e *Error) Error() string {
	text := e.Function
	if e.Result != 0 {
		text += fmt.Sprintf(": %d", e.Result)
	}
	if e.Errno == 0 {
		return text + ": it failed and left no reason in errno"
	}
	return fmt.Sprintf("%s: %v", text, e.Errno)
}

// Unwrap gives the errno, and syscall.EIO for a failure without a reason.
func (e *Error) Unwrap() error { return known(e.Errno) }

// MissingError says that the loaded library does not have a function. By errors.Is it is [ErrNoFunction] and
// errors.ErrUnsupported.
type MissingError struct {
	Function string // in C
	Library  string // the file that it was loaded from: see [Library.File]
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
// functions that return its negative, or -1 with the reason in errno. Where that is 0, the reason is syscall.EIO.
func Reason(result int64, errno syscall.Errno) syscall.Errno { return known(reason(result, errno)) }

// reason is Reason, or 0 where there is none.
func reason(result int64, errno syscall.Errno) syscall.Errno {
	switch {
	case result == -1:
		return errno
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
