package rdma

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// slot is a number of less than two rounds as that of a slot.
func (r *SendRing) slot(number int) int {
	if n := len(r.wrs); number >= n {
		return number - n
	}
	return number
}

// Post posts all that was added since the last Post, in one call. When the
// provider refuses one of them, those before it are posted, and the next Post goes
// on with it: nothing is lost. When it is not known how many were accepted
// ([ibv.ErrAcceptedUnknown]), the ring takes all for posted, for none may be posted
// twice; if it was full, and none that is signalled was accepted, only a new queue
// pair and ring will do. Beyond the most that have been outstanding at once, a few
// more are signalled than one in so many: the queue may take fewer than it has
// promised, and must not get full of work whose end nobody would hear of.
func (r *SendRing) Post() error {
	if len(r.wrs) == 0 {
		return r.closedError("post")
	}
	if r.posted == r.added {
		return nil
	}
	signalled := r.signal()
	if *r.state < ibv.QPSRTS {
		return r.postSlowly(signalled)
	}
	last := r.linkOf(r.slot(r.next + len(r.wrs) - 1))
	successor := *last
	*last = 0
	bad, err := r.qp.raw.PostSend(&r.wrs[r.first])
	*last = successor
	if bad != nil {
		r.cutShort(r.slot(r.indexOf(bad) + len(r.wrs) - r.first))
		return err
	}
	return r.allPosted(signalled, err)
}

// indexOf is the slot of a work request of the ring's.
func (r *SendRing) indexOf(wr *ibv.SendWR) int {
	return int((uintptr(unsafe.Pointer(wr)) - uintptr(unsafe.Pointer(&r.wrs[0]))) / unsafe.Sizeof(ibv.SendWR{}))
}

// postSlowly is Post where something is to be looked at first.
func (r *SendRing) postSlowly(signalled uint64) error {
	if r.qp.raw.State < ibv.QPSRTS && !r.qp.unknownState() {
		return r.qp.l.failed("post sends of a ring to", syscall.EINVAL, "it sends nothing before RTS: see ToRTS")
	}
	// In the way of the handle, which looks at each, up to the end of the circle, and
	// from its start.
	for r.posted != r.added {
		count := min(int(r.added-r.posted), len(r.wrs)-r.first)
		accepted, err := r.qp.PostSendRange(r.chain, r.first, r.first+count)
		if accepted < 0 {
			return r.allPosted(signalled, err)
		}
		r.cutShort(accepted)
		if err != nil {
			return err
		}
	}
	return r.allPosted(signalled, nil)
}

// allPosted takes note of a post of all that was added, of which it is not known how
// much was taken if there is an error.
func (r *SendRing) allPosted(signalled uint64, err error) error {
	r.posted, r.first, r.signalled = r.added, r.next, signalled
	if err != nil {
		// Perhaps none of those that are signalled is in the queue.
		r.signalled, r.proven = r.done, 0
		return err
	}
	r.proven = max(r.proven, r.posted-r.done)
	return nil
}

// signal has more of the work requests to be posted signalled than those whose turn
// it was: one that may be the last that the queue takes, when nothing outstanding
// would tell its end. It returns the number behind the last signalled one.
func (r *SendRing) signal() (signalled uint64) {
	signalled = r.signalled
	slot := r.first
	for number := r.posted; number < r.added; number++ {
		wr := &r.wrs[slot]
		if signalled <= r.done && number+1-r.done >= r.proven {
			wr.SendFlags |= ibv.SendSignaled
		}
		if wr.SendFlags&ibv.SendSignaled != 0 {
			signalled = number + 1
		}
		slot = r.slot(slot + 1)
	}
	return signalled
}

// cutShort takes note of a post of which the queue took the first n.
func (r *SendRing) cutShort(n int) {
	for range n {
		r.posted++
		if r.wrs[r.first].SendFlags&ibv.SendSignaled != 0 {
			r.signalled = r.posted
		}
		r.first = r.slot(r.first + 1)
	}
	r.proven = r.posted - r.done // and no more, now
}
