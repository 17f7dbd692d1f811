package ibv

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv/internal/ccall"
)

// RecvRing keeps receives posted on a queue pair or a shared receive queue: n
// buffers in one memory region, all of which are posted, filled and waiting to be
// taken, or in the caller's hands. Buffers that are given back are posted again
// in batches, by the next Poll. Nothing is allocated after it is made. One
// goroutine at a time may use it.
type RecvRing struct {
	chain   *RecvChain // in which only those of a post are linked, for it
	queue   recvQueue
	cq      *CQ
	pair    ccall.Pair // a post to the one and a poll of the other
	mr      *MR
	buf     Buffer
	size    int
	tag     uint64 // in the high half of each WRID; the low half is the buffer
	wcs     []WC
	pending []int // given back and not posted yet, in that order
	holders []holder
	laps    []uint64 // how often each buffer was handed out
}

// holder is who has a buffer.
type holder uint8

const (
	theRing   holder = iota // pending
	theDevice               // posted
	theCaller               // handed out
)

// rings counts the receive rings made, for their tags.
var rings atomic.Uint32

// ringMark is added to the tags of all receive rings, so that a completion of
// anything else hardly has one.
const ringMark = 0x72676e << 40 // "rgn"

// Received is a buffer that a [RecvRing] hands out.
type Received struct {
	// WC is the completion. When it has failed, see [WC.Err], Data is empty.
	WC WC
	// Data is the message: ByteLen bytes, with [GRHLength] bytes of header in
	// front on a UD queue pair. It is the caller's until Release. It is empty when
	// an RDMA write with immediate data used up the receive, Opcode
	// [WCRecvRDMAWithImm]: what ByteLen counts is where the peer wrote it.
	Data []byte

	ring *RecvRing // whose buffer it is
	slot int
	lap  uint64 // how often the buffer was handed out before
}

// NewRecvRing makes a ring of n buffers of size bytes each, and posts all of them
// to qp, which is in INIT or a later state. On a UD queue pair, size is that of
// the message and [GRHLength] more. The completion queue of the receives must be
// theirs alone, with room for n: not that of the sends, too. The caller closes the
// ring, after the queue pair. A queue pair with a shared receive queue gives
// [ErrSRQAttached]. Where other receives were posted before, so that the queue
// takes some of the ring's only, the ring is returned with the error, to be closed
// in the same way. A ring does not outlive a reset of its queue pair.
func NewRecvRing(qp *QP, n, size int) (*RecvRing, error) {
	if qp.SRQ != nil {
		return nil, &srqAttached{"make a receive ring", "use NewSRQRecvRing"}
	}
	act := qp.action("make a receive ring on", nil)
	if qp.State == QPSReset {
		return nil, act.invalid("it takes no receives in RESET: move it to INIT first")
	}
	if qp.SendCQ == qp.RecvCQ {
		return nil, act.invalid("its sends complete on the same completion queue, which must be the ring's alone")
	}
	_, made, err := qp.Query(QPAttrMaskCap)
	if err != nil {
		return nil, err
	}
	r, err := newRecvRing(qp.PD, qp.RecvCQ, n, size, made.Cap.MaxRecvWR)
	if err != nil {
		return nil, err
	}
	r.queue = recvQueue{qp: qp}
	return r.fill()
}

// NewSRQRecvRing is NewRecvRing for a shared receive queue. cq is the completion
// queue for the receives of all queue pairs that use it.
func NewSRQRecvRing(srq *SRQ, cq *CQ, n, size int) (*RecvRing, error) {
	attr, err := srq.Query()
	if err != nil {
		return nil, err
	}
	r, err := newRecvRing(srq.PD, cq, n, size, attr.MaxWR)
	if err != nil {
		return nil, err
	}
	r.queue = recvQueue{srq: srq}
	return r.fill()
}

// pollBatch is how many completions are taken at once.
const pollBatch = 64

// newRecvRing makes a ring of which nothing is posted yet. A queue that has no
// room for all of it is found out here, because what is posted stays with the
// device.
func newRecvRing(pd *PD, cq *CQ, n, size int, room uint32) (*RecvRing, error) {
	act := pd.Context.action(fmt.Sprintf("make a ring of %d receive buffers of %d bytes", n, size), nil)
	if n < 1 || size < 1 || n > maxBlock/size {
		return nil, act.invalid("it has at least one buffer of at least one byte, and at most 1 GiB in all")
	}
	if cq == nil {
		return nil, act.invalid("the completion queue is missing")
	}
	if n > int(cq.CQE) {
		return nil, act.because(syscall.ENOMEM, "the completion queue has room for %d", cq.CQE)
	}
	if n > int(room) {
		return nil, act.because(syscall.ENOMEM, "the receive queue has room for %d", room)
	}
	buf, err := AllocBuffer(n * size)
	if err != nil {
		return nil, err
	}
	mr, err := pd.RegMR(buf, AccessLocalWrite)
	if err != nil {
		buf.Free()
		return nil, err
	}
	r := &RecvRing{cq: cq, mr: mr, buf: buf, size: size, tag: ringMark + uint64(rings.Add(1))<<32,
		wcs: make([]WC, min(n, pollBatch)), pending: make([]int, n), holders: make([]holder, n), laps: make([]uint64, n)}
	if r.chain, err = mr.RecvChain(n, size); err != nil {
		r.Close()
		return nil, err
	}
	for i := range n {
		r.pending[i] = i
		r.chain.WR(i).WRID |= r.tag
	}
	return r, nil
}

