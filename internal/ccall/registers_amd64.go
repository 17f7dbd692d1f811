//go:build linux && !go1.28

package ccall

import "unsafe"

// The compiler passes arguments and results in registers, and to assembly on the stack: six stores and the loads behind
// them, when a post on a real device has only a few nanoseconds to lose. But what is behind a func value is called the
// compiler's way, whatever it is. So this makes func values of assembly that is written for that way.
//
// The way is the compiler's own business. Which registers carry what is checked when the program starts; that assembly may
// use all others cannot be, so this is for the versions of Go in which that is known. Others make the calls step by step.
//
// A refusal is not sorted out here: the assembly jumps to the Go function that does so, which takes its arguments from
// registers too and returns to the caller. It spills them where the caller made room for more arguments of the assembly.
// When the goroutine is to give way to others, a call that went well goes on at a Go function too.

// What a call goes on at when the goroutine is to give way: what it is to return, in the registers that results have, is
// what these are given. The compiler has each of them give way before it does anything.
var (
	//lint:ignore U1000 the assembly goes on at it
	postRested = func(result, errno int32, bad uintptr) (int32, int32, uintptr) { rest(); return result, errno, bad }
	//lint:ignore U1000 the assembly goes on at it
	postFromRested = func(bad unsafe.Pointer, err error) (unsafe.Pointer, error) { rest(); return bad, err }
	//lint:ignore U1000 the assembly goes on at it
	countRested = func(n int, err error) (int, error) { rest(); return n, err }
)

// And what else there is to do, with the same arguments.
var (
	//lint:ignore U1000 the assembly goes on at it
	playRested = func(result, errno int32) (int32, int32) { rest(); return result, errno }
	//lint:ignore U1000 the assembly goes on at it
	pollExRested = func(got int, result, errno int32) (int, int32, int32) { rest(); return got, result, errno }
	//lint:ignore U1000 the assembly goes on at it
	callRested = func(result uintptr, errno int32) (uintptr, int32) { rest(); return result, errno }
	//lint:ignore U1000 the assembly goes on at it
	playOther = playProgram
	//lint:ignore U1000 the assembly goes on at it
	pollExOther = pollProgram
)

type echoFunc = func(a, b, c, d, e uintptr) (e2, d2, c2, b2, a2 uintptr)

// The assembly, and where it begins. It is called by way of the func values only.

//lint:ignore U1000 see above
func postInRegisters()

//lint:ignore U1000 see above
func postFromInRegisters()

//lint:ignore U1000 see above
func postListInRegisters()

//lint:ignore U1000 see above
func pollInRegisters()

//lint:ignore U1000 see above
func playInRegisters()

//lint:ignore U1000 see above
func pollExInRegisters()

//lint:ignore U1000 see above
func callInRegisters()

//lint:ignore U1000 see above
func echoInRegisters()

var postCode, postFromCode, postListCode, pollCode, playCode, pollExCode, callCode, echoCode uintptr

// inRegisters reports whether that way is used.
var inRegisters = direct && registersHold()

func choose() (postFunc, fromFunc, listFunc, pollFunc) {
	if !inRegisters || RaceDetector {
		return postAny, postFrom, postList, pollInto
	}
	return funcValue[postFunc](&postCode), funcValue[fromFunc](&postFromCode), funcValue[listFunc](&postListCode), funcValue[pollFunc](&pollCode)
}

func choosePrograms() (playFunc, pollExFunc, callFunc) {
	if !inRegisters || RaceDetector {
		return playProgram, pollProgram, callAny
	}
	return funcValue[playFunc](&playCode), funcValue[pollExFunc](&pollExCode), funcValue[callFunc](&callCode)
}

func chooseBound() (listBinder, pollBinder) {
	if !inRegisters || RaceDetector {
		return bindList, bindPoll
	}
	return bindListInRegisters, bindPollInRegisters
}

// registersHold reports whether the registers carry what the assembly takes them to.
func registersHold() bool {
	a, b, c, d, e := funcValue[echoFunc](&echoCode)(1, 2, 3, 4, 5)
	return a == 5 && b == 4 && c == 3 && d == 2 && e == 1
}

// funcValue makes a func value, which is a pointer to where code begins.
func funcValue[F postFunc | fromFunc | listFunc | pollFunc | playFunc | pollExFunc | callFunc | echoFunc](code *uintptr) F {
	// Safe: the code has F's arguments and results, and the variable is there for good.
	return *(*F)(unsafe.Pointer(&code))
}
