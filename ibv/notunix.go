//go:build !unix

package ibv

import (
	"math"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// These systems have no errno that C programs would know, and no library to load: devices here are those that package
// ibvtest has in the process.

func errnoName(syscall.Errno) string { return "" }

// mapped is the memory that was given out, of Go's heap: it stays where it is, and is kept here until it is given back.
var mapped = struct {
	sync.Mutex
	sizes map[*byte]int
}{sizes: map[*byte]int{}}

// mapMemory makes pages.
func mapMemory(size int) ([]byte, error) {
	if size > math.MaxInt32 {
		return nil, syscall.ENOMEM // which would be the end of the program
	}
	page := os.Getpagesize()
	all := make([]byte, size+page-1)
	// Safe: the address is only looked at.
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(all))) % uintptr(page)
	b := all[skip:][:size:size]
	mapped.Lock()
	defer mapped.Unlock()
	mapped.sizes[unsafe.SliceData(b)] = size
	return b, nil
}

// unmapMemory gives them back.
func unmapMemory(b []byte) error {
	first := unsafe.SliceData(b)
	mapped.Lock()
	defer mapped.Unlock()
	if len(b) == 0 || len(b) != cap(b) || mapped.sizes[first] != len(b) {
		return syscall.EINVAL
	}
	delete(mapped.sizes, first)
	return nil
}

func setNonblocking(int32, bool) error { return syscall.ENOSYS }
