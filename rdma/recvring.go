package rdma

import (
	"math"
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

// has reports whether a WRID is that of a completion of the ring's that was not
// given back.
func (r *RecvRing) has(id uint64) bool {
	slot := id & slotMask
	return slot < uint64(len(r.wrs)) && r.wrs[slot].WRID == id
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
	head, tail, unknown := r.head, r.tail, r.unknown
	r.unknown += r.pending() // which are not posted, so that Posted stays
	r.head, r.tail = 0, nil
	return func() { r.head, r.tail, r.unknown = head, tail, unknown }
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
