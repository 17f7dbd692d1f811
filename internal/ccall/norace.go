//go:build !race

package ccall

import "unsafe"

// RaceDetector reports whether the program is built with the race detector.
const RaceDetector = false

func raceRelease() {}

func raceTaken(unsafe.Pointer, int, uintptr) {}

// RaceRead says that C reads so many bytes. Nobody listens here.
func RaceRead(unsafe.Pointer, uintptr) {}
