package rdma

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

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
// or a later state; on iWARP in any, for C does not know it. The caller closes the
// ring, after the queue pair. A queue pair with a shared receive queue gives
// [ibv.ErrSRQAttached]. A ring does not outlive a reset of its queue pair.
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
	case qp.raw.State == ibv.QPSReset && !qp.unknownState():
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
		return nil, failed(syscall.EINVAL, "the completion queue has room for %d", cq.raw.CQE)
	case n > int(has.MaxWR):
		return nil, failed(syscall.EINVAL, "the receive queue has room for %d", has.MaxWR)
	case has.MaxSGE < 1:
		return nil, failed(syscall.EINVAL, "the receive queue was made for receives without scatter/gather entries, and a buffer takes one")
	}
	l, err := begin("receive ring", pd, cq)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	r := &RecvRing{queue: queue, cq: cq, l: l, stride: size + header, size: size, header: header, wcs: make([]ibv.WC, min(n, pollBatch))}
	free, err := r.allocate(pd, n)
	if err != nil {
		return nil, err
	}
	// Safe: C gets its own objects, and the numbers are of work requests that the ring
	// keeps, in memory that does not move.
	r.pair.PostFn, r.pair.Object = queue.post()
	r.pair.PollFn, r.pair.CQ = uintptr(cq.raw.Context.Ops.PollCQ), unsafe.Pointer(cq.raw)
	r.state = queue.state()
	if checked || r.pair.PostFn < ccall.FirstCode { // which a pair cannot call
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
