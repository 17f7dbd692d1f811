package ibv

import (
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// PostRecv posts the list of receive work requests that starts at wr to the
// queue pair's receive queue, as ibv_post_recv(3) does, in one call of the
// provider. It stops at the first one that the provider refuses at once and
// returns it: those before it are posted, it and those behind it are not. bad is
// nil when the provider does not say which it was; the error is
// [ErrAcceptedUnknown] then. On success both results are nil.
//
// An empty list, a nil wr, is a success on every provider. A queue pair with a
// shared receive queue gives [ErrSRQAttached]. The errno in other errors is the
// provider's: syscall.ENOMEM for a full queue, mostly.
//
// The work requests and their scatter/gather entries are the caller's again on
// return. The buffers are the device's until the completion has been polled. The
// list must end. PostRecv allocates nothing, and may be called from any
// goroutine.
//
// C: ibv_post_recv(3); the work request that was refused is a result
func (qp *QP) PostRecv(wr *RecvWR) (bad *RecvWR, err error) {
	// Safe: C gets its own queue pair, and a list that lives until the call is over.
	p, err := ccall.PostFrom(uintptr(qp.Context.Ops.PostRecv), unsafe.Pointer(qp), unsafe.Pointer(wr), unsafe.Pointer(qp.SRQ), recvFromRefused)
	return (*RecvWR)(p), err
}

// PostRecv posts the list of receive work requests that starts at wr to the
// shared receive queue, as ibv_post_srq_recv(3) does. In everything else it is
// like [QP.PostRecv].
//
// C: ibv_post_srq_recv(3); the work request that was refused is a result
func (srq *SRQ) PostRecv(wr *RecvWR) (bad *RecvWR, err error) {
	// Safe: as in QP.PostRecv.
	p, err := ccall.PostFrom(uintptr(srq.Context.Ops.PostSRQRecv), unsafe.Pointer(srq), unsafe.Pointer(wr), nil, srqRecvFromRefused)
	return (*RecvWR)(p), err
}

// PostSend posts the list of send work requests that starts at wr to the queue
// pair's send queue, as ibv_post_send(3) does, in one call of the provider. Its
// results are like those of [QP.PostRecv]. Buffers that are sent inline
// (SendInline) are the caller's again on return, others when the completion of
// this or of a later work request has been polled. PostSend allocates nothing,
// and may be called from any goroutine.
//
// C: ibv_post_send(3); the work request that was refused is a result
func (qp *QP) PostSend(wr *SendWR) (bad *SendWR, err error) {
	// Safe: as in PostRecv.
	p, err := ccall.PostFrom(uintptr(qp.Context.Ops.PostSend), unsafe.Pointer(qp), unsafe.Pointer(wr), nil, sendFromRefused)
	return (*SendWR)(p), err
}

// What a refusal of each post means.

func recvFromRefused(wr unsafe.Pointer, result, errno int32, bad uintptr) (unsafe.Pointer, error) {
	if errno == ccall.NotAsked && wr != nil {
		return wr, ErrSRQAttached
	}
	return fromRefused[RecvWR](opPostRecv, wr, result, errno, bad)
}

func srqRecvFromRefused(wr unsafe.Pointer, result, errno int32, bad uintptr) (unsafe.Pointer, error) {
	return fromRefused[RecvWR](opPostSRQRecv, wr, result, errno, bad)
}

func sendFromRefused(wr unsafe.Pointer, result, errno int32, bad uintptr) (unsafe.Pointer, error) {
	return fromRefused[SendWR](opPostSend, wr, result, errno, bad)
}

// fromRefused is the work request that a provider refused, and the error.
func fromRefused[WR any](op postOp, first unsafe.Pointer, result, errno int32, bad uintptr) (unsafe.Pointer, error) {
	// Safe: it is the list that was posted.
	refused := find((*WR)(first), bad)
	return unsafe.Pointer(refused), refusal(op, result, errno, refused != nil)
}

// refusal is the error of a post that left a result other than 0 or something in
// bad, which is known or not to be one of the list. What a provider left in bad is
// a number until it has been found in the list, for it may be the address of
// anything. A result of 0 with something that is not in the list is no refusal: no
// provider leaves a foreign pointer on purpose.
func refusal(op postOp, result, errno int32, known bool) error {
	if result == 0 && !known {
		return nil
	}
	return postFailed(op, result, errno, !known)
}

// find is the element with an address in the list that starts at first, or nil.
func find[WR any](first *WR, address uintptr) *WR {
	if address == 0 {
		return nil
	}
	for wr := first; wr != nil; wr = successor(wr) {
		if uintptr(unsafe.Pointer(wr)) == address {
			return wr
		}
	}
	return nil
}

// successor is what a work request's Next points to.
func successor[WR any](wr *WR) *WR {
	// Safe: every kind of work request has its Next there.
	return *(**WR)(unsafe.Add(unsafe.Pointer(wr), nextWord*wordSize))
}
