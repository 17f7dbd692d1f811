//go:build !s390x && !arm

package system

import "syscall"

// mmap maps memory that stands for no file.
func mmap(length uintptr, protection, flags int) (uintptr, syscall.Errno) {
	const noFile = ^uintptr(0)
	address, _, errno := syscall.Syscall6(syscall.SYS_MMAP, 0, length, uintptr(protection), uintptr(flags), noFile, 0)
	return address, errno
}
