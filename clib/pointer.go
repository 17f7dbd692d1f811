package clib

import (
	"syscall"

	"github.com/goverbs/goverbs/internal/dl"
)

// Pointer is a C function whose address is at hand, such as one that an object of a library points to. Its methods are
// those of [Function]; with an address of 0, their error is an [*Error] of syscall.EOPNOTSUPP, and nothing is called.
type Pointer struct {
	Name    string // what errors call it, such as "verbs_context.alloc_td"
	Address uintptr
}

// unsupported is the error of a pointer that points to no function.
func (p Pointer) unsupported() error { return p.failed(syscall.EOPNOTSUPP) }

func (p Pointer) failed(errno syscall.Errno) error { return &Error{Function: p.Name, Errno: errno} }

// Null is [Function.Null].
//
//go:uintptrescapes
func (p Pointer) Null(args ...uintptr) (uintptr, error) {
	if p.Address == 0 {
		return 0, p.unsupported()
	}
	result, errno := dl.Call(p.Address, args...)
	if result == 0 {
		return 0, p.failed(known(errno))
	}
	return result, nil
}

// Errno is [Function.Errno].
//
//go:uintptrescapes
func (p Pointer) Errno(args ...uintptr) error {
	if p.Address == 0 {
		return p.unsupported()
	}
	result, errno := dl.Call(p.Address, args...)
	if code := int32(result); code != 0 {
		return p.failed(Reason(int64(code), errno))
	}
	return nil
}

// Minus is [Function.Minus].
//
//go:uintptrescapes
func (p Pointer) Minus(size int, args ...uintptr) (int, error) {
	if p.Address == 0 {
		return -1, p.unsupported()
	}
	result, errno := dl.Call(p.Address, args...)
	n := signed(result, size)
	if n < 0 {
		return n, p.failed(known(errno))
	}
	return n, nil
}

// Count is [Function.Count].
//
//go:uintptrescapes
func (p Pointer) Count(size int, args ...uintptr) (int, error) {
	if p.Address == 0 {
		return 0, p.unsupported()
	}
	result, errno := dl.Call(p.Address, args...)
	n := signed(result, size)
	if n < 0 {
		return 0, p.failed(Reason(int64(n), errno))
	}
	return n, nil
}

// signed is a number of so many bytes. C leaves the rest of the word as it is.
func signed(word uintptr, size int) int {
	if size == 4 {
		return int(int32(word))
	}
	return int(word)
}

// Value is [Function.Value].
//
//go:uintptrescapes
func (p Pointer) Value(args ...uintptr) (uintptr, error) {
	if p.Address == 0 {
		return 0, p.unsupported()
	}
	result, _ := dl.Call(p.Address, args...)
	return result, nil
}

// Text is [Function.Text].
//
//go:uintptrescapes
func (p Pointer) Text(args ...uintptr) (string, error) {
	if p.Address == 0 {
		return "", p.unsupported()
	}
	result, _ := dl.Call(p.Address, args...)
	return Text(result), nil
}

// Void is [Function.Void].
//
//go:uintptrescapes
func (p Pointer) Void(args ...uintptr) error {
	if p.Address == 0 {
		return p.unsupported()
	}
	// The function returns nothing, so whatever it seems to return is nothing.
	dl.Call(p.Address, args...)
	return nil
}
