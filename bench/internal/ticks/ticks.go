//go:build amd64 || arm64

// Package ticks reads the processor's own counter, which costs a few
// nanoseconds where a clock may be a system call (User Mode Linux). C reads the
// same one in package native.
package ticks

// Now is a time to take differences of. What the program does before is done
// before, and what it does afterwards starts after.
func Now() int64
