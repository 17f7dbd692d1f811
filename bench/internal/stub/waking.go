package stub

// #include "waking.h"
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// Waking is two ends without a device, which wake each other: what one sends, the
// other has received at once. Events are written to a pipe, where the kernel would
// write them, and libibverbs gets them from there.
type Waking struct{ c *C.struct_waking }

// NewWaking makes them, with one completion channel or two. The caller closes them.
func NewWaking(channels int) (*Waking, error) {
	c, err := C.waking_new(C.int(channels))
	if c == nil {
		return nil, fmt.Errorf("stub: make two ends: %w", err)
	}
	return &Waking{c}, nil
}

// Close frees them.
func (w *Waking) Close() { C.waking_free(w.c) }

// QP is the queue pair of end 0 or 1. Safe, like the next two: as [Provider.QP].
func (w *Waking) QP(end int) *ibv.QP { return (*ibv.QP)(unsafe.Pointer(C.waking_qp(w.c, C.int(end)))) }

// SendCQ is where its sends complete.
func (w *Waking) SendCQ(end int) *ibv.CQ {
	return (*ibv.CQ)(unsafe.Pointer(C.waking_send_cq(w.c, C.int(end))))
}

// RecvCQ is where its receives complete, with a channel.
func (w *Waking) RecvCQ(end int) *ibv.CQ {
	return (*ibv.CQ)(unsafe.Pointer(C.waking_recv_cq(w.c, C.int(end))))
}

// Begin has n receives of end 0 complete, each when whoever waits for it has been idle
// for a while. Finish waits until they have.
func (w *Waking) Begin(n int) error {
	if errno := C.waking_begin(w.c, C.long(n)); errno != 0 {
		return fmt.Errorf("stub: start a thread: %w", syscall.Errno(errno))
	}
	return nil
}

// Finish ends what Begin began.
func (w *Waking) Finish() { C.waking_finish(w.c) }

// Stamp is where the ticks are kept at which the last one of them came. Safe: it is in
// C's memory until Close.
func (w *Waking) Stamp() *int64 { return (*int64)(unsafe.Pointer(C.waking_stamp(w.c))) }
