package rdma

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// ErrRingFull is the error of adding to a [SendRing] all of whose work requests
// are outstanding: poll it first. It is syscall.EAGAIN too.
var ErrRingFull = error(ringFull{})

type ringFull struct{}

func (ringFull) Error() string {
	return "rdma: add to send ring: all work requests are outstanding; poll the ring"
}
func (ringFull) Unwrap() error { return syscall.EAGAIN }

// SendRing sends with few completions: only one work request in so many is
// signalled, at least, and its completion tells that all before it are done too. The ring
// keeps count, so the send queue never fills up with work whose end nobody would
// hear of. One goroutine at a time may use it, and nothing else may post sends to
// the queue pair or poll its send completion queue.
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
	wcs                 []ibv.WC
	qp                  *QP
	cq                  *CQ
	l                   *life
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
// something fails, all of them complete; and it must serve nothing else. A ring
// does not outlive a reset of its queue pair. The caller closes it, before the queue
// pair or after it.
func NewSendRing(qp *QP, opts SendRingOptions) (*SendRing, error) {
	const op = "make a send ring on"
	if qp == nil {
		return nil, &Error{Op: op, On: "a queue pair", Err: syscall.EINVAL, Hint: "it is nil"}
	}
	if err := qp.l.check(op); err != nil {
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
	case qp.raw.SendCQ == qp.raw.RecvCQ:
		return nil, failed(syscall.EINVAL, "its receives complete on the same completion queue, which must be the ring's alone")
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
	r := &SendRing{wrs: chain.WRs(), chain: chain, every: uint64(every), qp: qp, cq: qp.sendCQ, l: l, wcs: make([]ibv.WC, min(n, pollBatch))}
	*r.linkOf(n - 1) = uintptr(unsafe.Pointer(&r.wrs[0]))
	r.state = &qp.raw.State
	if r.anyState() {
		r.state = &anyState
	}
	if checked {
		r.state = &slowWay
	}
	live(l, r, fmt.Sprintf("of %d work requests for queue pair %s", n, qp.l.name), nil, (*SendRing).retire)
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

// Add fills in the next work request: its operation, its flags, and its buffers
// in order. SendSignaled among the flags has it signalled although its turn is not
// come: the last one, say, before the caller waits until nothing is outstanding,
// for those behind the last signalled one are never known to be done. The result
// can be patched until Post, with a remote address or an address handle, without
// which a UD send is a fault in the provider; its WRID is the number that Done is
// compared with, and neither that nor SendSignaled is to be changed. The error is
// [ErrRingFull], or says that there are too many entries.
func (r *SendRing) Add(opcode ibv.WROpcode, flags ibv.SendFlags, sges ...ibv.SGE) (*ibv.SendWR, error) {
	if r.added-r.done >= uint64(len(r.wrs)) {
		if len(r.wrs) == 0 {
			return nil, r.closedError("add to")
		}
		return nil, ErrRingFull
	}
	// every is at most the ring's length, so that a full ring has a signalled one,
	// which will tell that there is room again.
	if r.added+1-r.turn >= r.every {
		flags |= ibv.SendSignaled
	}
	if err := r.chain.Set(r.next, r.added, opcode, flags, sges...); err != nil {
		return nil, err
	}
	// Nothing of the work request that had the slot before may live on.
	wr := &r.wrs[r.next]
	wr.SetImmData(0)
	// Safe: it is the rest of the work request.
	*(*[operandsSize]byte)(unsafe.Pointer(&wr.WR)) = [operandsSize]byte{}
	r.added++
	r.next = r.slot(r.next + 1)
	if flags&ibv.SendSignaled != 0 {
		r.turn = r.added
	}
	return wr, nil
}

// operandsSize is how long what only some operations have is: all that lies behind
// the immediate data.
const operandsSize = unsafe.Sizeof(ibv.SendWR{}) - unsafe.Offsetof(ibv.SendWR{}.WR)

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
	if r.qp.raw.State < ibv.QPSRTS && !r.anyState() {
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

// Poll takes completions off the send queue's completion queue, without
// blocking, and returns how many work requests are known to be done that were not
// before. An error is the queue's own, or the *[ibv.CompletionError] of the first
// work request that failed: those from it on may have failed too, and count as
// done. Completions of anything else than the ring's are in the error, too: a
// [ForeignError].
func (r *SendRing) Poll() (int, error) {
	if len(r.wrs) == 0 {
		return 0, r.closedError("poll")
	}
	before := r.done
	var foreign []ibv.WC
	n, err := r.cq.Poll(r.wcs)
	for i := range r.wcs[:n] {
		wc := &r.wcs[i]
		received := wc.Status == ibv.WCSuccess && wc.Opcode&ibv.WCRecv != 0
		if wc.WRID < r.done || wc.WRID >= r.posted || received || wc.QPNum != r.qp.raw.QPNum {
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