// fill posts all buffers of a new ring.
func (r *RecvRing) fill() (*RecvRing, error) {
	n := len(r.pending)
	err := r.Flush()
	if err == nil {
		return r, nil
	}
	// Those that were posted may be written to until the queue pair is closed: the
	// caller gets the ring to close it then.
	if n > len(r.pending) {
		return r, fmt.Errorf("ibv: make a ring of %d receive buffers: the queue took some of them, or may have, and keeps them until it is reset; it must have no other receives: %w", n, err)
	}
	r.Close()
	return nil, err
}

// Len is the number of buffers.
func (r *RecvRing) Len() int { return r.chain.Len() }

// Poll posts the buffers that were given back, and then takes up to len(into)
// completions off the queue, oldest first. It returns how many; 0 says that there
// are none now. It does not block. Each buffer handed out must be given back with
// Release. An error says that the posting or the polling itself has failed, or
// that a completion was not that of a posted buffer: messages up to the count are
// handed out all the same, and buffers that could not be posted are tried again by
// the next Poll; but after [ErrAcceptedUnknown], all of them are taken for posted,
// because none may be posted twice.
func (r *RecvRing) Poll(into []Received) (int, error) {
	n, err := r.flushAndPoll(r.wcs[:min(len(into), len(r.wcs))])
	var foreign error
	taken := 0
	for i := range r.wcs[:n] {
		wc := &r.wcs[i]
		place := wc.WRID - r.tag
		if place >= uint64(len(r.holders)) || r.holders[place] != theDevice {
			foreign = fmt.Errorf("ibv: poll receive ring: a completion with WRID %#x is not the ring's: its completion queue must be its own", wc.WRID)
			continue
		}
		slot := int(place)
		m := &into[taken]
		r.laps[slot]++
		m.WC, m.ring, m.slot, m.lap = *wc, r, slot, r.laps[slot]
		length := 0
		if wc.Status == WCSuccess && wc.Opcode != WCRecvRDMAWithImm {
			length = min(int(wc.ByteLen), r.size)
		}
		m.Data = r.buf[slot*r.size:][:length:r.size]
		r.holders[slot] = theCaller
		taken++
	}
	if err == nil {
		err = foreign
	}
	return taken, err
}

// Release gives buffers back. They are posted again by the next Poll or Flush,
// all in one call. A buffer that is not out is an error, and those before it
// are given back.
func (r *RecvRing) Release(received ...Received) error {
	for i := range received {
		slot := received[i].slot
		if received[i].ring != r || slot >= len(r.holders) || r.holders[slot] != theCaller || received[i].lap != r.laps[slot] {
			return action{op: "release receive buffer"}.invalid("it was given back before, or is not one of the ring's")
		}
		r.holders[slot] = theRing
		r.pending = append(r.pending, slot)
	}
	return nil
}

// Flush posts the buffers that were given back, in one call.
func (r *RecvRing) Flush() error {
	if len(r.pending) == 0 {
		return nil
	}
	op, slot, object, err := r.queue.post()
	if err != nil {
		return err
	}
	// Safe: C gets its own object, and a list that lives until the call is over.
	result, errno, bad := ccall.Post(slot, object, r.chain.list.linkRun(r.pending))
	return r.posted(op, result, errno, bad)
}

// flushAndPoll posts the buffers that were given back, and polls, in one crossing
// into C. Its error is that of the post, if both have one.
func (r *RecvRing) flushAndPoll(wcs []WC) (int, error) {
	if len(r.pending) == 0 {
		return r.cq.Poll(wcs)
	}
	if len(wcs) == 0 {
		return 0, r.Flush()
	}
	op, slot, object, err := r.queue.post()
	if err != nil {
		n, _ := r.cq.Poll(wcs)
		return n, err
	}
	// Safe: C gets its own objects, a list that lives until the call is over, and
	// room for as many completions as it is told.
	r.pair.PostFn, r.pair.Object, r.pair.List = slot, object, r.chain.list.linkRun(r.pending)
	r.pair.PollFn, r.pair.CQ, r.pair.Into, r.pair.Room = uintptr(r.cq.Context.Ops.PollCQ), unsafe.Pointer(r.cq), unsafe.Pointer(&wcs[0]), int32(len(wcs))
	r.pair.Make()
	err = r.posted(op, r.pair.PostResult, r.pair.PostErrno, r.pair.Bad)
	n := int(r.pair.Got)
	if n < 0 || n > len(wcs) {
		var pollErr error
		if n, pollErr = pollFailed(unsafe.Pointer(r.cq), r.pair.Got, r.pair.PollErrno, r.pair.Room); err == nil {
			err = pollErr
		}
	}
	return n, err
}

// posted takes note of what came of posting the pending buffers.
func (r *RecvRing) posted(op postOp, result, errno int32, bad uintptr) error {
	accepted, err := r.chain.list.acceptedPicked(op, r.pending, result, errno, bad)
	if accepted < 0 {
		// How many were taken is not known, and a buffer must not be posted twice:
		// all of them are left to their completions.
		accepted = len(r.pending)
	}
	for _, slot := range r.pending[:accepted] {
		r.holders[slot] = theDevice
	}
	r.pending = r.pending[:copy(r.pending, r.pending[accepted:])]
	return err
}

// Close frees the buffers. The queue pair must be closed, or reset, before: until
// then the device may write to them. A shared receive queue must be closed.
func (r *RecvRing) Close() error {
	if r.mr == nil {
		return action{op: "close receive ring"}.failed(syscall.EINVAL)
	}
	if err := r.mr.Close(); err != nil {
		return err
	}
	buf := r.buf
	r.mr, r.buf, r.pending, r.holders = nil, nil, nil, nil
	return buf.Free()
}
