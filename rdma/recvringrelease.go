package rdma

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

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
	*tail = uintptr(unsafe.Pointer(wr)) // safe: as in linkOf
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

// Flush posts the buffers that were given back, in one call. Its errors are as
// those of PollWC.
func (r *RecvRing) Flush() error {
	_, err := r.oneByOne(nil)
	return err
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
