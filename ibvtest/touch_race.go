//go:build !freebsd && race

package ibvtest

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// moved is copy, unseen: what the device does is told to the race detector apart from it (see race.go), and the goroutine
// that runs the device is not who does it.
//
//go:norace
func moved(to, from piece) int {
	n := min(len(to), len(from))
	t, f := unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(from))
	i := 0
	// Safe: it is within both, and both machines that have the race detector and all others of them load what is not aligned.
	for ; i+8 <= n; i += 8 {
		*(*uint64)(unsafe.Add(t, i)) = *(*uint64)(unsafe.Add(f, i))
	}
	for ; i < n; i++ {
		*(*byte)(unsafe.Add(t, i)) = *(*byte)(unsafe.Add(f, i))
	}
	return n
}

// storeLast stores a word for whoever looks at it until it changes: with sync/atomic, or else it is a race. Its halves
// are words too.
func storeLast(at unsafe.Pointer, word uint64) {
	runtime.RaceReleaseMerge(unsafe.Add(at, 4))
	atomic.StoreUint64((*uint64)(at), word)
}
