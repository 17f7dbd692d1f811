package system

import (
	"syscall"
	"unsafe"
)

// mmap maps memory that stands for no file. On this processor the kernel wants all it is told in memory.
func mmap(length uintptr, protection, flags int) (uintptr, syscall.Errno) {
	const noFile = ^uintptr(0)
	told := [6]uintptr{0, length, uintptr(protection), uintptr(flags), noFile, 0}
	// Safe: the kernel reads it during the call.
	address, _, errno := syscall.Syscall(syscall.SYS_MMAP, uintptr(unsafe.Pointer(&told)), 0, 0)
	return address, errno
}
