package ibv

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv/internal/ccall"
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
func (qp *QP) PostRecv(wr *RecvWR) (bad *RecvWR, err error) {
	if wr == nil {
		return nil, nil
	}
	if qp.SRQ != nil {
		return wr, ErrSRQAttached
	}
	// Safe: C gets its own queue pair, and a list that lives until the call is over.
	result, errno, refused := ccall.Post(uintptr(qp.Context.Ops.PostRecv), unsafe.Pointer(qp), unsafe.Pointer(wr))
	if result == 0 && refused == nil {
		return nil, nil
	}
	return refusedRecv(opPostRecv, wr, result, errno, uintptr(refused))
}

// PostRecv posts the list of receive work requests that starts at wr to the
// shared receive queue, as ibv_post_srq_recv(3) does. In everything else it is
// like [QP.PostRecv].
func (srq *SRQ) PostRecv(wr *RecvWR) (bad *RecvWR, err error) {
	if wr == nil {
		return nil, nil
	}
	// Safe: as in QP.PostRecv.
	result, errno, refused := ccall.Post(uintptr(srq.Context.Ops.PostSRQRecv), unsafe.Pointer(srq), unsafe.Pointer(wr))
	if result == 0 && refused == nil {
		return nil, nil
	}
	return refusedRecv(opPostSRQRecv, wr, result, errno, uintptr(refused))
}

// PostSend posts the list of send work requests that starts at wr to the queue
// pair's send queue, as ibv_post_send(3) does, in one call of the provider. Its
// results are like those of [QP.PostRecv]. Buffers that are sent inline
// (SendInline) are the caller's again on return, others when the completion of
// this or of a later work request has been polled. PostSend allocates nothing,
// and may be called from any goroutine.
func (qp *QP) PostSend(wr *SendWR) (bad *SendWR, err error) {
	if wr == nil {
		return nil, nil
	}
	// Safe: as in PostRecv.
	result, errno, refused := ccall.Post(uintptr(qp.Context.Ops.PostSend), unsafe.Pointer(qp), unsafe.Pointer(wr))
	if result == 0 && refused == nil {
		return nil, nil
	}
	return refusedSend(opPostSend, wr, result, errno, uintptr(refused))
}

// refusedRecv sorts out what a provider's refusal means. A result of 0 with
// something that is not in the list is none: no provider leaves a foreign
// pointer on purpose. What the provider left is an address until it has been
// found in the list, for it may be the address of anything.
func refusedRecv(op postOp, wr *RecvWR, result, errno int32, refused uintptr) (*RecvWR, error) {
	bad := find(wr, refused, func(e *RecvWR) *RecvWR { return e.Next })
	if bad == nil && result == 0 {
		return nil, nil
	}
	return bad, postFailed(op, result, errno, bad == nil)
}

// refusedSend is refusedRecv for sends.
func refusedSend(op postOp, wr *SendWR, result, errno int32, refused uintptr) (*SendWR, error) {
	bad := find(wr, refused, func(e *SendWR) *SendWR { return e.Next })
	if bad == nil && result == 0 {
		return nil, nil
	}
	return bad, postFailed(op, result, errno, bad == nil)
}

// find is the element with an address in the list that starts at first, or nil.
// A list that runs in a circle, which a full queue may have cut short, is walked
// once: a second pointer at twice the speed meets the first one.
func find[T any](first *T, address uintptr, next func(*T) *T) *T {
	if address == 0 {
		return nil
	}
	fast := first
	for slow := first; slow != nil; slow = next(slow) {
		if uintptr(unsafe.Pointer(slow)) == address {
			return slow
		}
		for range 2 {
			if fast != nil {
				if uintptr(unsafe.Pointer(fast)) == address {
					return fast
				}
				fast = next(fast)
			}
		}
		if fast != nil && fast == slow {
			return nil
		}
	}
	return nil
}
