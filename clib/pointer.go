package clib

import (
	"syscall"

	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/dl"
)

// Pointer is a C function whose address is at hand, such as one that an object of a library points to. Its methods are
// those of [Function]; with an address of 0, their error is an [*Error] of syscall.EOPNOTSUPP, and nothing is called.
type Pointer struct {
	Name    string // what errors call it, such as "verbs_context.alloc_td"
	Address uintptr
}

// low is the result of calling what is below all code: a served function, or none.
//
//go:uintptrescapes
func (p Pointer) low(args ...uintptr) Result {
	if word, errno, is := ccall.CallServed(p.Address, args...); is {
		return Result{function: p.Name, word: word, errno: errno}
	}
	return Result{function: p.Name, err: &Error{Function: p.Name, Errno: syscall.EOPNOTSUPP}}
}

// call calls the function.
//
//go:uintptrescapes
func (p Pointer) call(args ...uintptr) Result {
	if p.Address < ccall.FirstCode {
		return p.low(args...)
	}
	word, errno := dl.Call(p.Address, args...)
	return Result{function: p.Name, word: word, errno: errno}
}

// Direct is [Function.Direct].
//
//go:uintptrescapes
func (p Pointer) Direct(a, b, c, d, e, f uintptr) Result {
	if p.Address < ccall.FirstCode {
		return p.low(a, b, c, d, e, f)
	}
	word, reason := ccall.Call(p.Address, a, b, c, d, e, f)
	return Result{function: p.Name, word: word, errno: syscall.Errno(uint32(reason))}
}

// Null is [Function.Null].
//
//go:uintptrescapes
func (p Pointer) Null(args ...uintptr) (uintptr, error) { return p.call(args...).Null() }

// Errno is [Function.Errno].
//
//go:uintptrescapes
func (p Pointer) Errno(args ...uintptr) error { return p.call(args...).Errno() }

// Minus is [Function.Minus].
//
//go:uintptrescapes
func (p Pointer) Minus(size int, args ...uintptr) (int, error) { return p.call(args...).Minus(size) }

// Count is [Function.Count].
//
//go:uintptrescapes
func (p Pointer) Count(size int, args ...uintptr) (int, error) { return p.call(args...).Count(size) }

// Value is [Function.Value].
//
//go:uintptrescapes
func (p Pointer) Value(args ...uintptr) (uintptr, error) { return p.call(args...).Value() }

// Text is [Function.Text].
//
//go:uintptrescapes
func (p Pointer) Text(args ...uintptr) (string, error) { return p.call(args...).Text() }

// Void is [Function.Void].
//
//go:uintptrescapes
func (p Pointer) Void(args ...uintptr) error { return p.call(args...).Void() }
