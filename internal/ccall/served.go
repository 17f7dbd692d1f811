package ccall

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/dl"
)

// FirstCode is the lowest address that code can have. What is below lies in the page of the nil pointer, which systems map
// for nobody: whoever jumps there faults at once. The numbers of served functions are there.
const FirstCode = 4096

// Args are the arguments of a call, each a word as in C, and 0 behind the last one.
type Args [15]uintptr

// Served is a function made of Go that stands where a function of C's would: its address is a number below [FirstCode],
// and the calls of this package, but for those of a [Pair], and of clib go to it instead of jumping. A test's provider in
// the process is made of them. The goroutine that calls runs it, as any function of Go's, so it may block.
type Served struct {
	Name string // what C calls it, or would

	// Call has the arguments, and returns C's result as a register and what C would leave in errno, which counts where
	// the result says so. It must not be nil, unless Post or Poll are there, which are its like for calls of their shape.
	Call func(args Args) (result uintptr, errno syscall.Errno)

	// Post is as the package's [Post], without the function.
	Post func(object, list unsafe.Pointer) (result, errno int32, bad uintptr)

	// Poll is the provider operation behind ibv_poll_cq. into may be on the stack of the goroutine, and must not be kept,
	// nor shown to another one.
	Poll func(cq unsafe.Pointer, n int32, into unsafe.Pointer) (result, errno int32)
}

// served is the functions by their numbers. Nothing writes it once the program has started.
var served [FirstCode]*Served

// servedCount is how many there are.
var servedCount uintptr

// Serve gives a function a number. It is for func init and for variables of packages: the calls go another way from the
// first one on, which no call may see half done.
func Serve(s Served) (number uintptr) {
	if servedCount == 0 {
		serveCalls()
	}
	servedCount++
	served[servedCount] = &s // of which there are some hundred
	return servedCount
}

// servedAt is the function with a number, or nil if that is no such number.
func servedAt(fn uintptr) *Served {
	if fn < FirstCode {
		return served[fn]
	}
	return nil
}

// CallServed calls the function with a number. It is false if there is none.
func CallServed(fn uintptr, args ...uintptr) (result uintptr, errno syscall.Errno, is bool) {
	s := servedAt(fn)
	if s == nil {
		return 0, 0, false
	}
	var a Args
	copy(a[:], args)
	result, errno = s.Call(a)
	return result, errno, true
}

// StandIn is asked before a function that a library exports is called, and has the call if mine. It is nil unless a package
// that stands in for the library was imported, which sets it in func init.
var StandIn func(soname, function string, args Args) (result uintptr, errno syscall.Errno, mine bool)

// AskStandIn asks StandIn, which must be there.
func AskStandIn(soname, function string, args ...uintptr) (result uintptr, errno syscall.Errno, mine bool) {
	var a Args
	copy(a[:], args)
	return StandIn(soname, function, a)
}

// Ready is, for a completion channel or a context of a stand-in's, where a token comes when there may be events. It is nil
// for those of others. There is a token whenever there are events that nobody was told of, so whoever takes one gets an
// event, or all of them, and waits for the next token. It is closed when no more events come. Ready is nil as StandIn is.
var Ready func(object unsafe.Pointer) <-chan struct{}

// AskReady asks Ready.
func AskReady(object unsafe.Pointer) <-chan struct{} {
	if Ready == nil {
		return nil
	}
	return Ready(object)
}

// Nonblock says whether getting an event of a completion channel or a context of a stand-in's is to wait for one. It is
// false for those of others. Nonblock is nil as StandIn is.
var Nonblock func(object unsafe.Pointer, nonblocking bool) (mine bool)

// AskNonblock asks Nonblock.
func AskNonblock(object unsafe.Pointer, nonblocking bool) (mine bool) {
	return Nonblock != nil && Nonblock(object, nonblocking)
}

