package ibv

import "unsafe"

// recvQueue is where a ring's receives go: to a queue pair or to a shared receive
// queue.
type recvQueue struct {
	qp  *QP
	srq *SRQ
}

// post is how C posts to it.
func (q recvQueue) post() (op postOp, slot uintptr, object unsafe.Pointer, err error) {
	if q.srq != nil {
		return opPostSRQRecv, uintptr(q.srq.Context.Ops.PostSRQRecv), unsafe.Pointer(q.srq), nil
	}
	// Providers refuse this without saying that they took none.
	if q.qp.State == QPSReset {
		err = q.qp.action("post receives of a ring to", nil).invalid("it takes no receives in RESET: move it to INIT first")
	}
	return opPostRecv, uintptr(q.qp.Context.Ops.PostRecv), unsafe.Pointer(q.qp), err
}
