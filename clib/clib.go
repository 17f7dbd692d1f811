// Package clib calls the functions of C libraries without cgo. Generated packages stand on it: the generator knows each
// function's prototype and writes a typed Go function over one of the methods here.
//
// A [Library] is loaded at the first call of one of its functions, and a [Function] is looked up at its first call; later
// calls take no lock. Nothing is loaded by importing a package, so a program runs where the library is missing, and gets
// [ErrNoLibrary] when it calls.
//
// # Conventions
//
// A C function tells in one of several ways that it failed. Each has a method of [Function], and of [Pointer] for the
// functions that objects point to:
//
//	Null     NULL, with the reason in errno
//	Errno    0 for success, otherwise an errno value, its negative, or -1 with the reason in errno
//	Minus    a negative number, with the reason in errno; all others are results
//	Count    a negative errno value, or -1 with the reason in errno; all others are results
//	Value    it cannot fail: every number is a result
//	Text     it cannot fail: a constant string
//	Void     it cannot fail: no result
//
// The error of those that cannot fail says that there is no such library or function. The others' is an [*Error]: where C
// leaves no reason in errno it says that, and where the number itself is the reason, as with getaddrinfo(3), it has it.
//
// # Arguments
//
// Arguments are up to [MostArguments] integers or pointers, each in a word of its own, as C's calling conventions have
// them: signed integers keep their sign, bool is 0 or 1, and unsigned ones of 32 bits are what [Word] makes of them.
// Functions with numbers in floating point, structs by value or a variable number of arguments cannot be called so.
//
// Memory whose pointer is converted to uintptr in the argument list stays alive and in place until the call returns, as
// with the functions of package syscall. C must not keep such a pointer. While C runs, the goroutine is in a system
// call: the collector and other goroutines do not wait for it, and C may block.
//
// # Direct calls
//
// A call costs some hundred nanoseconds, because the goroutine leaves for a system call and comes back. [Function.Direct]
// calls without that, for a fraction, and its [Result] has the conventions for methods. The collector, and soon all other
// goroutines, wait for it: it must be short, must not block, must not call back into Go, and must not return with a lock
// of C's held that another call lets go of. It has at most [MostDirect] arguments. Where there is no direct call, on other
// processors and systems, and with GOVERBS_CCALL=portable in the environment, it is called as the others are.
//
// # Which library
//
// A library is looked for by its soname where the system's dynamic linker looks. GOVERBS_LIBRARIES in the environment
// lists folders, separated as those of PATH are, in which libraries are looked for first; GOVERBS_LIBIBVERBS names the file
// to load as libibverbs.so.1. Neither is followed by a program with rights that whoever started it need not have: one whose
// file is set-user-ID, set-group-ID or has capabilities.
package clib

import (
	"github.com/goverbs/goverbs/internal/dl"
)

// MostArguments is how many arguments a call can have.
const MostArguments = 15

// MostDirect is how many arguments a direct call can have.
const MostDirect = 6

// ErrNoLibrary is what an error is, by errors.Is, when there is no such library that the program could load: the machine
// has none, or the program is built for a system or in a way that cannot load any.
var ErrNoLibrary = dl.ErrNoLibrary

// ErrNoFunction is what an error is, by errors.Is, when the library has no such function, because it is too old. The
// error is a [*MissingError], and errors.ErrUnsupported too.
var ErrNoFunction = dl.ErrNoSymbol

// Library is a C library that is loaded when it is needed, once in the process however many of these name it. It is
// never unloaded. It is ready for use with a soname, and safe for concurrent use.
type Library struct {
	Soname string // such as "libibverbs.so.1": the name that programs linked with it ask the dynamic linker for
}

// Load loads the library, which the first call of a function does too. The error is [ErrNoLibrary], unless the library is
// there and not for this program; it says what to install. After a failure, the next call tries again.
func (l *Library) Load() error {
	_, err := dl.LoadNamed(l.Soname)
	return err
}

// File is the path of the file that the library was loaded from, with all links followed: of libraries that are divided by
// releases, its name often tells the release. A package manager may have replaced the file since. Where the system does
// not tell, it is the name that the library was loaded by. The library is loaded for it: the error is [Library.Load]'s.
func (l *Library) File() (string, error) {
	library, err := dl.LoadNamed(l.Soname)
	if err != nil {
		return "", err
	}
	return library.File(), nil
}
