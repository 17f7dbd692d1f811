package ibv

import (
	"sync"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// Poller is the poll of one completion queue, bound once, as a [RecvPoster] is for
// receives.
//
// Into is Poll, for a method of one's own that the compiler is to inline: it fills
// up to n completions at into, which stay where they are until it returns. What has
// no name is 0, as there.
type Poller struct {
	Into func(into unsafe.Pointer, n int, _ uintptr) (got int, err error)
}

// NewPoller is a Poller that calls poll, for whoever stands between a program and a
// queue. poll fills a slice as long as the one that Poll was given, whose elements
// come there afterwards: what Poll is given may be on the caller's stack, where no
// other function may point to it.
func NewPoller(poll func(wcs []WC) (int, error)) Poller {
	return Poller{func(into unsafe.Pointer, n int, _ uintptr) (int, error) {
		room := rooms.Get().(*[]WC)
		defer rooms.Put(room)
		if n > len(*room) {
			*room = make([]WC, n)
		}
		got, err := poll((*room)[:n:n])
		// Safe: it is the slice that Poll was given.
		copy(unsafe.Slice((*WC)(into), n), (*room)[:min(max(got, 0), n)])
		return got, err
	}}
}

// rooms are slices of completions that are used again and again.
var rooms = sync.Pool{New: func() any { return new([]WC) }}

// Poller is [CQ.Poll] for this queue.
func (cq *CQ) Poller() Poller {
	// Safe: C gets its own queue.
	return Poller{ccall.BindPoll(uintptr(cq.Context.Ops.PollCQ), unsafe.Pointer(cq), pollFailed)}
}

// Poll takes completions: see [CQ.Poll].
func (p *Poller) Poll(wcs []WC) (n int, err error) {
	// Safe: as in CQ.Poll.
	n, err = p.Into(ccall.NoEscape(uintptr(unsafe.Pointer(unsafe.SliceData(wcs)))), len(wcs), 0)
	return
}
