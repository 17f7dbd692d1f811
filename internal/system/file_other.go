//go:build unix && !linux

package system

// Nonblocking reports whether reading a file does not wait.
func Nonblocking(fd int) (bool, error) { return pollable(fd) }
