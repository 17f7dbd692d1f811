package ibv

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// ErrRingFull is the error of adding to a [SendRing] all of whose work requests
// are outstanding: poll it first. It is syscall.EAGAIN too.
var ErrRingFull = error(&ringFull{})

type ringFull struct{}

func (*ringFull) Error() string {
	return "ibv: add to send ring: all work requests are outstanding; poll the ring"
}
func (*ringFull) Unwrap() error { return syscall.EAGAIN }

// SendRing sends with few completions: only one work request in so many is
// signalled, at least, and its completion tells that all before it are done too. The ring
// keeps count, so the send queue never fills up with work whose end nobody would
// hear of. One goroutine at a time may use it, and nothing else may post sends to
// the queue pair or poll its send completion queue.
type SendRing struct {
	_ noCopy

	chain *SendChain // linked in a circle
	qp    *QP
	every uint64
	// Work requests are numbered from 0 on, for ever; each number is that of a
	// slot, modulo the ring's length. All below done have completed, all below
	// posted are posted, all below added are filled in.
	done, posted, added uint64
	first, next         int    // the slots of posted and added
	turn                uint64 // the number behind the last one added that was to be signalled
	signalled           uint64 // the number behind the last one posted that is
	proven              uint64 // how many at once the queue is known to take
	wcs                 []WC
}

// NewSendRing makes a ring of n work requests with room for maxSGE
// scatter/gather entries each, of which one in every is signalled. n is at most
// the MaxSendWR of the queue pair, maxSGE at most its MaxSendSGE, and every at most
// n. The queue pair must have been made with SQSigAll 0, and its send completion
// queue must have room for n, for when something fails, all of them complete; and
// it must serve nothing else. A ring does not outlive a reset of its queue pair.
func NewSendRing(qp *QP, n, maxSGE, every int) (*SendRing, error) {
	if qp == nil {
		return nil, action{op: "make a send ring"}.invalid("the queue pair is missing")
	}
	act := qp.action("make a send ring on", nil)
	if every < 1 || every > n {
		return nil, act.invalid("of %d work requests, one in %d cannot be signalled", n, every)
	}
	_, made, err := qp.Query(QPAttrMaskCap)
	if err != nil {
		return nil, err
	}
	switch {
	case n > int(made.Cap.MaxSendWR):
		return nil, act.because(syscall.ENOMEM, "%d work requests are asked for, the send queue has room for %d", n, made.Cap.MaxSendWR)
	case maxSGE > int(made.Cap.MaxSendSGE):
		return nil, act.invalid("%d scatter/gather entries each are asked for, its work requests have at most %d", maxSGE, made.Cap.MaxSendSGE)
	case made.SQSigAll != 0:
		return nil, act.invalid("it was made with SQSigAll, which signals all sends")
	case qp.SendCQ == qp.RecvCQ:
		return nil, act.invalid("its receives complete on the same completion queue, which must be the ring's alone")
	case n > int(qp.SendCQ.CQE):
		return nil, act.because(syscall.ENOMEM, "the completion queue has room for %d", qp.SendCQ.CQE)
	}
	chain, err := NewSendChain(n, maxSGE)
	if err != nil {
		return nil, err
	}
	chain.list.link(n-1, 0)
	return &SendRing{chain: chain, qp: qp, every: uint64(every), wcs: make([]WC, min(n, pollBatch))}, nil
}

// Len is the number of work requests.
func (r *SendRing) Len() int {
	if r.chain == nil {
		return 0
	}
	return r.chain.Len()
}

// Outstanding is how many work requests are added and have not completed, as far
// as Poll has seen.
func (r *SendRing) Outstanding() int { return int(r.added - r.done) }

// Add fills in the next work request: its operation, its flags, and its buffers
// in order. SendSignaled among the flags has it signalled although its turn is not
// come: the last one, say, before the caller waits until nothing is outstanding,
// for those behind the last signalled one are never known to be done. The result
// can be patched until Post, with a remote address or an address handle, without
// which a UD send is a fault in the provider; its WRID is the number that Done is
// compared with, and neither that nor SendSignaled is to be changed. The error is
// [ErrRingFull], or says that there are too many entries.
func (r *SendRing) Add(opcode WROpcode, flags SendFlags, sges ...SGE) (*SendWR, error) {
	if r.Outstanding() == r.Len() {
		if r.chain == nil {
			return nil, &ringClosed{"add to send ring"}
		}
		return nil, ErrRingFull
	}
	// every is at most the ring's length, so that a full ring has a signalled one,
	// which will tell that there is room again.
	if r.added+1-r.turn >= r.every {
		flags |= SendSignaled
	}
	if err := r.chain.Set(r.next, r.added, opcode, flags, sges...); err != nil {
		return nil, err
	}
	// Nothing of the work request that had the slot before may live on.
	wr := r.chain.WR(r.next)
	wr.SetImmData(0)
	// Safe: it is the rest of the work request.
	*(*[operandsSize]byte)(unsafe.Pointer(&wr.WR)) = [operandsSize]byte{}
	r.added++
	r.next = r.slot(r.next + 1)
	if flags&SendSignaled != 0 {
		r.turn = r.added
	}
	return wr, nil
}

