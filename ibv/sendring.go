package ibv

import (
	"fmt"
	"syscall"
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
	chain *SendChain
	qp    *QP
	every uint64
	// Work requests are numbered from 0 on, for ever; each number is that of a
	// slot, modulo the ring's length. All below done have completed, all below
	// posted are posted, all below added are filled in.
	done, posted, added uint64
	signalled           uint64 // the number behind the last signalled one
	wcs                 []WC
	picked              []int
}

// NewSendRing makes a ring of n work requests with room for maxSGE
// scatter/gather entries each, of which one in every is signalled. n is at most
// the MaxSendWR of the queue pair, and every at most n. The queue pair must have
// been made with SQSigAll 0, and its send completion queue must have room for
// n, for when something fails, all of them complete; and it must serve nothing
// else. A ring does not outlive a reset of its queue pair.
func NewSendRing(qp *QP, n, maxSGE, every int) (*SendRing, error) {
	if every < 1 || every > n {
		return nil, qp.action("make a send ring on", nil).invalid("of %d work requests, one in %d cannot be signalled", n, every)
	}
	_, made, err := qp.Query(QPAttrMaskCap)
	if err != nil {
		return nil, err
	}
	if n > int(made.Cap.MaxSendWR) {
		return nil, qp.Context.action(fmt.Sprintf("make a send ring of %d work requests", n), nil).because(syscall.ENOMEM, "the send queue has room for %d", made.Cap.MaxSendWR)
	}
	act := qp.action("make a send ring on", nil)
	switch {
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
	return &SendRing{chain: chain, qp: qp, every: uint64(every), wcs: make([]WC, min(n, pollBatch)), picked: make([]int, 0, n)}, nil
}

// Len is the number of work requests.
func (r *SendRing) Len() int { return r.chain.Len() }

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
		return nil, ErrRingFull
	}
	slot := r.slot(r.added)
	// every is at most the ring's length, so that a full ring has a signalled one,
	// which will tell that there is room again.
	if r.added+1-r.signalled >= r.every {
		flags |= SendSignaled
	}
	if err := r.chain.Set(slot, r.added, opcode, flags, sges...); err != nil {
		return nil, err
	}
	// Nothing of the work request that had the slot before may live on.
	wr, fresh := r.chain.WR(slot), SendWR{}
	wr.immDataUnion, wr.WR, wr.QPType, wr.bindMWUnion = fresh.immDataUnion, fresh.WR, fresh.QPType, fresh.bindMWUnion
	r.added++
	if flags&SendSignaled != 0 {
		r.signalled = r.added
	}
	return wr, nil
}

func (r *SendRing) slot(number uint64) int { return int(number % uint64(r.Len())) }

// Post posts all that was added since the last Post, in one call. When the
// provider refuses one of them, those before it are posted, and the next Post goes
// on with it: nothing is lost. When it is not known how many were accepted
// ([ErrAcceptedUnknown]), the ring takes all for posted, for none may be posted
// twice.
func (r *SendRing) Post() error {
	if r.posted == r.added {
		return nil
	}
	r.picked = r.picked[:0]
	for number := r.posted; number < r.added; number++ {
		r.picked = append(r.picked, r.slot(number))
	}
	accepted, err := r.chain.PostPicked(r.qp, r.picked)
	if accepted < 0 {
		accepted = len(r.picked)
	}
	r.posted += uint64(accepted)
	return err
}

// Poll takes completions off the send queue's completion queue, without
// blocking, and returns how many work requests are known to be done that were not
// before. An error is the queue's own, or the *[CompletionError] of the first work
// request that failed: those from it on may have failed too, and count as done.
// Completions of anything else than the ring's are an error where there is no other.
func (r *SendRing) Poll() (int, error) {
	before := r.done
	var foreign error
	n, err := r.qp.SendCQ.Poll(r.wcs)
	for i := range r.wcs[:n] {
		wc := &r.wcs[i]
		received := wc.Status == WCSuccess && wc.Opcode&WCRecv != 0
		if wc.WRID < r.done || wc.WRID >= r.posted || received || wc.QPNum != r.qp.QPNum {
			foreign = fmt.Errorf("ibv: poll send ring: a completion with WRID %#x is not the ring's: its completion queue must be its own", wc.WRID)
			continue
		}
		r.done = wc.WRID + 1
		if err == nil {
			err = wc.Err()
		}
	}
	if err == nil {
		err = foreign
	}
	return int(r.done - before), err
}

// Done reports whether the work request with a number, its WRID, is known to be
// done, so that its buffers are the caller's again.
func (r *SendRing) Done(number uint64) bool { return number < r.done }
