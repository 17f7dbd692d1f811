//go:build unix

package ibv

import (
	"syscall"

	"github.com/goverbs/goverbs/internal/system"
)

// errnoName is what C programs call an errno, or "".
func errnoName(errno syscall.Errno) string { return system.ErrnoName(errno) }

// mapMemory gets pages from the system.
func mapMemory(size int) ([]byte, error) {
	return syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
}

// unmapMemory gives them back.
func unmapMemory(b []byte) error { return syscall.Munmap(b) }

// setNonblocking says whether reads of a file wait.
func setNonblocking(file int32, nonblocking bool) error {
	return syscall.SetNonblock(int(file), nonblocking)
}
