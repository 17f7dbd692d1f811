//go:build linux && (arm64 || loong64 || ppc64le || riscv64 || s390x)

package ccall

import (
	"encoding/binary"
	"runtime"
)

// On these processors the current goroutine is in a register, which C may use. So the runtime's signal handlers look for
// it in a thread-local variable, and the assembly writes that too. The runtime's function to do so cannot be linked to,
// but the variable is one of the executable's own, whose distance from the thread pointer is the same on all threads.

// threadLocals is the length of what is searched for the variable. The executable of a Go program has few.
const threadLocals = 4096

// firstThreadLocal is where the executable's thread-local variables begin, seen from the thread pointer: at it, or where
// the processor's ELF convention says otherwise.
var firstThreadLocal = map[string]int{"ppc64le": -0x7000, "s390x": -threadLocals}[runtime.GOARCH]

// threadPointer returns the address by which the current thread finds its thread-local variables.
func threadPointer() uintptr

// findCurrent finds the distance from the thread pointer to the variable that holds the current goroutine: the one place
// where this goroutine is on this thread, and another goroutine on another thread.
func findCurrent(mem *memory) (offset uintptr, found bool) {
	// This thread is kept, so that the other goroutine runs on another one.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	offsets := holdingCurrent(mem, nil)
	other := make(chan []uintptr)
	go func() { other <- holdingCurrent(mem, offsets) }()
	offsets = <-other
	if len(offsets) != 1 {
		return 0, false
	}
	return offsets[0], true
}

// holdingCurrent returns which of the offsets, or of all there are if that is nil, hold the current goroutine.
func holdingCurrent(mem *memory, among []uintptr) (offsets []uintptr) {
	runtime.LockOSThread() // between the two, the goroutine could move to another thread
	defer runtime.UnlockOSThread()
	g, _ := probe()
	base := threadPointer()
	if among == nil {
		among = search(mem, base, g)
	}
	// The thread's stack can end where its thread-local variables begin, and the runtime has the goroutine there too.
	g0 := mem.word(mem.word(g+offM) + offG0)
	for _, offset := range among {
		if mem.word(base+offset) == g && !assembled.inStack(mem, g0, base+offset) {
			offsets = append(offsets, offset)
		}
	}
	return offsets
}

// search returns the offsets of what is g among the thread-local variables, and around them.
func search(mem *memory, base, g uintptr) (offsets []uintptr) {
	var block [256]byte // at a multiple of its length, so that it lies in one page
	first := base + uintptr(firstThreadLocal)
	for address := first &^ (uintptr(len(block)) - 1); address < first+threadLocals; address += uintptr(len(block)) {
		if !mem.read(address, block[:]) {
			continue
		}
		for i := 0; i < len(block); i += wordSize {
			if uintptr(binary.NativeEndian.Uint64(block[i:])) == g {
				offsets = append(offsets, address+uintptr(i)-base)
			}
		}
	}
	return offsets
}
