package ibv

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/clib"
)

// ReqNotify asks for one event on the queue's channel, when the next completion
// has come: any, or, with solicitedOnly, one whose sender set SendSolicited, or
// one of work that failed. A request for any is not taken back by one for
// solicited ones.
//
// Completions that are there already cause no event. So a program asks first,
// polls until the queue is empty, and waits then. It neither blocks nor waits, and
// may be called from any goroutine.
//
// C: ibv_req_notify_cq(3)
func (cq *CQ) ReqNotify(solicitedOnly bool) error {
	only := int32(0)
	if solicitedOnly {
		only = 1
	}
	// Directly, as polls are: programs ask for each event. Safe: C gets its own queue.
	fn := clib.Pointer{Name: "ibv_context_ops.req_notify_cq", Address: uintptr(cq.Context.Ops.ReqNotifyCQ)}
	if err := fn.Direct(uintptr(unsafe.Pointer(cq)), uintptr(only), 0, 0, 0, 0).Errno(); err != nil {
		return cq.Context.action("request notification of completion queue", notifyHints).from(err)
	}
	return nil
}

var notifyHints = map[syscall.Errno]string{
	syscall.EINVAL: "it has no completion channel: see Context.CreateCQWithChannel",
}

// AckEvents acknowledges n events of the queue that [CompChannel.GetCQEvent] has
// returned. [CQ.Close] waits for that. It takes a lock, so a program may count
// events and acknowledge many at once. More than were got must not be acknowledged.
// It may be called from any goroutine.
//
// C: ibv_ack_cq_events(3)
func (cq *CQ) AckEvents(n uint32) error {
	if err := cAckCQEvents(cq, n); err != nil {
		return cq.Context.action("acknowledge events of completion queue", nil).from(err)
	}
	return nil
}
