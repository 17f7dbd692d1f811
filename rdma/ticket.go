package rdma

import (
	"sync"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// The WRID of a ring's work request is a ticket: its completion tells which ring it
// belongs to, and that it is that ring's turn, also where a failure leaves nothing
// else in it than that. So one completion queue serves any number of rings, and who
// has posted something else there is told from them.
//
// From the lowest bit on, a ticket has the number of a slot, the tag of the ring,
// and the lap: how often the slot was used. A receive ring's slot is a buffer, and
// who has its ticket of this lap has the buffer. A send ring counts its work
// requests, slots first.
const (
	slotBits = 25
	tagBits  = 20

	slotMask = 1<<slotBits - 1
	tagMask  = (1<<tagBits - 1) << slotBits
	oneLap   = 1 << (slotBits + tagBits)
	// countMask is of a count of slots and laps.
	countMask = 1<<(64-tagBits) - 1
)

// No chain of 1 GiB has more work requests than there are slots.
var _ = [1<<slotBits - (1<<30)/(unsafe.Sizeof(ibv.RecvWR{})+unsafe.Sizeof(ibv.SGE{}))]struct{}{}

// ringMark is where laps begin to count, so that the WRID of anything else hardly
// is a ring's.
const ringMark = 0x72676e << 40 &^ (oneLap - 1) // "rgn"

// tags are those of all rings that are not closed, so that no two have a ticket in
// common, however many there were. One that was given back comes as late again as
// it can, for completions of the ring that had it may still be somewhere.
var tags = struct {
	sync.Mutex
	last  uint64
	taken map[uint64]struct{}
}{taken: map[uint64]struct{}{}}

// newTag is a tag, in its place in a ticket, until freeTag.
func newTag() (uint64, error) {
	tags.Lock()
	defer tags.Unlock()
	if len(tags.taken) == 1<<tagBits {
		return 0, &Error{Op: "make a ring", Err: syscall.ENOSPC, Hint: "there are 2^20 rings already: close some"}
	}
	for {
		tags.last = (tags.last + 1<<slotBits) & tagMask
		if _, taken := tags.taken[tags.last]; !taken {
			tags.taken[tags.last] = struct{}{}
			return tags.last, nil
		}
	}
}

func freeTag(tag uint64) {
	tags.Lock()
	defer tags.Unlock()
	delete(tags.taken, tag)
}

// ticket is that of a work request by its number, of the ring with a tag.
func ticket(tag, number uint64) uint64 {
	return number&slotMask | tag | (number>>slotBits*oneLap + ringMark)
}

// ticketNumber is the number of a ticket, modulo countMask+1.
func ticketNumber(id uint64) uint64 {
	return id&slotMask | (id-ringMark)>>(slotBits+tagBits)<<slotBits
}
