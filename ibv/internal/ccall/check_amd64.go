//go:build (linux || freebsd) && !android

package ccall

import (
	"encoding/binary"
	"runtime"
	"strings"
	"syscall"
)

// The runtime's structures as the assembly takes them to be.
const (
	offStackLo = 0
	offStackHi = 8
	offM       = 48 // of g
	offSchedSP = 56
	offSchedPC = 64
	offSchedG  = 72
	offG0      = 0 // of m

	// enoughStack is what the thread the check runs on must have left. Threads that C's library does not make have less
	// than this in all.
	enoughStack = 64 << 10
)

// probe returns the current goroutine and the stack pointer.
func probe() (current, sp uintptr)

// layoutHolds reports whether the runtime's structures are what the assembly takes them to be. Their layout is the
// binary's, so one goroutine on one thread speaks for all.
//
// It must not fault on a Go that has moved things, so it reads nothing itself: see words.
func layoutHolds() bool {
	w, err := newWords()
	if err != nil {
		return false
	}
	defer w.close()
	// A goroutine's stack moves when it grows, which can happen between looking at the stack pointer and reading the
	// bounds. Once grown, it is big enough for the next try.
	for range 3 {
		if threadHolds(w) {
			return true
		}
	}
	return false
}

// threadHolds checks the goroutine and the thread it runs on.
func threadHolds(w *words) bool {
	g, sp := probe()
	// The goroutine's bounds enclose where it is: g is the goroutine, and the bounds are where they should be.
	if g == 0 || !inStack(w, g, sp) {
		return false
	}
	m := w.at(g + offM)
	g0 := w.at(m + offG0)
	// g -> m -> g0 -> m, and g0 is another goroutine than this one.
	if m == 0 || g0 == 0 || g0 == g || w.at(g0+offM) != m {
		return false
	}
	// What g0 saved is its own: the goroutine, a place in the runtime's code, and a place on its stack with room below.
	systemSP := w.at(g0 + offSchedSP)
	return w.at(g0+offSchedG) == g0 &&
		inRuntime(w.at(g0+offSchedPC)) &&
		systemSP%8 == 0 &&
		inStack(w, g0, systemSP) &&
		systemSP-w.at(g0+offStackLo) >= enoughStack &&
		!w.failed
}

func inStack(w *words, g, sp uintptr) bool {
	lo, hi := w.at(g+offStackLo), w.at(g+offStackHi)
	return lo != 0 && lo < sp && sp <= hi
}

func inRuntime(pc uintptr) bool {
	f := runtime.FuncForPC(pc)
	return f != nil && strings.HasPrefix(f.Name(), "runtime.")
}

// words reads memory that may not be there. The kernel copies it into a pipe and back, and refuses an address
// that is not mapped instead of raising a fault.
type words struct {
	pipe   [2]int
	failed bool
}

func newWords() (*words, error) {
	w := &words{}
	if err := syscall.Pipe2(w.pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return nil, err
	}
	return w, nil
}

// at returns the word at an address, or 0, and remembers that it failed.
func (w *words) at(address uintptr) uintptr {
	const size = 8
	var word [size]byte
	n, _, _ := syscall.Syscall(syscall.SYS_WRITE, uintptr(w.pipe[1]), address, size)
	if n != size {
		w.failed = true
		return 0
	}
	if n, err := syscall.Read(w.pipe[0], word[:]); n != size || err != nil {
		w.failed = true
		return 0
	}
	return uintptr(binary.NativeEndian.Uint64(word[:]))
}

func (w *words) close() {
	_ = syscall.Close(w.pipe[0])
	_ = syscall.Close(w.pipe[1])
}
