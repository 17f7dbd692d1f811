package ibv

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// RecvChain is receive work requests that are built once, patched in place, and
// posted in one call, whole or in part, as often as one likes. It may be posted
// again at once: the work requests are the caller's again when a post returns,
// only the buffers are the device's. One goroutine at a time may use it.
type RecvChain struct {
	_ noCopy

	whole ccall.List
	list  chain[RecvWR]
}

// NewRecvChain makes a chain of n receive work requests with room for maxSGE
// scatter/gather entries each. They start with no entries, which receives empty
// messages, and with their index as WRID.
func NewRecvChain(n, maxSGE int) (*RecvChain, error) {
	c, err := newChain[RecvWR]("receive", n, maxSGE)
	if err != nil {
		return nil, err
	}
	c.linkAll(0, n, false)
	return &RecvChain{whole: c.whole(), list: c}, nil
}

// RecvChain makes a chain of n receives of size bytes each: buffers one behind
// the other, from the start of the region on. Work request i has i as WRID, and
// the size bytes that begin at i*size. It is [NewRecvChain] and a Set for each in
// one, and takes half as long when there are many. Where size is 0, the work
// requests have no entries: to some devices, an entry of 0 bytes has 2 GiB. The
// error says that the region is not that long.
func (mr *MR) RecvChain(n, size int) (*RecvChain, error) {
	act := action{op: fmt.Sprintf("make a chain of %d receives of %d bytes", n, size)}
	if size < 0 || size > math.MaxUint32 {
		return nil, act.invalid("a receive has 0 to %d bytes", uint32(math.MaxUint32))
	}
	if size > 0 && uint64(max(n, 0)) > uint64(mr.Length)/uint64(size) {
		return nil, act.invalid("the memory region has %d bytes", mr.Length)
	}
	if size == 0 {
		return NewRecvChain(n, 0)
	}
	c, err := newChain[RecvWR]("receive", n, 1)
	if err != nil {
		return nil, err
	}
	// What has just been linked is still in the processor's cache.
	const batch = 256
	for first := 0; first < n; first += batch {
		end := min(first+batch, n)
		c.linkAll(first, end, true)
		sges, wrs := c.sges[first:end], c.wrs[first:end]
		for i := range wrs {
			wrs[i].NumSGE = 1
			sges[i] = SGE{Addr: uint64(mr.Addr) + uint64((first+i)*size), Length: uint32(size), LKey: mr.LKey}
		}
	}
	return &RecvChain{whole: c.whole(), list: c}, nil
}

// Len is the number of work requests.
func (c *RecvChain) Len() int { return len(c.list.wrs) }

// WR is work request i, from 0, to be read and patched in place at any time that
// the chain is not being posted. Its Next and SGList belong to the chain: do not
// write them; SGList is nil as long as Set has given it no entries. The collector
// does not look into a chain: a pointer of yours there would keep nothing alive,
// and storing another over it could end the program. Like an index of a slice, i
// must be there. The pointer keeps the chain's memory alive.
func (c *RecvChain) WR(i int) *RecvWR { return &c.list.wrs[i] }

// WRs is all work requests, as WR has each: one block of memory, in which they lie
// one behind the other. Who posts them in another way than by the chain may link
// them anew, for as long as the chain itself is not posted.
func (c *RecvChain) WRs() []RecvWR { return c.list.wrs }

// Set gives work request i its number and its buffers, in order. The error says
// that there is no such work request or no room for so many entries; nothing is
// changed then.
func (c *RecvChain) Set(i int, wrID uint64, sges ...SGE) error {
	l := &c.list
	if !l.has(i, len(sges)) {
		return l.notSet(i, len(sges))
	}
	wr := &l.wrs[i]
	wr.WRID, wr.NumSGE = wrID, int32(len(sges))
	l.setSGEs(i, sges)
	return nil
}

// SetSGE is Set for one buffer, which most work requests have. It is faster.
func (c *RecvChain) SetSGE(i int, wrID uint64, sge SGE) error {
	l := &c.list
	if !l.has(i, 1) {
		return l.notSet(i, 1)
	}
	wr := &l.wrs[i]
	wr.WRID, wr.NumSGE = wrID, 1
	l.setSGE(i, sge)
	return nil
}

// Post posts the whole chain to the receive queue of qp. It returns how many work
// requests the provider accepted: all of them when err is nil. Otherwise the one
// with that index was refused, the ones before it are posted and will complete,
// and PostRange goes on from there. accepted is -1 when the provider did not say,
// and the error is [ErrAcceptedUnknown] then.
//
// The errno is the provider's, syscall.ENOMEM for a full queue. A queue pair with
// a shared receive queue gives [ErrSRQAttached]: use PostSRQ. Nothing is
// allocated, whatever the result. See ibv_post_recv(3).
func (c *RecvChain) Post(qp *QP) (accepted int, err error) {
	if ccall.RaceDetector {
		c.list.posting(0, c.whole.Len)
	}
	// Safe: C gets its own object, and a list that lives until the call is over.
	return ccall.PostList(uintptr(qp.Context.Ops.PostRecv), unsafe.Pointer(qp), &c.whole, unsafe.Pointer(qp.SRQ), recvListRefused)
}

// PostRange is Post for the work requests from first on and before end, to a queue
// pair or a shared receive queue. An empty range is a success, whatever the queue.
// accepted counts from first.
func (c *RecvChain) PostRange(to RecvQueue, first, end int) (accepted int, err error) {
	q := to.recvQueue()
	if q.attached() && first != end {
		return 0, ErrSRQAttached
	}
	object, postFn := q.object()
	return c.list.postRange(q.op(), *postFn, object, first, end)
}

// PostSRQ is Post for a shared receive queue. See ibv_post_srq_recv(3).
func (c *RecvChain) PostSRQ(srq *SRQ) (accepted int, err error) {
	if ccall.RaceDetector {
		c.list.posting(0, c.whole.Len)
	}
	// Safe: C gets its own object, and a list that lives until the call is over.
	return ccall.PostList(uintptr(srq.Context.Ops.PostSRQRecv), unsafe.Pointer(srq), &c.whole, nil, srqRecvListRefused)
}

// What a refusal of each post means.

func recvListRefused(l *ccall.List, result, errno int32, bad uintptr) (int, error) {
	if errno == ccall.NotAsked && l.Len > 0 {
		return 0, ErrSRQAttached
	}
	return listRefused[RecvWR](opPostRecv, l, result, errno, bad)
}

func srqRecvListRefused(l *ccall.List, result, errno int32, bad uintptr) (int, error) {
	return listRefused[RecvWR](opPostSRQRecv, l, result, errno, bad)
}
