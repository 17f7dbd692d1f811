package ibv

import "unsafe"

// RecvQueue is where receives are posted to: a *[QP], or the *[SRQ] that queue
// pairs share.
type RecvQueue interface{ recvQueue() recvQueue }

func (qp *QP) recvQueue() recvQueue   { return recvQueue{qp: qp} }
func (srq *SRQ) recvQueue() recvQueue { return recvQueue{srq: srq} }

// recvQueue is one of the two.
type recvQueue struct {
	qp  *QP
	srq *SRQ
}

// attached reports whether receives go to the queue pair's shared receive queue
// instead.
func (q *recvQueue) attached() bool { return q.qp != nil && q.qp.SRQ != nil }

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
