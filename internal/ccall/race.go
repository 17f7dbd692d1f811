//go:build race

package ccall

import (
	"runtime"
	"unsafe"
)

// RaceDetector reports whether the program is built with the race detector. The calls are made step by step then, in Go
// functions that it sees.
const RaceDetector = true

// device stands for all devices. What happened before a post has happened when a completion is found: the device saw the
// one before it wrote the other. A post waits for nobody, so two goroutines that post one list are still told apart.
var device byte

func raceRelease() { runtime.RaceReleaseMerge(unsafe.Pointer(&device)) }

// raceTaken says that C has written n completions of so many bytes, and that they tell of what was posted before.
func raceTaken(into unsafe.Pointer, n int, size uintptr) {
	if n > 0 {
		runtime.RaceWriteRange(into, n*int(size))
		runtime.RaceAcquire(unsafe.Pointer(&device))
	}
}

// RaceRead says that C reads so many bytes.
func RaceRead(p unsafe.Pointer, bytes uintptr) {
	if bytes > 0 {
		runtime.RaceReadRange(p, int(bytes))
	}
}
