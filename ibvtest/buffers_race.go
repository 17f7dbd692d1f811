//go:build !freebsd && race

package ibvtest

import (
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// buffers is memory for devices, of Go's heap, for the race detector sees no other. They are kept until they are freed.
type buffers struct {
	mu    sync.Mutex
	sizes map[*byte]int
}

// largestBuffer is what the system gives the memory for above: the detector has as much again, and more.
const largestBuffer = 1 << 30

func init() {
	b := &buffers{sizes: map[*byte]int{}}
	ccall.Buffers.Alloc, ccall.Buffers.Free = b.alloc, b.free
}

func (b *buffers) alloc(size int) []byte {
	if size > largestBuffer {
		return nil
	}
	page := os.Getpagesize()
	whole := make([]byte, size+page)
	// Safe: the address is only looked at.
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(whole))) % uintptr(page)
	memory := whole[skip:][:size:size]
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sizes[unsafe.SliceData(memory)] = size
	return memory
}

func (b *buffers) free(memory []byte) bool {
	if len(memory) == 0 || len(memory) != cap(memory) || !b.forget(memory) {
		return false
	}
	theProgramFreesABuffer(memory)
	return true
}

func (b *buffers) forget(memory []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := unsafe.SliceData(memory)
	if b.sizes[first] != len(memory) {
		return false
	}
	delete(b.sizes, first)
	return true
}

// theProgramFreesABuffer is a race with whoever still uses it.
//
//go:noinline
func theProgramFreesABuffer(memory []byte) { writes(memory) }

//go:noinline
func writes(p []byte) { runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(p)), len(p)) }