// callInt is dl.CallInt, for served functions too.
//
//go:uintptrescapes
func callInt(fn uintptr, args ...uintptr) (result int32, errno syscall.Errno) {
	if word, errno, is := CallServed(fn, args...); is {
		return int32(word), errno
	}
	return dl.CallInt(fn, args...)
}

// callWord is dl.Call, likewise.
//
//go:uintptrescapes
func callWord(fn uintptr, args ...uintptr) (result uintptr, errno syscall.Errno) {
	if word, errno, is := CallServed(fn, args...); is {
		return word, errno
	}
	return dl.Call(fn, args...)
}

// serveCalls has the calls look whether a function is served.
func serveCalls() {
	realPost, realFrom, realList, realPoll := Post, PostFrom, PostList, Poll
	Post = func(fn uintptr, object, list unsafe.Pointer) (int32, int32, uintptr) {
		if s := servedAt(fn); s != nil {
			return s.Post(object, list)
		}
		return realPost(fn, object, list)
	}
	PostFrom = func(fn uintptr, object, first, unless unsafe.Pointer, refused FromRefused) (unsafe.Pointer, error) {
		if servedAt(fn) != nil {
			return postFromBy(Post, fn, object, first, unless, refused)
		}
		return realFrom(fn, object, first, unless, refused)
	}
	PostList = func(fn uintptr, object unsafe.Pointer, l *List, unless unsafe.Pointer, refused ListRefused) (int, error) {
		if servedAt(fn) != nil {
			return postListBy(Post, fn, object, l, unless, refused)
		}
		return realList(fn, object, l, unless, refused)
	}
	Poll = func(fn uintptr, cq, into unsafe.Pointer, n int, failed PollFailed) (int, error) {
		if s := servedAt(fn); s != nil {
			return s.poll(cq, into, n, failed)
		}
		return realPoll(fn, cq, into, n, failed)
	}
	serveBound()
	servePrograms()
}

func serveBound() {
	realList, realPoll := BindList, BindPoll
	BindList = func(fn uintptr, object unsafe.Pointer, refused ListRefused) BoundList {
		s := servedAt(fn)
		if s == nil {
			return realList(fn, object, refused)
		}
		return func(l *List, _, _ uintptr) (int, error) {
			if l.Len == 0 {
				return 0, nil
			}
			result, errno, bad := s.Post(object, l.First)
			if result == 0 && bad == 0 {
				return l.Len, nil
			}
			return refused(l, result, errno, bad)
		}
	}
	BindPoll = func(fn uintptr, cq unsafe.Pointer, failed PollFailed) BoundPoll {
		s := servedAt(fn)
		if s == nil {
			return realPoll(fn, cq, failed)
		}
		return func(into unsafe.Pointer, n int, _ uintptr) (int, error) { return s.poll(cq, into, n, failed) }
	}
}

func servePrograms() {
	realPlay, realPollEx, realCall := playChosen, pollExChosen, callChosen
	playChosen = func(p *Program, first *Step, n int) (int32, int32) {
		if servedAt(p.Start) != nil {
			return playPortable(p, first, n)
		}
		return realPlay(p, first, n)
	}
	pollExChosen = func(p *ExtendedPoll, into unsafe.Pointer, n int) (int, int32, int32) {
		if servedAt(p.Start) != nil {
			if n == 0 { // which has room for nothing
				return 0, 0, 0
			}
			return pollExPortable(p, into, n)
		}
		return realPollEx(p, into, n)
	}
	callChosen = func(fn, a, b, c, d, e, f uintptr) (uintptr, int32) {
		if word, errno, is := CallServed(fn, a, b, c, d, e, f); is {
			return word, int32(errno)
		}
		return realCall(fn, a, b, c, d, e, f)
	}
}

// poll is the package's [Poll].
func (s *Served) poll(cq, into unsafe.Pointer, n int, failed PollFailed) (int, error) {
	if n == 0 {
		return 0, nil
	}
	asked := clampAsked(n)
	got, errno := s.Poll(cq, asked, into)
	if got < 0 || got > asked {
		return failed(cq, got, errno, asked)
	}
	return int(got), nil
}
