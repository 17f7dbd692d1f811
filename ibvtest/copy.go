//go:build !freebsd

package ibvtest

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"github.com/goverbs/goverbs/clib"
)

// copied is how the device's copying from memory to memory ended.
type copied int

const (
	wholly     copied = iota
	fromFaults        // the memory that it reads is not there any more
	toFaults          // that it writes is not, or is read-only
)

// scatter copies from some pieces to others, as far as both reach.
func scatter(to, from []piece) (end copied) {
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if address, faulted := fault(recover()); faulted {
			end = sideOf(address, to)
		}
	}()
	for len(to) > 0 && len(from) > 0 {
		n := moved(to[0], from[0])
		to[0], from[0] = to[0][n:], from[0][n:]
		if len(to[0]) == 0 {
			to = to[1:]
		}
		if len(from) > 0 && len(from[0]) == 0 {
			from = from[1:]
		}
	}
	return wholly
}

// writeInOrder is scatter for what a peer writes without anybody's being told: a program may look at the last word until it
// changes, which all that is before it has to be there for. So it is written last, and at once.
func writeInOrder(to piece, from []piece) (end copied) {
	if !lastAtOnce(to) {
		return scatter([]piece{to}, from)
	}
	var last [atomicLength]byte
	if end = scatter([]piece{to[:len(to)-atomicLength], last[:]}, from); end != wholly {
		return end
	}
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if _, faulted := fault(recover()); faulted {
			end = toFaults
		}
	}()
	// Safe: these are eight bytes of the piece, and so aligned.
	storeLast(unsafe.Pointer(&to[len(to)-atomicLength]), *(*uint64)(unsafe.Pointer(&last)))
	return wholly
}

// lastAtOnce reports whether the last of what a peer writes is a word.
func lastAtOnce(to piece) bool { return len(to) > 0 && len(to)%atomicLength == 0 && aligned(to) }

// aligned reports whether a piece begins where a word can be.
func aligned(p piece) bool { return uintptr(unsafe.Pointer(unsafe.SliceData(p)))%atomicLength == 0 }

// atomically does an atomic operation on eight bytes of a program, whose own operations of sync/atomic it is atomic with.
// They have to be aligned. It is false if the memory is not there any more.
func atomically(on piece, do func(word *uint64) (old uint64)) (old uint64, there bool) {
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if _, faulted := fault(recover()); faulted {
			old, there = 0, false
		}
	}()
	// Safe: they are aligned, as the caller says.
	return do((*uint64)(unsafe.Pointer(unsafe.SliceData(on)))), true
}

// compareAndSwap gives what was there before.
func compareAndSwap(word *uint64, compare, swap uint64) uint64 {
	for {
		old := atomic.LoadUint64(word)
		if old != compare || atomic.CompareAndSwapUint64(word, compare, swap) {
			return old
		}
	}
}

// fetchAndAdd does too.
func fetchAndAdd(word *uint64, add uint64) uint64 { return atomic.AddUint64(word, add) - add }

// isThere reports whether a program could read all of the memory.
func isThere(start, length uintptr) (there bool) {
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if _, faulted := fault(recover()); faulted {
			there = false
		}
	}()
	const smallestPage = 4096
	for at := uintptr(0); at < length; at += smallestPage {
		touch(start + at)
	}
	touch(start + length - 1)
	return true
}

// touch reads a byte that may not be there. No race is meant: the byte is not used.
//
//go:norace
//go:noinline
func touch(address uintptr) byte { return *clib.At[byte](address) }

// fault is where the program's memory was not there, from what recover gave. Another panic goes on.
func fault(panicked any) (address uintptr, faulted bool) {
	if panicked == nil {
		return 0, false
	}
	if e, is := panicked.(runtime.Error); is {
		if at, has := e.(interface{ Addr() uintptr }); has {
			return at.Addr(), true
		}
		if start := e.Error(); start == "runtime error: invalid memory address or nil pointer dereference" {
			return 0, true // below 4096
		}
	}
	panic(panicked)
}

// sideOf tells from a fault's address whose memory is not there.
func sideOf(address uintptr, to []piece) copied {
	for _, p := range to {
		if at := address - uintptr(unsafe.Pointer(unsafe.SliceData(p))); at < uintptr(len(p)) {
			return toFaults
		}
	}
	return fromFaults
}
