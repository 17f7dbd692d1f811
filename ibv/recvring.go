package ibv

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// RecvRing keeps receives posted on a queue pair or a shared receive queue: n
// buffers in one memory region, each of which is posted, filled and waiting to be
// taken, or in the caller's hands. Buffers that are given back are posted again
// in batches, by the next poll. Nothing is allocated after it is made. One
// goroutine at a time may use it.
//
// There are two ways to take messages, which may be mixed. Poll and Release hand
// out each completion with its message. PollWC and ReleaseWC leave completions
// where C puts them, in memory of the caller's, and Data finds the message of
// one; that is faster. The second way does not ask who has polled: completions that
// the caller has taken off the queue, for several rings, say, are as good.
type RecvRing struct {
	_ noCopy

	wrs []RecvWR // of chain; work request i is for buffer i
	// What was given back is linked from head on, to be posted. tail is where the
	// next one's address goes.
	head uintptr
	tail *uintptr

	pair           ccall.Pair // a post to queue and a poll of cq
	postFn, pollFn *uintptr   // where the provider has its functions for them
	queue          recvQueue
	cq             *CQ
	late           error // of the first post, for the next one to tell
	wcs            []WC
	chain          *RecvChain
	mr             *MR
	buf            Buffer
	size           int
}

// The WRID of a buffer's work request is a ticket: the buffer's number, then a
// number of the ring, then how often the buffer was given back, the lap. Who has a
// completion with it has the buffer. So one comparison tells whether a completion is
// the ring's and was not given back, and nothing else has to be written down.

// Each has its bits, which are the same for all rings, so that no two have a ticket
// in common. No chain has more work requests than 1 GiB has room for.
const (
	slotBits = 25
	tagBits  = 20

	slotMask = 1<<slotBits - 1
	oneLap   = 1 << (slotBits + tagBits)
)

var _ = [1<<slotBits - maxBlock/(unsafe.Sizeof(RecvWR{})+unsafe.Sizeof(SGE{}))]struct{}{}

// ringMark is where laps begin to count, so that the WRID of anything else hardly
// is a ring's.
const ringMark = 0x72676e << 40 &^ (oneLap - 1) // "rgn"

// rings counts the receive rings made, for their numbers.
var rings atomic.Uint32

// NewRecvRing makes a ring of n buffers of size bytes each, and posts all of them
// to qp, which is in INIT or a later state. On a UD queue pair, size is that of
// the message and [GRHLength] more. The completion queue of the receives must be
// theirs alone, with room for n: not that of the sends, too. The caller closes the
// ring, after the queue pair. A queue pair with a shared receive queue gives
// [ErrSRQAttached]. A ring does not outlive a reset of its queue pair.
//
// With an error, there is no ring, and nothing was posted. Where other receives
// were posted before, so that the queue takes some of the buffers only, they are
// the device's from then on: the ring is returned without an error then. The next
// Flush or poll posts the rest, or says why that cannot be done.
func NewRecvRing(qp *QP, n, size int) (*RecvRing, error) {
	if qp == nil {
		return nil, action{op: "make a receive ring"}.invalid("the queue pair is missing")
	}
	if qp.SRQ != nil {
		return nil, &srqAttached{"make a receive ring", "use NewSRQRecvRing"}
	}
	act := qp.action("make a receive ring on", nil)
	switch {
	case qp.State == QPSReset:
		return nil, act.invalid("it takes no receives in RESET: move it to INIT first")
	case qp.SendCQ == qp.RecvCQ:
		return nil, act.invalid("its sends complete on the same completion queue, which must be the ring's alone")
	case qp.QPType == QPTUD && size > 0 && size < GRHLength:
		return nil, act.invalid("the first %d bytes of each buffer are for a header, and the buffers have %d: give them %[1]d more than the longest message", GRHLength, size)
	}
	_, made, err := qp.Query(QPAttrMaskCap)
	if err != nil {
		return nil, err
	}
	return newRecvRing(recvQueue{qp: qp}, qp.PD, qp.RecvCQ, n, size, SRQAttr{MaxWR: made.Cap.MaxRecvWR, MaxSGE: made.Cap.MaxRecvSGE})
}

// NewSRQRecvRing is NewRecvRing for a shared receive queue. cq is the completion
// queue for the receives of all queue pairs that use it. Where UD queue pairs are
// among them, size has room for [GRHLength] bytes of header, which is not checked.
func NewSRQRecvRing(srq *SRQ, cq *CQ, n, size int) (*RecvRing, error) {
	if srq == nil {
		return nil, action{op: "make a receive ring"}.invalid("the shared receive queue is missing")
	}
	has, err := srq.Query()
	if errors.Is(err, errors.ErrUnsupported) {
		// Then the queue itself tells how much it takes.
		has, err = SRQAttr{MaxWR: ^uint32(0), MaxSGE: 1}, nil
	}
	if err != nil {
		return nil, err
	}
	return newRecvRing(recvQueue{srq: srq}, srq.PD, cq, n, size, has)
}

// pollBatch is how many completions a ring takes at once into memory of its own.
const pollBatch = 64

