//go:build (linux || freebsd) && !android && !go1.28

package ccall

import "unsafe"

// The compiler passes arguments and results in registers, and to assembly on the stack: six stores and the loads behind
// them, when a post on a real device has only a few nanoseconds to lose. But what is behind a func value is called the
// compiler's way, whatever it is. So this makes func values of assembly that is written for that way.
//
// The way is the compiler's own business. Which registers carry what is checked when the program starts; that assembly may
// use all others cannot be, so this is for the versions of Go in which that is known. Others use post and poll.

type (
	postFunc = func(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad unsafe.Pointer)
	pollFunc = func(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)
	echoFunc = func(a, b, c, d uintptr) (d2, c2, b2, a2 uintptr)
)

// The assembly, and where it begins. It is called by way of the func values only.

//lint:ignore U1000 see above
func postInRegisters()

//lint:ignore U1000 see above
func pollInRegisters()

//lint:ignore U1000 see above
func echoInRegisters()

var postCode, pollCode, echoCode uintptr

// inRegisters reports whether that way is used.
var inRegisters = direct && registersHold()

// callPost and callPoll are what Post and Poll call.
var callPost, callPoll = chooseCalls(inRegisters)

func chooseCalls(inRegisters bool) (postFunc, pollFunc) {
	if !inRegisters {
		return post, poll
	}
	return funcValue[postFunc](&postCode), funcValue[pollFunc](&pollCode)
}

// registersHold reports whether the registers carry what the assembly takes them to.
func registersHold() bool {
	a, b, c, d := funcValue[echoFunc](&echoCode)(1, 2, 3, 4)
	return a == 4 && b == 3 && c == 2 && d == 1
}

// funcValue makes a func value, which is a pointer to where code begins.
func funcValue[F postFunc | pollFunc | echoFunc](code *uintptr) F {
	// Safe: the code has F's arguments and results, and the variable is there for good.
	return *(*F)(unsafe.Pointer(&code))
}
