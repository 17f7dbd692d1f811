//go:build !unix

package ibv

import "syscall"

// These systems have no errno that C programs would know, nor memory for devices:
// the package compiles there, and has no library to load.

func errnoName(syscall.Errno) string { return "" }

func mapMemory(int) ([]byte, error) { return nil, syscall.ENOSYS }

func unmapMemory([]byte) error { return syscall.ENOSYS }

func setNonblocking(int32, bool) error { return syscall.ENOSYS }
