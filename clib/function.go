package clib

import (
	"sync/atomic"

	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/dl"
)

// Function is a function that a library exports. It is ready for use with a library and a name, and safe for concurrent
// use. It must not be copied after its first call.
type Function struct {
	Library *Library
	Name    string // in C
	Since   string // the release of rdma-core that it came with, such as "59.0", or "" if that is not known

	address atomic.Uintptr // 0 before it was looked up
}

// absent is the address of a function that the library does not have. Libraries are not unloaded, so it never will.
const absent = ^uintptr(0)

// Address is where the function is, which is looked up at the first call. Where a library has several versions of it, it is
// the one that the linker gives to programs today. The error is [ErrNoLibrary] or [ErrNoFunction].
func (f *Function) Address() (uintptr, error) {
	if address := f.address.Load(); address != 0 && address != absent {
		return address, nil
	}
	return f.find()
}

// find looks the function up. Two goroutines may do so at once, and find the same.
func (f *Function) find() (uintptr, error) {
	library, err := dl.LoadNamed(f.Library.Soname)
	if err != nil {
		return 0, err
	}
	missing := &MissingError{Function: f.Name, Library: library.File(), Since: f.Since}
	if f.address.Load() == absent {
		return 0, missing
	}
	address, err := library.Symbol(f.Name)
	if err != nil {
		f.address.Store(absent)
		return 0, missing
	}
	f.address.Store(address)
	return address, nil
}

// call calls the function.
//
//go:uintptrescapes
func (f *Function) call(args ...uintptr) Result {
	if ccall.StandIn != nil {
		if word, errno, mine := ccall.AskStandIn(f.Library.Soname, f.Name, args...); mine {
			return Result{function: f.Name, word: word, errno: errno}
		}
	}
	address, err := f.Address()
	if err != nil {
		return Result{function: f.Name, err: err}
	}
	return Pointer{Name: f.Name, Address: address}.call(args...)
}

// Direct calls the function directly: see the package, which says what functions may be called so. One that takes fewer
// than six arguments does not mind the rest. Of the conventions that the result has, Null does not see errno, and Minus
// sees only that of -1.
//
//go:uintptrescapes
func (f *Function) Direct(a, b, c, d, e, g uintptr) Result {
	if ccall.StandIn != nil {
		if word, errno, mine := ccall.AskStandIn(f.Library.Soname, f.Name, a, b, c, d, e, g); mine {
			return Result{function: f.Name, word: word, errno: errno}
		}
	}
	address, err := f.Address()
	if err != nil {
		return Result{function: f.Name, err: err}
	}
	return Pointer{Name: f.Name, Address: address}.Direct(a, b, c, d, e, g)
}

// Null calls a function that returns a pointer, or NULL with the reason in errno. The error is an [*Error] then.
//
//go:uintptrescapes
func (f *Function) Null(args ...uintptr) (uintptr, error) {
	return f.call(args...).Null()
}

// Errno calls a function that returns 0, or tells in one of C's ways why it failed: see [Reason]. The error is an
// [*Error] then.
//
//go:uintptrescapes
func (f *Function) Errno(args ...uintptr) error {
	return f.call(args...).Errno()
}

// Minus calls a function that returns a negative number when it fails, with the reason in errno. The number is returned
// with the error, which is an [*Error] and has the number, too, if it is below -1. size is the size of the result in
// bytes: 4 for int, 8 for ssize_t.
//
//go:uintptrescapes
func (f *Function) Minus(size int, args ...uintptr) (int, error) {
	return f.call(args...).Minus(size)
}

// Count calls a function that returns how many there are, or tells why it failed by a negative number: see [Reason]. The
// error is an [*Error] then, and the number 0. size is the size of the result in bytes: 4 for int, 8 for ssize_t.
//
//go:uintptrescapes
func (f *Function) Count(size int, args ...uintptr) (int, error) {
	return f.call(args...).Count(size)
}

// Value calls a function that cannot fail, and returns the whole word in which its result is: the caller cuts it to the
// result's width. The error says that there is no such function.
//
//go:uintptrescapes
func (f *Function) Value(args ...uintptr) (uintptr, error) {
	return f.call(args...).Value()
}

// Text calls a function that returns a string, which is copied; NULL is "". The error says that there is no such function.
//
//go:uintptrescapes
func (f *Function) Text(args ...uintptr) (string, error) {
	return f.call(args...).Text()
}

// Void calls a function that returns nothing. The error says that there is no such function.
//
//go:uintptrescapes
func (f *Function) Void(args ...uintptr) error {
	return f.call(args...).Void()
}
