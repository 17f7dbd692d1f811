package native

/*
#include "loops.h"

#cgo noescape post_recv_words
#cgo nocallback post_recv_words
#cgo noescape post_srq_recv_words
#cgo nocallback post_srq_recv_words
#cgo noescape post_send_words
#cgo nocallback post_send_words
#cgo noescape poll_words
#cgo nocallback poll_words
*/
import "C"

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// The best that cgo can do: integers as arguments, so that nothing is checked,
// and the result by value, so that nothing is allocated. Safe: the caller keeps
// the memory behind the integers.

func word[T any](p *T) C.uintptr_t { return C.uintptr_t(uintptr(unsafe.Pointer(p))) }

// PostRecvWords posts through cgo.
func PostRecvWords(qp *ibv.QP, wr *ibv.RecvWR, n int) int {
	q, w := word(qp), word(wr)
	for i := range n {
		if C.post_recv_words(q, w).result != 0 {
			return i
		}
	}
	return n
}

// PostSRQRecvWords posts through cgo.
func PostSRQRecvWords(srq *ibv.SRQ, wr *ibv.RecvWR, n int) int {
	q, w := word(srq), word(wr)
	for i := range n {
		if C.post_srq_recv_words(q, w).result != 0 {
			return i
		}
	}
	return n
}

// PostSendWords posts through cgo.
func PostSendWords(qp *ibv.QP, wr *ibv.SendWR, n int) int {
	q, w := word(qp), word(wr)
	for i := range n {
		if C.post_send_words(q, w).result != 0 {
			return i
		}
	}
	return n
}

// PollWords polls through cgo.
func PollWords(cq *ibv.CQ, wcs []ibv.WC, got, n int) int {
	q, w, room := word(cq), word(&wcs[0]), C.int(len(wcs))
	for i := range n {
		if C.poll_words(q, room, w) != C.int(got) {
			return i
		}
	}
	return n
}
