//go:build unix

package ibv

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// errnoName is what C programs call an errno, or "". Where one has two names, it is
// the one that this package's documentation uses.
func errnoName(errno syscall.Errno) string {
	if errno == syscall.EOPNOTSUPP {
		return "EOPNOTSUPP"
	}
	return unix.ErrnoName(errno)
}

// mapMemory gets pages from the system.
func mapMemory(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// unmapMemory gives them back.
func unmapMemory(b []byte) error { return unix.Munmap(b) }

// setNonblocking says whether reads of a file wait.
func setNonblocking(file int32, nonblocking bool) error {
	return unix.SetNonblock(int(file), nonblocking)
}
