//go:build !arm

package system

import (
	"syscall"
	"unsafe"
)

const (
	MapHugeShift      = 26 // the place of a huge page's logarithm among the flags of [Map]: mmap(2)
	MadvPopulateWrite = 23 // since Linux 5.14: madvise(2)
	MpolBind          = 2  // memory of these nodes and no others: mbind(2)
)

// Map maps memory that is private to the process, zero, and readable and writable. The flags come on top of those that say
// so. Unlike syscall.Mmap it keeps no account of it, so that parts can be given back: mmap(2).
func Map(length uintptr, flags int) (unsafe.Pointer, error) {
	address, errno := mmap(length, syscall.PROT_READ|syscall.PROT_WRITE, flags|syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS)
	if errno != 0 {
		return nil, errno
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&address)), nil // safe: not memory of Go's
}

// Unmap gives back pages, which nothing may touch afterwards: munmap(2).
func Unmap(start unsafe.Pointer, length uintptr) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_MUNMAP, uintptr(start), length, 0); errno != 0 {
		return errno
	}
	return nil
}

// Mbind has the kernel take pages from NUMA nodes, by a policy. They are a bit each: mbind(2).
func Mbind(start unsafe.Pointer, length uintptr, policy int, nodes []uint64) syscall.Errno {
	// Safe: the kernel reads the nodes during the call, and changes no memory. It takes one off their number.
	_, _, errno := syscall.Syscall6(syscall.SYS_MBIND, uintptr(start), length, uintptr(policy),
		uintptr(unsafe.Pointer(unsafe.SliceData(nodes))), uintptr(len(nodes)*64+1), 0)
	return errno
}
