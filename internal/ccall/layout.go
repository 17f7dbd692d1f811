//go:build linux && (amd64 || arm64 || loong64 || ppc64le || riscv64 || s390x)

package ccall

import (
	"runtime"
	"strings"
)

// Offsets in the runtime's structures. The assembly uses the same constants.
const (
	offStackLo    = 0 // of g
	offStackHi    = 8
	offStackGuard = 16
	offM          = 48
	offSchedSP    = 56
	offSchedPC    = 64
	offSchedG     = 72
	offG0         = 0 // of m
)

// enoughStack is what the thread the check runs on must have left for C. Threads that the C library does not make have
// less than this in all.
const enoughStack = 64 << 10

// mostGuard is how far above the stack's end the guard can be, below which a goroutine gets more stack or gives way. A
// stack that is no larger ends where the guard would be looked for in vain.
const mostGuard = 2 << 10

// layout is where things are in the runtime's structures: a value, so that tests can get it wrong.
type layout struct {
	stackLo, stackHi, stackGuard, m, schedSP, schedPC, schedG, g0 uintptr
}

var assembled = layout{offStackLo, offStackHi, offStackGuard, offM, offSchedSP, offSchedPC, offSchedG, offG0}

// probe returns the current goroutine and the stack pointer.
func probe() (current, sp uintptr)

// holds reports whether the runtime's structures are laid out so. Their layout is the binary's, so one goroutine on one
// thread speaks for all.
//
// It must not fault on a Go that has moved things, so it reads nothing itself: see memory.
func (l layout) holds(mem *memory) bool {
	// A goroutine's stack moves when it grows, which can happen between looking at the stack pointer and reading the
	// bounds. Once grown, it is big enough for the next try.
	for range 3 {
		if l.holdsHere(mem) {
			return true
		}
	}
	return false
}

// holdsHere checks the current goroutine and the thread it runs on.
func (l layout) holdsHere(mem *memory) bool {
	mem.failed = false
	g, sp := probe()
	// The goroutine is known to be g: its bounds must enclose the place where it is.
	if g == 0 || !l.inStack(mem, g, sp) {
		return false
	}
	// The guard is in the stack, near its end; or, for a moment, what asks the goroutine to give way.
	if guard := mem.word(g + l.stackGuard); !l.inStack(mem, g, guard) || guard-mem.word(g+l.stackLo) >= mostGuard {
		return false
	}
	// From g to its m, to m's g0, and back to m. g0 is another goroutine than this one.
	m := mem.word(g + l.m)
	g0 := mem.word(m + l.g0)
	if m == 0 || g0 == 0 || g0 == g || mem.word(g0+l.m) != m {
		return false
	}
	// What g0 saved is itself, a place in the runtime's code, and a place on its stack with room below.
	systemSP := mem.word(g0 + l.schedSP)
	return mem.word(g0+l.schedG) == g0 &&
		inRuntime(mem.word(g0+l.schedPC)) &&
		systemSP%8 == 0 &&
		l.inStack(mem, g0, systemSP) &&
		systemSP-mem.word(g0+l.stackLo) >= enoughStack &&
		!mem.failed
}

func (l layout) inStack(mem *memory, g, sp uintptr) bool {
	lo, hi := mem.word(g+l.stackLo), mem.word(g+l.stackHi)
	return lo != 0 && lo < sp && sp <= hi
}

func inRuntime(pc uintptr) bool {
	f := runtime.FuncForPC(pc)
	return f != nil && strings.HasPrefix(f.Name(), "runtime.")
}
