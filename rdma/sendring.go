package rdma

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// SendRing sends with few completions: one work request in so many is signalled, or
// a few more, and its completion tells that all before it are done too. The ring
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
	limited      bool // there was a limit
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
	if !r.limited || posted > r.limit {
		r.limited, r.limit = true, posted
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