// operandsSize is how long what only some operations have is: all that lies behind
// the immediate data.
const operandsSize = unsafe.Sizeof(SendWR{}) - unsafe.Offsetof(SendWR{}.WR)

// slot is a number of less than two rounds as that of a slot.
func (r *SendRing) slot(number int) int {
	if n := r.Len(); number >= n {
		return number - n
	}
	return number
}

// Post posts all that was added since the last Post, in one call. When the
// provider refuses one of them, those before it are posted, and the next Post goes
// on with it: nothing is lost. When it is not known how many were accepted
// ([ErrAcceptedUnknown]), the ring takes all for posted, for none may be posted
// twice; if it was full, and none that is signalled was accepted, only a new queue
// pair and ring will do. Beyond the most that have been outstanding at once, a few
// more are signalled than one in so many: the queue may take fewer than it has
// promised, and must not get full of work whose end nobody would hear of.
func (r *SendRing) Post() error {
	if r.posted == r.added {
		if r.chain == nil {
			return &ringClosed{"post send ring"}
		}
		return nil
	}
	if r.qp.State < QPSRTS && !r.qp.Context.Device.isIWARP() {
		return r.qp.action("post sends of a ring to", nil).invalid("it sends nothing before RTS: see ToRTS")
	}
	signalled := r.signal()
	list, count := &r.chain.list, int(r.added-r.posted)
	last := list.nextOf(r.slot(r.next + r.Len() - 1))
	successor := *last
	*last = 0
	// Safe: C gets its own object, and a list that lives until the call is over.
	result, errno, bad := ccall.Post(uintptr(r.qp.Context.Ops.PostSend), unsafe.Pointer(r.qp), unsafe.Pointer(&list.wrs[r.first]))
	*last = successor
	if bad != 0 {
		i := index[SendWR](bad, unsafe.Pointer(&list.wrs[0]), len(list.wrs))
		if accepted := r.slot(i + r.Len() - r.first); i >= 0 && accepted < count {
			r.cutShort(accepted)
			return refusal(opPostSend, result, errno, true)
		}
	}
	r.posted, r.first, r.signalled = r.added, r.next, signalled
	if err := refusal(opPostSend, result, errno, false); err != nil {
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
		wr := &r.chain.list.wrs[slot]
		if signalled <= r.done && number+1-r.done >= r.proven {
			wr.SendFlags |= SendSignaled
		}
		if wr.SendFlags&SendSignaled != 0 {
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
		if r.chain.list.wrs[r.first].SendFlags&SendSignaled != 0 {
			r.signalled = r.posted
		}
		r.first = r.slot(r.first + 1)
	}
	r.proven = r.posted - r.done // and no more, now
}

// Poll takes completions off the send queue's completion queue, without
// blocking, and returns how many work requests are known to be done that were not
// before. An error is the queue's own, or the *[CompletionError] of the first work
// request that failed: those from it on may have failed too, and count as done.
// Completions of anything else than the ring's are in the error, too: a
// [ForeignError].
func (r *SendRing) Poll() (int, error) {
	if r.chain == nil {
		return 0, &ringClosed{"poll send ring"}
	}
	before := r.done
	var foreign []WC
	n, err := r.qp.SendCQ.Poll(r.wcs)
	for i := range r.wcs[:n] {
		wc := &r.wcs[i]
		received := wc.Status == WCSuccess && wc.Opcode&WCRecv != 0
		if wc.WRID < r.done || wc.WRID >= r.posted || received || wc.QPNum != r.qp.QPNum {
			foreign = append(foreign, *wc)
			continue
		}
		r.done = wc.WRID + 1
		if err == nil {
			err = wc.Err()
		}
	}
	if foreign != nil {
		err = both(err, &ForeignError{Op: "poll send ring", WCs: foreign})
	}
	return int(r.done - before), err
}

// Done reports whether the work request with a number, its WRID, is known to be
// done, so that its buffers are the caller's again.
func (r *SendRing) Done(number uint64) bool { return number < r.done }

// Close ends the use of the ring, so that nothing that is done with it reaches the
// queue pair, which may be closed before or after: everything gives
// [ErrRingClosed] then, a second Close too. Work that is outstanding stays so, and
// what was not posted never is. It frees nothing of C's, and need not be called.
func (r *SendRing) Close() error {
	if r.chain == nil {
		return &ringClosed{"close send ring"}
	}
	*r = SendRing{done: r.done, posted: r.done, added: r.done}
	return nil
}
