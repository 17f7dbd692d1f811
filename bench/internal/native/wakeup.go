package native

/*
#cgo LDFLAGS: -lpthread
#include "wakeup.h"
*/
import "C"

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// Waker is one of two connected queue pairs that wake each other. The receives have a completion channel of their own, which
// blocks, and one of them is posted.
type Waker struct {
	QP             *ibv.QP
	SendCQ, RecvCQ *ibv.CQ
}

func (w Waker) c() C.struct_waker {
	return C.struct_waker{qp: cQP(w.QP), send_cq: cCQ(w.SendCQ), recv_cq: cCQ(w.RecvCQ)}
}

// WakeUp has both ends wake each other, n times together, which is even: each is a thread that waits in ibv_get_cq_event.
// They block, so this is a call of cgo's.
func WakeUp(a, b Waker, n int) (good int, ticks int64) { return of(C.wake_up(a.c(), b.c(), C.long(n))) }

// WaitIdle waits for len(latencies) completions of the stub's, and puts there how many ticks each wake-up took since stamp.
func WaitIdle(w Waker, stamp *int64, latencies []int64) (good int) {
	// Safe: C's int64_t is Go's, and it keeps neither pointer.
	return int(C.wait_idle(w.c(), (*C.int64_t)(unsafe.Pointer(stamp)), (*C.int64_t)(unsafe.Pointer(&latencies[0])), C.long(len(latencies))))
}
