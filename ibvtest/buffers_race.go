//go:build !freebsd && race

package ibvtest

import (
	"runtime"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/heappages"
)

// buffers is memory for devices, of Go's heap, for the race detector sees no other.
var buffers heappages.Pages

// largestBuffer is what the system gives the memory for above: the detector has as much again, and more.
const largestBuffer = 1 << 30

func init() { ccall.Buffers.Alloc, ccall.Buffers.Free = allocBuffer, freeBuffer }

func allocBuffer(size int) []byte {
	if size > largestBuffer {
		return nil
	}
	return buffers.Alloc(size)
}

func freeBuffer(memory []byte) bool {
	if !buffers.Free(memory) {
		return false
	}
	theProgramFreesABuffer(memory)
	return true
}

// theProgramFreesABuffer is a race with whoever still uses it.
//
//go:noinline
func theProgramFreesABuffer(memory []byte) { writes(memory) }

//go:noinline
func writes(p []byte) { runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(p)), len(p)) }
