package native

/*
#include "loops.h"

#cgo noescape post_recv_scalars
#cgo nocallback post_recv_scalars
#cgo noescape post_srq_recv_scalars
#cgo nocallback post_srq_recv_scalars
#cgo noescape post_send_scalars
#cgo nocallback post_send_scalars
*/
import "C"

import "github.com/goverbs/goverbs/ibv"

// What Go bindings with cgo usually do: a call for each work request, with
// scalars, of which C builds it every time. A chain of k is k calls. As with
// the others, n is the number of chains.

// Recv is one receive as such a binding takes it.
type Recv struct {
	ID           uint64
	Addr         uint64
	Length, LKey uint32
}

// Send is one send as such a binding takes it.
type Send struct {
	Recv
	Opcode ibv.WROpcode
	Flags  ibv.SendFlags
}

// PostRecvScalars posts through cgo.
func PostRecvScalars(qp *ibv.QP, wrs []Recv, n int) int {
	q := cQP(qp)
	for i := range n {
		for k := range wrs {
			wr := &wrs[k]
			if C.post_recv_scalars(q, C.uint64_t(wr.ID), C.uint64_t(wr.Addr), C.uint32_t(wr.Length), C.uint32_t(wr.LKey)) != 0 {
				return i
			}
		}
	}
	return n
}

// PostSRQRecvScalars posts through cgo.
func PostSRQRecvScalars(srq *ibv.SRQ, wrs []Recv, n int) int {
	q := cSRQ(srq)
	for i := range n {
		for k := range wrs {
			wr := &wrs[k]
			if C.post_srq_recv_scalars(q, C.uint64_t(wr.ID), C.uint64_t(wr.Addr), C.uint32_t(wr.Length), C.uint32_t(wr.LKey)) != 0 {
				return i
			}
		}
	}
	return n
}

// PostSendScalars posts through cgo.
func PostSendScalars(qp *ibv.QP, wrs []Send, n int) int {
	q := cQP(qp)
	for i := range n {
		for k := range wrs {
			wr := &wrs[k]
			if C.post_send_scalars(q, C.uint64_t(wr.ID), C.uint64_t(wr.Addr), C.uint32_t(wr.Length), C.uint32_t(wr.LKey),
				C.int(wr.Opcode), C.uint(wr.Flags)) != 0 {
				return i
			}
		}
	}
	return n
}
