package ibv

import (
	"fmt"
	"syscall"

	"github.com/goverbs/goverbs/internal/ccall"
)

// Buffer is memory for a device to read and write: page-aligned, zeroed, and
// outside the Go heap, so that nothing moves or frees it while a device uses
// it. It is used as the slice that it is, and nothing keeps account of it: a Region
// of package rdma owns such memory. On systems without devices, for those of package
// ibvtest, it is of the Go heap, and stays all the same until it is freed.
type Buffer []byte

// AllocBuffer makes a buffer of size bytes. The caller frees it, after the
// memory regions on it are closed. It may be called from any goroutine.
func AllocBuffer(size int) (Buffer, error) {
	act := action{op: fmt.Sprintf("allocate a buffer of %d bytes", size), hints: map[syscall.Errno]string{
		syscall.ENOMEM: "the machine has not that much memory, or the process may not have it (ulimit -v)",
	}}
	if size <= 0 {
		return nil, act.invalid("a buffer has at least one byte")
	}
	if b := ccall.AllocBuffer(size); b != nil {
		return b, nil
	}
	b, err := mapMemory(size)
	if err != nil {
		return nil, act.failed(errnoOf(err))
	}
	return b, nil
}

// Free gives the memory back to the system. It must be called on the buffer as
// AllocBuffer returned it, not on a part of it; the error is syscall.EINVAL
// otherwise, and nothing is freed. Any use of the memory afterwards is a fault.
func (b Buffer) Free() error {
	if ccall.FreeBuffer(b) {
		return nil
	}
	if err := unmapMemory(b); err != nil {
		return action{op: fmt.Sprintf("free a buffer of %d bytes", len(b)), hints: map[syscall.Errno]string{
			syscall.EINVAL: "it is not a whole buffer of AllocBuffer's, or was freed before",
		}}.failed(errnoOf(err))
	}
	return nil
}