// newRecvRing makes a ring and posts it to a queue, of which is known what it
// has. What cannot work is found out before, as far as it can be, because what is
// posted stays with the device.
func newRecvRing(queue recvQueue, pd *PD, cq *CQ, n, size int, has SRQAttr) (*RecvRing, error) {
	act := pd.Context.action(fmt.Sprintf("make a ring of %d receive buffers of %d bytes", n, size), nil)
	switch {
	case n < 1 || size < 1 || n > maxBlock/size:
		return nil, act.invalid("it has at least one buffer of at least one byte, and at most 1 GiB in all")
	case cq == nil:
		return nil, act.invalid("the completion queue is missing")
	case n > int(cq.CQE):
		return nil, act.because(syscall.ENOMEM, "the completion queue has room for %d", cq.CQE)
	case n > int(has.MaxWR):
		return nil, act.because(syscall.ENOMEM, "the receive queue has room for %d", has.MaxWR)
	case has.MaxSGE < 1:
		return nil, act.invalid("the receive queue was made for receives without scatter/gather entries, and a buffer takes one")
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
	r := &RecvRing{queue: queue, cq: cq, mr: mr, buf: buf, size: size, wcs: make([]WC, min(n, pollBatch))}
	if r.chain, err = mr.RecvChain(n, size); err != nil {
		r.Close()
		return nil, err
	}
	r.number()
	r.pair.Object, r.postFn = queue.object()
	// Safe: a function pointer of C's is a number here.
	r.pair.CQ, r.pollFn = unsafe.Pointer(cq), (*uintptr)(unsafe.Pointer(&cq.Context.Ops.PollCQ))
	// All of it is given back, in order.
	r.head, r.tail = uintptr(unsafe.Pointer(&r.wrs[0])), r.chain.list.nextOf(n-1)
	if err = r.Flush(); err == nil {
		return r, nil
	}
	if r.head == uintptr(unsafe.Pointer(&r.wrs[0])) {
		r.Close() // the device has none of it
		return nil, err
	}
	if r.head == 0 {
		r.late = err // nothing is left to try, so that nothing else would tell
	}
	return r, nil
}

// number gives the work requests of a new ring their WRIDs.
func (r *RecvRing) number() {
	r.wrs = r.chain.list.wrs
	tag := uint64(rings.Add(1)) << slotBits & (oneLap - 1)
	for i := range r.wrs {
		r.wrs[i].WRID |= tag | ringMark
	}
}

// Len is the number of buffers.
func (r *RecvRing) Len() int { return len(r.wrs) }

// PollWC posts the buffers that were given back, and then takes up to len(wcs)
// completions off the queue, oldest first, into wcs. It returns how many; 0 says
// that there are none now. It does not block. [RecvRing.Data] has the message of
// each. Each must be given back with ReleaseWC: a completion is the ticket for its
// buffer, and a copy of it is as good.
//
// An error says that the posting or the polling itself has failed; completions up
// to the count are taken all the same. Buffers that could not be posted are tried
// again by the next poll. But after [ErrAcceptedUnknown], all of them are taken for
// posted, because none may be posted twice. What else completes on the ring's
// completion queue is in wcs, too: Data is nil then.
//
// wcs is the caller's. Make it once: the ring may hold a pointer to it until the next
// poll, so that it is not on the stack.
func (r *RecvRing) PollWC(wcs []WC) (int, error) {
	if r.head == 0 || len(wcs) == 0 || r.late != nil || r.queue.notReady() {
		return r.oneByOne(wcs)
	}
	*r.tail = 0
	// Safe: C gets its own objects, a list that lives until the call is over, and
	// room for as many completions as it is told.
	p := &r.pair
	p.List = unsafe.Pointer(r.first())
	// The lock that C takes waits for all stores before it, so that looking costs less
	// than storing once more what is there.
	if into, room := unsafe.Pointer(unsafe.SliceData(wcs)), int32(min(len(wcs), math.MaxInt32)); p.Into != into || p.Room != room {
		p.Into, p.Room = into, room
	}
	if p.PostFn != *r.postFn || p.PollFn != *r.pollFn {
		p.PostFn, p.PollFn = *r.postFn, *r.pollFn
	}
	p.Make()
	if p.PostResult != 0 || p.Bad != 0 || uint32(p.Got) > uint32(p.Room) {
		return r.failed()
	}
	r.head, r.tail = 0, &r.head
	return int(p.Got), nil
}

// Data is the message of a completion that PollWC took: ByteLen bytes, with
// [GRHLength] bytes of header in front on a UD queue pair. It is the caller's until
// the completion is given back. It is empty when the completion has failed, see
// [WC.Err], and when an RDMA write with immediate data used up the receive, Opcode
// [WCRecvRDMAWithImm]: what ByteLen counts is where the peer wrote it. It is nil
// when the completion is not one of the ring's, or was given back.
func (r *RecvRing) Data(wc *WC) []byte {
	slot := wc.WRID & slotMask
	if slot >= uint64(len(r.wrs)) || r.wrs[slot].WRID != wc.WRID {
		return nil
	}
	return r.message(int(slot), wc)
}

// message is the part of a buffer that a completion filled.
func (r *RecvRing) message(slot int, wc *WC) []byte {
	length := 0
	if wc.Status == WCSuccess && wc.Opcode != WCRecvRDMAWithImm {
		length = min(int(wc.ByteLen), r.size)
	}
	return r.buf[slot*r.size:][:length:r.size]
}

// ReleaseWC gives the buffers of completions back. They are posted again by the
// next poll or Flush, all in one call. The error says that a completion was given
// back before, or is not one of the ring's. The buffers of all others are given
// back.
func (r *RecvRing) ReleaseWC(wcs ...WC) error {
	wrs, tail := r.wrs, r.tail
	if tail == nil {
		return &ringClosed{"release receive buffer"}
	}
	for i := range wcs {
		id := wcs[i].WRID
		slot := id & slotMask
		if slot >= uint64(len(wrs)) || wrs[slot].WRID != id {
			rest := wcs[i:]
			return r.releaseRest(tail, len(rest), func(k int) uint64 { return rest[k].WRID })
		}
		tail = giveBack(&wrs[slot], id+oneLap, tail)
	}
	r.tail = tail
	return nil
}

// giveBack gives a work request another number, and links it behind tail.
func giveBack(wr *RecvWR, id uint64, tail *uintptr) *uintptr {
	wr.WRID = id
	*tail = uintptr(unsafe.Pointer(wr))
	// Safe: Next is a number, because it is in memory that the collector does not
	// look into, and points into the same block, which the ring keeps.
	return (*uintptr)(unsafe.Pointer(&wr.Next))
}

// releaseRest goes on giving back n buffers, the first of which is not out. The
// WRIDs of their completions are those of ids.
func (r *RecvRing) releaseRest(tail *uintptr, n int, ids func(int) uint64) error {
	wrong := 0
	for k := range n {
		id := ids(k)
		if !r.has(id) {
			wrong++
			continue
		}
		tail = giveBack(&r.wrs[id&slotMask], id+oneLap, tail)
	}
	r.tail = tail
	return action{op: "release receive buffer"}.invalid("the completion with WRID %#x was given back before, or is not one of the ring's; %d such in all", ids(0), wrong)
}

// has reports whether a WRID is that of a completion of the ring's that was not
// given back.
func (r *RecvRing) has(id uint64) bool {
	slot := id & slotMask
	return slot < uint64(len(r.wrs)) && r.wrs[slot].WRID == id
}

// Flush posts the buffers that were given back, in one call. Its errors are as
// those of PollWC.
func (r *RecvRing) Flush() error {
	_, err := r.oneByOne(nil)
	return err
}

// oneByOne is PollWC where one of the calls is not to be made.
func (r *RecvRing) oneByOne(wcs []WC) (n int, err error) {
	if r.mr == nil {
		return 0, &ringClosed{"poll receive ring"}
	}
	err, r.late = r.late, nil
	switch {
	case r.head == 0:
	case r.queue.notReady():
		err = both(err, r.queue.notReadyError())
	default:
		*r.tail = 0
		// Safe: as in PollWC.
		result, errno, bad := ccall.Post(*r.postFn, r.pair.Object, unsafe.Pointer(r.first()))
		err = both(err, r.posted(result, errno, bad))
	}
	n, pollErr := r.cq.Poll(wcs)
	return n, both(err, pollErr)
}

// failed sorts out a pair of calls of which one has failed, or may have.
func (r *RecvRing) failed() (n int, err error) {
	p := &r.pair
	err = r.posted(p.PostResult, p.PostErrno, p.Bad)
	if uint32(p.Got) <= uint32(p.Room) {
		return int(p.Got), err
	}
	n, pollErr := pollFailed(p.CQ, p.Got, p.PollErrno, p.Room)
	return n, both(err, pollErr)
}

// first is the first of what was given back, of which there is some.
func (r *RecvRing) first() *RecvWR {
	// Safe: head is the address of a work request of the ring's.
	start := unsafe.Pointer(unsafe.SliceData(r.wrs))
	return (*RecvWR)(unsafe.Add(start, r.head-uintptr(start)))
}

// posted takes note of what came of posting the list from head on.
func (r *RecvRing) posted(result, errno int32, bad uintptr) error {
	if find(r.first(), bad) != nil {
		r.head = bad // and the tail stays
		return refusal(r.queue.op(), result, errno, true)
	}
	// How many were taken is not known if it failed, and a buffer must not be posted
	// twice: all of them are left to their completions.
	r.head, r.tail = 0, &r.head
	return refusal(r.queue.op(), result, errno, false)
}

// Close frees the buffers: looking at a message is a fault then. The queue pair
// must be closed, or reset, before: until then the device may write to them. A
// shared receive queue must be closed. With an error, the ring is as it was.
// Everything that is done with a closed ring gives [ErrRingClosed], a second
// Close too.
func (r *RecvRing) Close() error {
	if r.mr == nil {
		return &ringClosed{"close receive ring"}
	}
	if err := r.mr.Close(); err != nil {
		return err
	}
	buf := r.buf
	*r = RecvRing{}
	return buf.Free()
}
