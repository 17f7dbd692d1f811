package rdma

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// oneByOne is PollWC where one of the calls is not to be made, or not in one
// crossing.
func (r *RecvRing) oneByOne(wcs []ibv.WC) (n int, err error) {
	if r.tail == nil {
		return 0, r.closedError("poll")
	}
	err, r.late = r.late, nil
	if r.head != 0 {
		err = both(err, r.post())
	}
	n, pollErr := r.cq.Poll(wcs)
	return n, both(err, pollErr)
}

// post posts the list from head on.
func (r *RecvRing) post() error {
	if err := r.queue.notReady(); err != nil {
		return err
	}
	*r.tail = 0
	if checked {
		return r.postEach()
	}
	return r.posted(r.queue.postRecv(r.first()))
}

// postEach posts one buffer at a time, in the way of the handle, which looks at
// each.
func (r *RecvRing) postEach() error {
	// Safe: only the number is kept, to tell slots from addresses.
	start := uintptr(unsafe.Pointer(unsafe.SliceData(r.wrs)))
	for r.head != 0 {
		slot := int((r.head - start) / unsafe.Sizeof(ibv.RecvWR{}))
		next := *linkOf(&r.wrs[slot])
		accepted, err := r.queue.postRange(r.chain, slot)
		if accepted == 0 && err != nil {
			return err
		}
		if r.head = next; next == 0 {
			r.tail = &r.head
		}
		if err != nil { // it is not known whether it was accepted
			r.unknown++
			return err
		}
	}
	return nil
}

// failed sorts out a pair of calls of which one has failed, or may have.
func (r *RecvRing) failed() (n int, err error) {
	p := &r.pair
	err = r.posted(r.queue.outcome(r.first(), p.PostResult, p.PostErrno, p.Bad))
	n, pollErr := r.cq.raw.PollOutcome(p.Room, p.Got, p.PollErrno)
	return n, both(err, pollErr)
}

// posted takes note of what came of posting the list from head on.
func (r *RecvRing) posted(refused *ibv.RecvWR, err error) error {
	if refused != nil {
		// Safe: it is one of the ring's, which keeps them. The tail stays.
		r.head = uintptr(unsafe.Pointer(refused))
		return err
	}
	// How many were taken is not known if it failed, and a buffer must not be posted
	// twice: all of them are left to their completions. The peer is not told of them.
	if err != nil {
		r.unknown += r.pending()
	}
	r.head, r.tail = 0, &r.head
	return err
}
