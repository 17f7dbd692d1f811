package rdma

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// SendRing sends with few completions: only one work request in so many is
// signalled, at least, and its completion tells that all before it are done too. The ring
// keeps count, so the send queue never fills up with work whose end nobody would
// hear of. One goroutine at a time may use it, and nothing else may post sends to
// the queue pair.
//
// Poll and Wait want a completion queue that has nothing but the ring's sends. On one
// that serves many rings and queue pairs, or the queue pair's receives too, the
// caller polls it, or waits for it, and Handle takes note of those of the ring.
// [Rings] tells whose a completion is.
//
// It may be closed before the queue pair and after it. In between, everything is
// [ErrClosed].
type SendRing struct {
	_ noCopy

	wrs   []ibv.SendWR // of chain, linked in a circle; none when the ring is closed, or the queue pair
	chain *ibv.SendChain
	every uint64
	// Work requests are numbered from 0 on, for ever; each number is that of a
	// slot, modulo the ring's length. All below done have completed, all below
	// posted are posted, all below added are filled in.
	done, posted, added uint64
	first, next         int          // the slots of posted and added
	turn                uint64       // the number behind the last one added that was to be signalled
	signalled           uint64       // the number behind the last one posted that is
	proven              uint64       // how many at once the queue is known to take
	state               *ibv.QPState // before RTS, only the slow way will do
	// spent is how many work requests were added that use up a receive of the peer's,
	// of limit ones.
	spent, limit uint64
	tag          uint64
	inline       []byte // what is sent inline, by slot; nil at first
	inlineSize   int    // how much of it a work request has
	inlineEntry  [1]ibv.SGE
	ud           bool
	wcs          []ibv.WC
	qp           *QP
	cq           *CQ
	l            *life
}

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

// NewSendRing makes a ring for the sends of a queue pair, which must have been made
// without SignalAll. The work requests that it takes at most, and their entries, are
// the queue pair's Cap. The send completion queue must have room for all, for when
// something fails, all of them complete; and for what else completes there. A ring
// does not outlive a reset of its queue pair. The caller closes it, before the queue
// pair or after it.
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
		return nil, failed(syscall.ENOMEM, "%d work requests are asked for, the send queue has room for %d", n, qp.cap.MaxSendWR)
	case maxSGE > int(qp.cap.MaxSendSGE):
		return nil, failed(syscall.EINVAL, "%d scatter/gather entries each are asked for, its work requests have at most %d", maxSGE, qp.cap.MaxSendSGE)
	case qp.signalAll:
		return nil, failed(syscall.EINVAL, "it was made with SignalAll")
	case n > room:
		return nil, failed(syscall.ENOMEM, "the completion queue has room for %d", room)
	}
	l, err := begin("send ring", qp.pd)
	if err != nil {
		return nil, err
	}
	chain, err := ibv.NewSendChain(n, maxSGE)
	if err != nil {
		l.abandon()
		return nil, err
	}
	tag, err := newTag()
	if err != nil {
		l.abandon()
		return nil, err
	}
	r := &SendRing{
		wrs: chain.WRs(), chain: chain, every: uint64(every), limit: math.MaxUint64, tag: tag, inlineSize: int(qp.cap.MaxInlineData),
		ud: qp.typ == ibv.QPTUD,
		qp: qp, cq: qp.sendCQ, l: l, wcs: make([]ibv.WC, min(n, pollBatch)),
	}
	*r.linkOf(n - 1) = uintptr(unsafe.Pointer(&r.wrs[0]))
	r.state = &qp.raw.State
	if r.anyState() {
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

// anyState reports whether the library does not know the state of the queue pair:
// librdmacm brings those of iWARP to RTS.
func (r *SendRing) anyState() bool {
	return r.qp.raw.Context.Device.TransportType == ibv.TransportIWARP
}

// linkOf is where the work request in a slot has the address of its successor.
func (r *SendRing) linkOf(slot int) *uintptr {
	// Safe: Next is a number, because it is in memory that the collector does not
	// look into, and points into the same block, which the ring keeps.
	return (*uintptr)(unsafe.Pointer(&r.wrs[slot].Next))
}

// Len is the number of work requests.
func (r *SendRing) Len() int { return len(r.wrs) }

// Outstanding is how many work requests are added and have not completed, as far
// as Poll has seen. It is 0 when the ring is closed, or the queue pair.
func (r *SendRing) Outstanding() int {
	if len(r.wrs) == 0 {
		return 0
	}
	return int(r.added - r.done)
}

// SetLimit says how many messages may be sent in all that use up a receive of the
// peer's, counted since the ring was made: sends, and RDMA writes with immediate
// data. Without a limit, which is so at first, there may be any number. The limit is
// what the peer's [RecvRing.Posted] was, which the peer tells by what way it likes,
// as soon as it has grown; with its own messages, say. So each message finds a
// receive. Limits are not taken back: a lower one than the last, which a peer has
// told before, changes nothing.
func (r *SendRing) SetLimit(posted uint64) {
	if r.limit == math.MaxUint64 || posted > r.limit {
		r.limit = posted
	}
}

// Credit is how many more messages the limit allows that use up a receive.
func (r *SendRing) Credit() uint64 {
	return r.limit - min(r.spent, r.limit)
}

// retire has everything say that the ring is closed, or the queue pair, until that
// is taken back.
func (r *SendRing) retire() (revive func()) {
	wrs := r.wrs
	r.wrs = nil
	return func() { r.wrs = wrs }
}

// closedError says what is closed: the ring, or the queue pair.
func (r *SendRing) closedError(op string) error {
	if err := r.l.check(op); err != nil {
		return err
	}
	return r.qp.l.check(op)
}

// Close ends the use of the ring, so that nothing that is done with it reaches the
// queue pair. Work that is outstanding stays so, and what was not posted never is.
// See [Object].
func (r *SendRing) Close() error { return r.lifetime().close() }

// CloseAll is Close, for nothing is made from a ring.
func (r *SendRing) CloseAll() error { return r.lifetime().closeAll() }

// String is the kind, how many work requests there are for what, and the device.
func (r *SendRing) String() string { return r.lifetime().text() }

func (r *SendRing) lifetime() *life {
	if r == nil {
		return nil
	}
	return r.l
}
