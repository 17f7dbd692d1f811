package ibv

import "unsafe"

// recvQueue is where receives go: to a queue pair or to a shared receive queue.
type recvQueue struct {
	qp  *QP
	srq *SRQ
}

// op is what a post to it is called.
func (q *recvQueue) op() postOp {
	if q.srq != nil {
		return opPostSRQRecv
	}
	return opPostRecv
}

// object is what C posts to, and where the provider has its function for that.
func (q *recvQueue) object() (object unsafe.Pointer, postFn *uintptr) {
	// Safe: a function pointer of C's is a number here.
	if q.srq != nil {
		return unsafe.Pointer(q.srq), (*uintptr)(unsafe.Pointer(&q.srq.Context.Ops.PostSRQRecv))
	}
	return unsafe.Pointer(q.qp), (*uintptr)(unsafe.Pointer(&q.qp.Context.Ops.PostRecv))
}

// notReady reports whether it takes nothing now. Providers refuse a receive for
// such a queue pair without saying that they took none.
func (q *recvQueue) notReady() bool { return q.srq == nil && q.qp.State == QPSReset }

func (q *recvQueue) notReadyError() error {
	return q.qp.action("post receives of a ring to", nil).invalid("it takes no receives in RESET: move it to INIT first")
}
