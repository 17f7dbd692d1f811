// Package native is what goverbs is compared with: the loops that programs in
// C write, and the ways in which Go programs with cgo call C. Each function
// makes n calls and returns how many went well.
package native

/*
#cgo CFLAGS: -O2 -Wall
#include "loops.h"
*/
import "C"

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// Conversions to cgo's types. Safe: both are the same C struct.

func cQP(qp *ibv.QP) *C.struct_ibv_qp            { return (*C.struct_ibv_qp)(unsafe.Pointer(qp)) }
func cSRQ(srq *ibv.SRQ) *C.struct_ibv_srq        { return (*C.struct_ibv_srq)(unsafe.Pointer(srq)) }
func cCQ(cq *ibv.CQ) *C.struct_ibv_cq            { return (*C.struct_ibv_cq)(unsafe.Pointer(cq)) }
func cRecv(wr *ibv.RecvWR) *C.struct_ibv_recv_wr { return (*C.struct_ibv_recv_wr)(unsafe.Pointer(wr)) }
func cSend(wr *ibv.SendWR) *C.struct_ibv_send_wr { return (*C.struct_ibv_send_wr)(unsafe.Pointer(wr)) }
func cWC(wcs []ibv.WC) *C.struct_ibv_wc          { return (*C.struct_ibv_wc)(unsafe.Pointer(&wcs[0])) }

// The loops in C also tell how many ticks they took, without the way there.

// PostRecv posts in C.
func PostRecv(qp *ibv.QP, wr *ibv.RecvWR, n int) (good int, ticks int64) {
	return of(C.post_recv_loop(cQP(qp), cRecv(wr), C.long(n)))
}

// PostRecvFull posts in C to a queue that is to refuse.
func PostRecvFull(qp *ibv.QP, wr *ibv.RecvWR, n int) (good int, ticks int64) {
	return of(C.post_recv_full_loop(cQP(qp), cRecv(wr), C.long(n)))
}

// PostSRQRecv posts in C.
func PostSRQRecv(srq *ibv.SRQ, wr *ibv.RecvWR, n int) (good int, ticks int64) {
	return of(C.post_srq_recv_loop(cSRQ(srq), cRecv(wr), C.long(n)))
}

// PostSend posts in C.
func PostSend(qp *ibv.QP, wr *ibv.SendWR, n int) (good int, ticks int64) {
	return of(C.post_send_loop(cQP(qp), cSend(wr), C.long(n)))
}

// Poll polls in C, with room for len(wcs), and expects got completions each time.
func Poll(cq *ibv.CQ, wcs []ibv.WC, got, n int) (good int, ticks int64) {
	return of(C.poll_loop(cCQ(cq), cWC(wcs), C.int(len(wcs)), C.int(got), C.long(n)))
}

// Ring polls for len(wcs) receives at a time in C, and posts them again with the
// work requests that begin at wrs. Which one it was is in the bits of mask of a
// WRID. What is found last, in wcs, is not posted.
func Ring(srq *ibv.SRQ, cq *ibv.CQ, wrs *ibv.RecvWR, wcs []ibv.WC, mask uint64, n int) (good int, ticks int64) {
	return of(C.ring_loop(cSRQ(srq), cCQ(cq), cRecv(wrs), cWC(wcs), C.int(len(wcs)), C.uint64_t(mask), C.long(n)))
}

func of(c C.struct_calls) (good int, ticks int64) { return int(c.good), int64(c.ticks) }
