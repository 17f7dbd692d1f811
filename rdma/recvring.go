package rdma

import (
	"errors"
	"fmt"
	"math"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// RecvRing keeps receives posted on a queue pair or a shared receive queue: so many
// buffers in one memory region, each of which is posted, filled and waiting to be
// taken, or in the caller's hands. Buffers that are given back are posted again
// in batches, by the next poll. Nothing is allocated after it is made. One
// goroutine at a time may use it.
//
// There are three ways to take messages, which may be mixed. Poll, Wait and Release
// hand out each completion with its message. PollWC and ReleaseWC leave completions
// where C puts them, in memory of the caller's, and Data finds the message of
// one; that is faster. Both want a completion queue that has nothing but the ring's
// receives. On one that serves many rings and queue pairs, the caller polls it, or
// waits for it, and Handle takes those of the ring: its buffers are given back by
// Release or ReleaseWC, and posted by Flush. [Rings] tells whose a completion is.
//
// A peer that sends without a receive being posted is told to wait, for much longer
// than a message takes. It never has to, if it is told what Posted is, again and
// again, and sends no more than that: see [SendRing.SetLimit].
//
// The device writes to the buffers for as long as there is the queue pair, or the
// shared receive queue. So that is the ring's child, and is closed before the ring:
// closing the ring first is an error, and CloseAll keeps to the order. When it is
// closed, polling and releasing are [ErrClosed], and messages that are out stay
// readable until the ring is closed too.
type RecvRing struct {
	_ noCopy

	wrs []ibv.RecvWR // of chain; work request i is for buffer i
	// What was given back is linked from head on, to be posted. tail is where the
	// next one's address goes. It is nil when the ring is closed, or what it posts to.
	head uintptr
	tail *uintptr

	pair   ccall.Pair   // a post to queue and a poll of cq
	state  *ibv.QPState // RESET says that only the slow way will do
	late   error        // of the first post, for the next one to tell
	body   []byte       // where the first message goes, and all that is behind it
	stride int          // from one message to the next
	size   int          // of a message at most
	header int          // how long what stands in front of a message is
	// released is how many buffers were ever given back, all of them at first; of
	// unknown ones it is not known whether they were posted then.
	released, unknown uint64
	tag               uint64
	wcs               []ibv.WC
	chain             *ibv.RecvChain
	queue             recvQueue
	cq                *CQ
	l                 *life
}

// RecvRingOptions are what a receive ring is made with. The zero value is what many
// programs want.
type RecvRingOptions struct {
	// Buffers is how many there are; 0 is as many as the receive queue takes and the
	// completion queue has room for.
	Buffers int
	// Size is how long a message can be, in bytes; 0 is 4096. The 40 bytes that stand
	// in front of a UD message come on top of it.
	Size int
	// UD says, of a shared receive queue, that it is for UD queue pairs. Of other
	// queue pairs it is known.
	UD bool
}

const (
	defaultSize = 4096
	// maxRing is how many bytes a ring has at most. Without a limit, a number that is
	// a mistake would end the program for lack of memory.
	maxRing = 1 << 30
	// pollBatch is how many completions a ring takes at once into memory of its own.
	pollBatch = 64
)

// slowWay is a state in which a ring takes the slow way.
var slowWay = ibv.QPSReset

// NewRecvRing makes a ring of buffers and posts all of them to qp, which is in INIT
// or a later state. The caller closes the ring, after the queue pair. A queue pair
// with a shared receive queue gives [ibv.ErrSRQAttached]. A ring does not outlive a
// reset of its queue pair.
//
// With an error, there is no ring, and nothing was posted. Where other receives
// were posted before, so that the queue takes some of the buffers only, they are
// the device's from then on: the ring is returned without an error then. The next
// Flush or poll posts the rest, or says why that cannot be done.
func NewRecvRing(qp *QP, opts RecvRingOptions) (*RecvRing, error) {
	const op = "make a receive ring on"
	if err := qp.lifetime().check(op); err != nil {
		return nil, err
	}
	switch {
	case qp.raw.SRQ != nil:
		return nil, qp.l.failed(op, ibv.ErrSRQAttached, "use NewSRQRecvRing")
	case qp.raw.State == ibv.QPSReset:
		return nil, qp.l.failed(op, syscall.EINVAL, notInReset)
	case qp.recvCQ == nil:
		return nil, qp.l.failed(op, syscall.EINVAL, "it was adopted without its completion queue for receives")
	}
	opts.UD = qp.raw.QPType == ibv.QPTUD
	has := ibv.SRQAttr{MaxWR: qp.cap.MaxRecvWR, MaxSGE: qp.cap.MaxRecvSGE}
	return newRecvRing(recvQueue{qp: qp}, qp.pd, qp.recvCQ, opts, has)
}

// NewSRQRecvRing is NewRecvRing for a shared receive queue. cq is the completion
// queue for the receives of all queue pairs that use it.
func NewSRQRecvRing(srq *SRQ, cq *CQ, opts RecvRingOptions) (*RecvRing, error) {
	const op = "make a receive ring on"
	if err := srq.lifetime().check(op); err != nil {
		return nil, err
	}
	if cq == nil {
		return nil, srq.l.failed(op, syscall.EINVAL, "the completion queue is missing")
	}
	if err := cq.l.check(op); err != nil {
		return nil, err
	}
	return newRecvRing(recvQueue{srq: srq}, srq.pd, cq, opts, srq.attr)
}

// newRecvRing makes a ring and posts it to a queue, of which is known what it
// has. What cannot work is found out before, as far as it can be, because what is
// posted stays with the device.
func newRecvRing(queue recvQueue, pd *PD, cq *CQ, opts RecvRingOptions, has ibv.SRQAttr) (*RecvRing, error) {
	n, size, header := opts.Buffers, opts.Size, 0
	if n == 0 {
		n = min(int(has.MaxWR), int(cq.raw.CQE))
	}
	if size == 0 {
		size = defaultSize
	}
	if opts.UD {
		header = ibv.GRHLength
	}
	on := queue.life().text()
	failed := func(errno syscall.Errno, format string, args ...any) error {
		return &Error{Op: fmt.Sprintf("make a ring of %d receive buffers of %d bytes on", n, size), On: on, Err: errno, Hint: fmt.Sprintf(format, args...)}
	}
	switch {
	case n < 1 || size < 1 || size > maxRing || n > maxRing/(size+header):
		return nil, failed(syscall.EINVAL, "it has at least one buffer of at least one byte, and at most 1 GiB in all")
	case n > int(cq.raw.CQE):
		return nil, failed(syscall.ENOMEM, "the completion queue has room for %d", cq.raw.CQE)
	case n > int(has.MaxWR):
		return nil, failed(syscall.ENOMEM, "the receive queue has room for %d", has.MaxWR)
	case has.MaxSGE < 1:
		return nil, failed(syscall.EINVAL, "the receive queue was made for receives without scatter/gather entries, and a buffer takes one")
	}
	l, err := begin("receive ring", pd, cq)
	if err != nil {
		return nil, err
	}
	r := &RecvRing{queue: queue, cq: cq, l: l, stride: size + header, size: size, header: header, wcs: make([]ibv.WC, min(n, pollBatch))}
	free, err := r.allocate(pd, n)
	if err != nil {
		l.abandon()
		return nil, err
	}
	r.pair.PostFn, r.pair.Object = queue.post()
	r.pair.PollFn, r.pair.CQ = uintptr(cq.raw.Context.Ops.PollCQ), unsafe.Pointer(cq.raw)
	r.state = queue.state()
	if checked {
		r.state = &slowWay
	}
	// All of it is given back, in order.
	r.head, r.tail, r.released = uintptr(unsafe.Pointer(&r.wrs[0])), linkOf(&r.wrs[n-1]), uint64(n)
	live(l, r, fmt.Sprintf("of %d buffers for %s", n, queue.name()), free, (*RecvRing).retire)
	if err := queue.adopt(r); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if err = r.Flush(); err == nil {
		return r, nil
	}
	if r.head == uintptr(unsafe.Pointer(&r.wrs[0])) {
		// The device has none of it.
		queue.disown(r)
		return nil, errors.Join(err, r.Close())
	}
	if r.head == 0 {
		r.late = err // nothing is left to try, so that nothing else would tell
	}
	return r, nil
}

// allocate makes the buffers, and the chain of receives into them. It returns what
// frees them.
func (r *RecvRing) allocate(pd *PD, n int) (free func() error, err error) {
	buf, err := ibv.AllocBuffer(n * r.stride)
	if err != nil {
		return nil, err
	}
	mr, err := pd.raw.RegMR(buf, ibv.AccessLocalWrite)
	if err != nil {
		return nil, errors.Join(err, buf.Free())
	}
	access := ibv.AccessLocalWrite
	deregister := checkRegion(r.l, pd.l, mr, &registration{plain: &access}, mr.Close)
	if r.chain, err = mr.RecvChain(n, r.stride); err != nil {
		return nil, errors.Join(err, deregister(), buf.Free())
	}
	tag, err := newTag()
	if err != nil {
		return nil, errors.Join(err, deregister(), buf.Free())
	}
	r.tag, r.wrs, r.body = tag, r.chain.WRs(), buf[r.header:]
	for i := range r.wrs {
		r.wrs[i].WRID = ticket(tag, uint64(i))
	}
	return func() error {
		if mr != nil {
			if err := deregister(); err != nil {
				return err
			}
			mr = nil
		}
		if err := buf.Free(); err != nil {
			return err
		}
		freeTag(tag)
		return nil
	}, nil
}

// linkOf is where a work request has the address of its successor.
func linkOf(wr *ibv.RecvWR) *uintptr {
	// Safe: Next is a number, because it is in memory that the collector does not
	// look into, and points into the same block, which the ring keeps.
	return (*uintptr)(unsafe.Pointer(&wr.Next))
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
// again by the next poll. But after [ibv.ErrAcceptedUnknown], all of them are taken
// for posted, because none may be posted twice. What else completes on the ring's
// completion queue is in wcs, too: Data is nil then.
//
// wcs is the caller's. Make it once: the ring may hold a pointer to it until the next
// poll, so that it is not on the stack.
func (r *RecvRing) PollWC(wcs []ibv.WC) (int, error) {
	if r.head == 0 || len(wcs) == 0 || r.late != nil || *r.state == ibv.QPSReset {
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
	p.Make()
	if p.PostResult != 0 || p.Bad != 0 || uint32(p.Got) > uint32(p.Room) {
		return r.failed()
	}
	r.head, r.tail = 0, &r.head
	return int(p.Got), nil
}

// Data is the message of a completion that PollWC took. It is the caller's until
// the completion is given back. It is empty when the completion has failed, see
// [ibv.WC.Err], and when an RDMA write with immediate data used up the receive,
// Opcode [ibv.WCRecvRDMAWithImm]: what ByteLen counts is where the peer wrote it.
// It is nil when the completion is not one of the ring's, or was given back.
func (r *RecvRing) Data(wc *ibv.WC) []byte {
	slot := wc.WRID & slotMask
	if slot >= uint64(len(r.wrs)) || r.wrs[slot].WRID != wc.WRID {
		return nil
	}
	return r.message(int(slot), wc)
}

// message is the part of a buffer that a completion filled.
func (r *RecvRing) message(slot int, wc *ibv.WC) []byte {
	length := 0
	if wc.Status == ibv.WCSuccess && wc.Opcode != ibv.WCRecvRDMAWithImm {
		length = max(min(int(wc.ByteLen)-r.header, r.size), 0)
	}
	return r.body[slot*r.stride:][:length:r.size]
}

// Handle is the message of a completion that the caller has taken off the completion
// queue. own is false, and nothing is done, if it is not one of the ring's, or was
// given back.
func (r *RecvRing) Handle(wc *ibv.WC) (m Received, own bool) {
	data := r.Data(wc)
	if data == nil {
		return Received{}, false
	}
	return Received{WC: *wc, Data: data}, true
}

// Posted is how many buffers were posted since the ring was made, each counted as
// often as that. It grows when buffers are really posted, by Flush and by polls, and
// not when they are given back. So a peer may send as many messages in all, if
// nothing else sends to the same receive queue.
func (r *RecvRing) Posted() uint64 { return r.released - r.unknown - r.pending() }

// pending is how many buffers were given back and are not posted.
func (r *RecvRing) pending() (n uint64) {
	if r.head == 0 {
		return 0
	}
	wr := r.first()
	for n = 1; linkOf(wr) != r.tail; n++ {
		// Safe: it is the address of another of the ring's.
		wr = (*ibv.RecvWR)(unsafe.Add(unsafe.Pointer(wr), *linkOf(wr)-uintptr(unsafe.Pointer(wr))))
	}
	return n
}

// Header is the 40 bytes that stand in front of a UD message, of a completion for
// which Data is not nil. They are its GRH if its WCFlags have [ibv.WCGRH], and mean
// nothing otherwise. It is nil where there is none.
func (r *RecvRing) Header(wc *ibv.WC) []byte {
	slot := wc.WRID & slotMask
	if r.header == 0 || !r.has(wc.WRID) {
		return nil
	}
	message := unsafe.Pointer(&r.body[int(slot)*r.stride])
	// Safe: a header is in front of each message, in the same buffer.
	return unsafe.Slice((*byte)(unsafe.Add(message, -r.header)), r.header)
}

// ReleaseWC gives the buffers of completions back. They are posted again by the
// next poll or Flush, all in one call. The error says that a completion was given
// back before, or is not one of the ring's. The buffers of all others are given
// back.
func (r *RecvRing) ReleaseWC(wcs ...ibv.WC) error {
	wrs, tail := r.wrs, r.tail
	if tail == nil {
		return r.closedError("release a buffer of")
	}
	for i := range wcs {
		id := wcs[i].WRID
		slot := id & slotMask
		if slot >= uint64(len(wrs)) || wrs[slot].WRID != id {
			rest := wcs[i:]
			r.released += uint64(i)
			return r.releaseRest(tail, len(rest), func(k int) uint64 { return rest[k].WRID })
		}
		tail = giveBack(&wrs[slot], id+oneLap, tail)
	}
	r.tail = tail
	r.released += uint64(len(wcs))
	return nil
}

// giveBack gives a work request another number, and links it behind tail.
func giveBack(wr *ibv.RecvWR, id uint64, tail *uintptr) *uintptr {
	wr.WRID = id
	*tail = uintptr(unsafe.Pointer(wr))
	return linkOf(wr)
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
	r.released += uint64(n - wrong)
	return r.l.failed("release a buffer of", syscall.EINVAL,
		fmt.Sprintf("the completion with WRID %#x was given back before, or is not one of the ring's; %d such in all", ids(0), wrong))
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

// first is the first of what was given back, of which there is some.
func (r *RecvRing) first() *ibv.RecvWR {
	// Safe: head is the address of a work request of the ring's.
	start := unsafe.Pointer(unsafe.SliceData(r.wrs))
	return (*ibv.RecvWR)(unsafe.Add(start, r.head-uintptr(start)))
}

// retire has everything say that the ring is closed, and Data find nothing, until
// that is taken back.
func (r *RecvRing) retire() (revive func()) {
	wrs, back := r.wrs, r.stop()
	r.wrs = nil
	return func() {
		r.wrs = wrs
		back()
	}
}

// stop has polls and releases say that something is closed, until that is taken
// back.
func (r *RecvRing) stop() (back func()) {
	head, tail := r.head, r.tail
	r.head, r.tail = 0, nil
	return func() { r.head, r.tail = head, tail }
}

// closedError says what is closed: the ring, or what it posts to.
func (r *RecvRing) closedError(op string) error {
	if err := r.l.check(op); err != nil {
		return err
	}
	return r.queue.life().check(op)
}

// Close frees the buffers: looking at a message is a fault then. The queue pair, or
// the shared receive queue, is closed before: see [Object].
func (r *RecvRing) Close() error { return r.lifetime().close() }

// CloseAll closes the queue pair or the shared receive queue, and then the ring: see
// [Object].
func (r *RecvRing) CloseAll() error { return r.lifetime().closeAll() }

// String is the kind, how many buffers there are for what, and the device.
func (r *RecvRing) String() string { return r.lifetime().text() }

func (r *RecvRing) lifetime() *life {
	if r == nil {
		return nil
	}
	return r.l
}
