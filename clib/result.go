package clib

import "syscall"

// Result is what became of a direct call. Its methods are the conventions, as those of [Function] are.
type Result struct {
	function string // in C
	word     uintptr
	errno    syscall.Errno
	err      error // where there was no call
}

func (r Result) failed(errno syscall.Errno) error { return &Error{Function: r.function, Errno: errno} }

// Null is the result of a function that returns NULL, with the reason in errno, when it fails.
func (r Result) Null() (uintptr, error) {
	switch {
	case r.err != nil:
		return 0, r.err
	case r.word == 0:
		return 0, r.failed(r.errno)
	}
	return r.word, nil
}

// Errno is the result of a function that returns 0, or tells why it failed: see [Reason].
func (r Result) Errno() error {
	if r.err != nil {
		return r.err
	}
	if code := int32(r.word); code != 0 {
		return r.failed(reason(int64(code), r.errno))
	}
	return nil
}

// Minus is the result of a function that returns a negative number, with the reason in errno, when it fails. It has size
// bytes. The error has a number below -1 too.
func (r Result) Minus(size int) (int, error) {
	if r.err != nil {
		return -1, r.err
	}
	n := signed(r.word, size)
	if n < 0 {
		failure := &Error{Function: r.function, Errno: r.errno}
		if n < -1 {
			failure.Result = n
		}
		return n, failure
	}
	return n, nil
}

// Count is the result of a function that returns how many there are, or tells why it failed by a negative number. It has
// size bytes.
func (r Result) Count(size int) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n := signed(r.word, size)
	if n < 0 {
		return 0, r.failed(reason(int64(n), r.errno))
	}
	return n, nil
}

// Value is the result of a function that cannot fail: the whole word in which it is.
func (r Result) Value() (uintptr, error) { return r.word, r.err }

// Text is the string that a function returns which cannot fail.
func (r Result) Text() (string, error) { return Text(r.word), r.err }

// Void is the error of a function that returns nothing.
func (r Result) Void() error { return r.err }

// signed is a number of so many bytes. C leaves the rest of the word as it is.
func signed(word uintptr, size int) int {
	if size == 4 {
		return int(int32(word))
	}
	return int(word)
}
