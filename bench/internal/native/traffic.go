package native

/*
#include "traffic.h"
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// End is one of two queue pairs that send each other messages.
type End struct {
	QP             *ibv.QP
	SendCQ, RecvCQ *ibv.CQ
	// Sends and Recvs are the addresses of the first work requests of the lists
	// that it posts, in order.
	Sends, Recvs []uintptr
}

// Traffic is how messages are sent.
type Traffic struct {
	Received int // bytes that each receive takes
	Batch    int // sends of which one is signalled
	Window   int // sends under way, at most
	Idle     int // polls in turn that find nothing, after which something was lost
}

// Loop is a loop in C that lasts for milliseconds. cgo would tell the runtime, which
// looks for something else to do meanwhile, and has a closer look at the goroutine
// afterwards: this costs the loop, and the next one in Go, a quarter of their time
// on one processor of User Mode Linux. So it is called as goverbs calls C, as the
// poll of a completion queue of its own, and both kinds of loops find the runtime in
// the same state.
type Loop struct {
	c    *C.struct_loop
	a, b End // keep the numbers of the lists
	wcs  []ibv.WC
}

// NewPingPong makes a loop that has messages sent from a to b and answered. Lists
// are single work requests, whose memory the caller keeps. The caller closes it.
func NewPingPong(a, b End, t Traffic) (*Loop, error) { return newLoop(C.ping_pong_new(), a, b, t) }

// NewMessageRate makes a loop that has messages sent from a to b. Lists are of
// t.Batch work requests.
func NewMessageRate(a, b End, t Traffic) (*Loop, error) {
	return newLoop(C.message_rate_new(), a, b, t)
}

func newLoop(c *C.struct_loop, a, b End, t Traffic) (*Loop, error) {
	if c == nil {
		return nil, errors.New("native: no memory for a loop")
	}
	l := &Loop{c: c, a: a, b: b, wcs: make([]ibv.WC, 1)}
	c.traffic = C.struct_traffic{received: C.uint32_t(t.Received), batch: C.long(t.Batch), window: C.long(t.Window), idle: C.long(t.Idle)}
	for to, end := range map[*C.struct_end]*End{&c.a: &l.a, &c.b: &l.b} {
		// Safe: l keeps the slices, which do not move. They are stored as numbers, for
		// the collector does not look into C's memory.
		to.qp, to.send_cq, to.recv_cq = cQP(end.QP), cCQ(end.SendCQ), cCQ(end.RecvCQ)
		*(*uintptr)(unsafe.Pointer(&to.sends)) = uintptr(unsafe.Pointer(unsafe.SliceData(end.Sends)))
		*(*uintptr)(unsafe.Pointer(&to.recvs)) = uintptr(unsafe.Pointer(unsafe.SliceData(end.Recvs)))
	}
	return l, nil
}

// Run has n messages go their way, from number first on.
func (l *Loop) Run(first, n int) (good int, ticks int64) {
	l.c.first, l.c.n, l.c.result = C.long(first), C.long(n), C.struct_calls{}
	// Safe: ibv's type and cgo's are the same C struct.
	if _, err := (*ibv.CQ)(unsafe.Pointer(&l.c.cq)).Poll(l.wcs); err != nil {
		return 0, 0
	}
	return of(l.c.result)
}

// Close frees it.
func (l *Loop) Close() error {
	C.free(unsafe.Pointer(l.c))
	return nil
}
