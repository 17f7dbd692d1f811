// Package heappages has memory for devices in the process that is of Go's heap: where the system has none for devices, and
// for the race detector, which sees no other.
package heappages

import (
	"os"
	"sync"
	"unsafe"
)

// Pages is memory that was given out. It stays where it is, and is kept here until it is taken back. It is ready for use,
// by any goroutine.
type Pages struct {
	mu    sync.Mutex
	sizes map[*byte]int
}

// Alloc gives size bytes that begin a page and are zero.
func (p *Pages) Alloc(size int) []byte {
	page := os.Getpagesize()
	whole := make([]byte, size+page-1)
	// Safe: the address is only looked at.
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(whole))) % uintptr(page)
	memory := whole[skip:][:size:size]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sizes == nil {
		p.sizes = map[*byte]int{}
	}
	p.sizes[unsafe.SliceData(memory)] = size
	return memory
}

// Free takes back what Alloc gave, as it was given, and reports whether it was.
func (p *Pages) Free(memory []byte) bool {
	first := unsafe.SliceData(memory)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(memory) == 0 || len(memory) != cap(memory) || p.sizes[first] != len(memory) {
		return false
	}
	delete(p.sizes, first)
	return true
}
