package native

/*
#include "traffic.h"
*/
import "C"

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// End is one of two queue pairs that send each other messages.
type End struct {
	QP             *ibv.QP
	SendCQ, RecvCQ *ibv.CQ
	// Sends and Recvs are the addresses of the first work requests of the lists
	// that it posts, in order, whose memory the caller keeps.
	Sends, Recvs []uintptr
}

// Traffic is how messages are sent.
type Traffic struct {
	Received int // bytes that each receive takes
	Batch    int // sends of which one is signalled
	Window   int // sends under way, at most
	Idle     int // polls in turn that find nothing, after which something was lost
}

// PingPong has n messages sent from a to b and answered in C, from message
// number first on. Lists are single work requests.
func PingPong(a, b *End, t Traffic, first, n int) (good int, ticks int64) {
	return of(C.ping_pong_loop(a.c(), b.c(), t.c(), C.long(first), C.long(n)))
}

// MessageRate has n messages sent from a to b in C, from message number first
// on. Lists are of Batch work requests.
func MessageRate(a, b *End, t Traffic, first, n int) (good int, ticks int64) {
	return of(C.message_rate_loop(a.c(), b.c(), t.c(), C.long(first), C.long(n)))
}

// c is what C calls it. Safe: a uintptr is C's uintptr_t.
func (e *End) c() C.struct_end {
	return C.struct_end{
		qp: cQP(e.QP), send_cq: cCQ(e.SendCQ), recv_cq: cCQ(e.RecvCQ),
		sends: (*C.uintptr_t)(unsafe.Pointer(unsafe.SliceData(e.Sends))),
		recvs: (*C.uintptr_t)(unsafe.Pointer(unsafe.SliceData(e.Recvs))),
	}
}

func (t Traffic) c() C.struct_traffic {
	return C.struct_traffic{received: C.uint32_t(t.Received), batch: C.long(t.Batch), window: C.long(t.Window), idle: C.long(t.Idle)}
}
