package native

/*
#cgo LDFLAGS: -lpthread
#include "wakeup.h"
*/
import "C"

import (
	"time"

	"github.com/goverbs/goverbs/ibv"
)

// Waker is one of two connected queue pairs that wake each other. The completion channel of its receives blocks.
type Waker struct {
	QP             *ibv.QP
	SendCQ, RecvCQ *ibv.CQ
}

func (w Waker) c() C.struct_waker {
	return C.struct_waker{qp: cQP(w.QP), send_cq: cCQ(w.SendCQ), recv_cq: cCQ(w.RecvCQ)}
}

// WakeUp has messages sent to and fro n times, each end on a thread that waits in ibv_get_cq_event. It is how long that
// took, or negative if something failed.
func WakeUp(a, b Waker, n int) time.Duration {
	return time.Duration(C.wake_up(a.c(), b.c(), C.long(n)))
}
