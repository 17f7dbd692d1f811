package rdma

import (
	"sync/atomic"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// The WRID of a buffer's work request is a ticket: the buffer's number, then a
// number of the ring, then how often the buffer was given back, the lap. Who has a
// completion with it has the buffer. So one comparison tells whether a completion is
// the ring's and was not given back, and nothing else has to be written down.

// Each has its bits, which are the same for all rings, so that no two have a ticket
// in common. No chain of 1 GiB has more work requests than they number.
const (
	slotBits = 25
	tagBits  = 20

	slotMask = 1<<slotBits - 1
	oneLap   = 1 << (slotBits + tagBits)
)

var _ = [1<<slotBits - (1<<30)/(unsafe.Sizeof(ibv.RecvWR{})+unsafe.Sizeof(ibv.SGE{}))]struct{}{}

// ringMark is where laps begin to count, so that the WRID of anything else hardly
// is a ring's.
const ringMark = 0x72676e << 40 &^ (oneLap - 1) // "rgn"

// rings counts the receive rings made, for their numbers.
var rings atomic.Uint32

// number gives the work requests of a new ring their WRIDs.
func (r *RecvRing) number() {
	tag := uint64(rings.Add(1)) << slotBits & (oneLap - 1)
	for i := range r.wrs {
		r.wrs[i].WRID |= tag | ringMark
	}
}
