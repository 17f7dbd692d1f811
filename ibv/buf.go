//go:build !freebsd

package ibv

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/clib"
)

// AllocBuf allocates memory of the kind that the provider likes best, or, with a
// parent domain that asks for it, of one that a confidential guest shares with its
// devices. The caller closes buf, after which memory must not be touched. A
// [Buffer] will do where no kind is asked for. It may be called from any goroutine.
//
// C: ibv_alloc_buf(3)
func (pd *PD) AllocBuf(size int) (buf *Buf, memory []byte, err error) {
	act := pd.Context.action(fmt.Sprintf("allocate a buffer of %d bytes", size), nil)
	if size <= 0 {
		return nil, nil, act.invalid("a buffer has at least one byte")
	}
	out := new(*Buf)
	address, err := cAllocBuf(pd, uint64(size), out)
	if err != nil {
		return nil, nil, act.from(err)
	}
	// Safe: C says that size bytes are there, until Close.
	return *out, unsafe.Slice(clib.At[byte](address), size), nil
}

// Close frees the memory. The regions of it must be closed before; the protection
// domain, afterwards.
//
// C: ibv_free_buf(3)
func (buf *Buf) Close() error {
	act := bufAction("free a buffer")
	if buf == nil {
		return act.invalid("the buffer is missing")
	}
	return act.from(cFreeBuf(buf))
}

// RegBufMR registers memory, or a part of it, that [PD.AllocBuf] of the same
// protection domain gave out with buf. The caller closes the region, before buf.
// It may be called from any goroutine.
//
// C: ibv_reg_buf_mr(3)
func (pd *PD) RegBufMR(buf *Buf, memory []byte, access AccessFlags) (*MR, error) {
	act := pd.Context.action(fmt.Sprintf("register %d bytes of a buffer (%v)", len(memory), access), map[syscall.Errno]string{
		syscall.EINVAL: "the memory is not within the buffer, or the buffer is of another protection domain",
		syscall.ENOMEM: hintLocksMemory,
	})
	if buf == nil || len(memory) == 0 {
		return nil, act.invalid("the buffer or its memory is missing")
	}
	mr, err := cRegBufMR(pd, buf, uintptr(unsafe.Pointer(unsafe.SliceData(memory))), uint64(len(memory)), access)
	return mr, act.from(err)
}

// ExportDMABufFD opens the DMA-buf that the memory is in once more, and returns
// its file, which the caller closes. The error is syscall.ENODATA if it is in none.
// It may be called from any goroutine.
//
// C: ibv_export_buf_dmabuf_fd(3)
func (buf *Buf) ExportDMABufFD() (int, error) {
	act := bufAction("export a buffer as a DMA-buf")
	if buf == nil {
		return -1, act.invalid("the buffer is missing")
	}
	fd, err := cExportBufDMABufFD(buf)
	return int(fd), act.from(err)
}

// bufAction is an action on a buffer, which does not say what device it is of.
func bufAction(op string) action {
	return action{op: op, hints: map[syscall.Errno]string{noData: "the memory is not in a DMA-buf"}}
}
