//go:build !unix

package ibv

import (
	"math"
	"syscall"

	"github.com/goverbs/goverbs/internal/heappages"
)

// These systems have no errno that C programs would know, and no library to load: devices here are those that package
// ibvtest has in the process.

func errnoName(syscall.Errno) string { return "" }

// mapped is the memory that was given out.
var mapped heappages.Pages

// mapMemory makes pages.
func mapMemory(size int) ([]byte, error) {
	if size > math.MaxInt32 {
		return nil, syscall.ENOMEM // which would be the end of the program
	}
	return mapped.Alloc(size), nil
}

// unmapMemory gives them back.
func unmapMemory(b []byte) error {
	if !mapped.Free(b) {
		return syscall.EINVAL
	}
	return nil
}

func setNonblocking(int32, bool) error { return syscall.ENOSYS }
