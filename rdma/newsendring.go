package rdma

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// SendRingOptions are what a send ring is made with. The zero value is what many
// programs want.
type SendRingOptions struct {
	// Requests is how many work requests there are; 0 is as many as the send queue
	// takes and its completion queue has room for.
	Requests int
	// MaxSGE is how many scatter/gather entries each has room for; 0 is 1.
	MaxSGE int
	// SignalEvery says that one in so many is signalled; 0 is a quarter of them.
	SignalEvery int
}

// NewSendRing makes a ring for the sends of a queue pair. The work requests that it
// takes at most, and their entries, are the queue pair's Cap. The send completion
// queue must have room for all, for when something fails, all of them complete; and
// for what else completes there. On a queue pair that was made with SignalAll each
// completes, so that the ring spares nothing. A ring does not outlive a reset of its
// queue pair. The caller closes it, before the queue pair or after it.
func NewSendRing(qp *QP, opts SendRingOptions) (*SendRing, error) {
	const op = "make a send ring on"
	if err := qp.lifetime().check(op); err != nil {
		return nil, err
	}
	failed := func(errno syscall.Errno, format string, args ...any) error {
		return qp.l.failed(op, errno, fmt.Sprintf(format, args...))
	}
	if qp.sendCQ == nil {
		return nil, failed(syscall.EINVAL, "it was adopted without its completion queue for sends")
	}
	n, maxSGE, every, room := opts.Requests, opts.MaxSGE, opts.SignalEvery, int(qp.sendCQ.raw.CQE)
	if n == 0 {
		n = min(int(qp.cap.MaxSendWR), room)
	}
	if maxSGE == 0 {
		maxSGE = min(1, int(qp.cap.MaxSendSGE))
	}
	if every == 0 {
		every = max(1, n/4)
	}
	switch {
	case every < 1 || every > n:
		return nil, failed(syscall.EINVAL, "of %d work requests, one in %d cannot be signalled", n, every)
	case n > int(qp.cap.MaxSendWR):
		return nil, failed(syscall.EINVAL, "%d work requests are asked for, the send queue has room for %d", n, qp.cap.MaxSendWR)
	case maxSGE > int(qp.cap.MaxSendSGE):
		return nil, failed(syscall.EINVAL, "%d scatter/gather entries each are asked for, its work requests have at most %d", maxSGE, qp.cap.MaxSendSGE)
	case n > room:
		return nil, failed(syscall.EINVAL, "the completion queue has room for %d", room)
	}
	l, err := begin("send ring", qp.pd)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	chain, err := ibv.NewSendChain(n, maxSGE)
	if err != nil {
		return nil, err
	}
	tag, err := newTag()
	if err != nil {
		return nil, err
	}
	r := &SendRing{
		wrs: chain.WRs(), chain: chain, every: uint64(every), limit: math.MaxUint64, tag: tag, inlineSize: int(qp.cap.MaxInlineData),
		ud: qp.typ == ibv.QPTUD,
		qp: qp, cq: qp.sendCQ, l: l, wcs: make([]ibv.WC, min(n, pollBatch)),
	}
	*r.linkOf(n - 1) = uintptr(unsafe.Pointer(&r.wrs[0])) // safe: as in linkOf
	r.state = &qp.raw.State
	if qp.unknownState() {
		r.state = &anyState
	}
	if checked {
		r.state = &slowWay
	}
	live(l, r, fmt.Sprintf("of %d work requests for queue pair %s", n, qp.l.name), func() error {
		freeTag(tag)
		return nil
	}, (*SendRing).retire)
	qp.rings.add(hookOf(r, (*SendRing).retire))
	return r, nil
}
