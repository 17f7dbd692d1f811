package native

/*
#include "loops.h"

#cgo noescape ibv_post_recv
#cgo nocallback ibv_post_recv
#cgo noescape ibv_post_srq_recv
#cgo nocallback ibv_post_srq_recv
#cgo noescape ibv_post_send
#cgo nocallback ibv_post_send
#cgo noescape ibv_poll_cq
#cgo nocallback ibv_poll_cq
*/
import "C"

import "github.com/goverbs/goverbs/ibv"

// The verbs called by cgo as they are: typed pointers, and &bad.

// PostRecvTyped posts through cgo.
func PostRecvTyped(qp *ibv.QP, wr *ibv.RecvWR, n int) int {
	q, w := cQP(qp), cRecv(wr)
	for i := range n {
		var bad *C.struct_ibv_recv_wr
		if C.ibv_post_recv(q, w, &bad) != 0 {
			return i
		}
	}
	return n
}

// PostSRQRecvTyped posts through cgo.
func PostSRQRecvTyped(srq *ibv.SRQ, wr *ibv.RecvWR, n int) int {
	q, w := cSRQ(srq), cRecv(wr)
	for i := range n {
		var bad *C.struct_ibv_recv_wr
		if C.ibv_post_srq_recv(q, w, &bad) != 0 {
			return i
		}
	}
	return n
}

// PostSendTyped posts through cgo.
func PostSendTyped(qp *ibv.QP, wr *ibv.SendWR, n int) int {
	q, w := cQP(qp), cSend(wr)
	for i := range n {
		var bad *C.struct_ibv_send_wr
		if C.ibv_post_send(q, w, &bad) != 0 {
			return i
		}
	}
	return n
}

// PollTyped polls through cgo.
func PollTyped(cq *ibv.CQ, wcs []ibv.WC, got, n int) int {
	q, w, room := cCQ(cq), cWC(wcs), C.int(len(wcs))
	for i := range n {
		if C.ibv_poll_cq(q, room, w) != C.int(got) {
			return i
		}
	}
	return n
}
