package rdma

import (
	"fmt"
	"math"

	"github.com/goverbs/goverbs/ibv"
)

// checkedRoom is what a queue pair needs of its completion queues: room for all that
// its queues were asked to hold, for all of it completes when something fails. What
// a shared receive queue holds counts once for each completion queue.
type checkedRoom struct {
	send, recv     int
	srq            *checkedQueue
	sendCQ, recvCQ *checkedCQ
}

// reserve is before a queue pair is made. The error says that a completion queue is
// smaller than the queues that complete on it. It is nil outside of checked mode.
func reserve(opts *QPOptions, asked ibv.QPCap) (*checkedRoom, error) {
	if !checked {
		return nil, nil
	}
	r := &checkedRoom{send: int(asked.MaxSendWR), recv: int(asked.MaxRecvWR)}
	if opts.SendCQ != nil {
		r.sendCQ = opts.SendCQ.checked
	}
	if opts.RecvCQ != nil {
		r.recvCQ = opts.RecvCQ.checked
	}
	if opts.SRQ != nil {
		r.srq = opts.SRQ.checked
	}
	checks.Lock()
	r.enter()
	cq, m := r.sendCQ, r.sendCQ.small()
	if m == nil {
		cq, m = r.recvCQ, r.recvCQ.small()
	}
	if m != nil {
		r.leave()
	}
	checks.Unlock()
	if m != nil {
		return nil, m.error("make queue pair with", cq.l)
	}
	return r, nil
}

func (r *checkedRoom) enter() {
	for _, cq := range []*checkedCQ{r.sendCQ, r.recvCQ} {
		if cq != nil {
			cq.rooms[r] = struct{}{}
		}
	}
}

// leave is with the lock held.
func (r *checkedRoom) leave() {
	if r == nil {
		return
	}
	for _, cq := range []*checkedCQ{r.sendCQ, r.recvCQ} {
		if cq != nil {
			delete(cq.rooms, r)
		}
	}
}

// release is that there is no such queue pair.
func (r *checkedRoom) release() {
	if r == nil {
		return
	}
	checks.Lock()
	defer checks.Unlock()
	r.leave()
}

// needs is how many completions there may be at once.
func (q *checkedCQ) needs() int {
	needs := 0
	shared := map[*checkedQueue]struct{}{}
	for r := range q.rooms {
		if r.sendCQ == q {
			needs += r.send
		}
		switch {
		case r.recvCQ != q:
		case r.srq != nil && r.srq.depth == math.MaxUint32: // the device does not tell
		case r.srq != nil:
			shared[r.srq] = struct{}{}
		default:
			needs += r.recv
		}
	}
	for srq := range shared {
		needs += srq.depth
	}
	return needs
}

// small is the mistake of a completion queue that is smaller than the queues that
// complete on it.
func (q *checkedCQ) small() *mistake {
	if q == nil {
		return nil
	}
	return q.smallWith(int(q.raw.CQE))
}

// smallWith is that mistake of a completion queue that has room for so many
// completions, of which nothing else is known if it is somebody else's.
func (q *checkedCQ) smallWith(has int) *mistake {
	if needs := q.needs(); q.own && needs > has {
		return wrong("it has room for %d completions, and the queues that complete on it may have %d at once: make it larger", has, needs)
	}
	return nil
}

// resize gives the queue room for other than it had, unless that is too little.
func (q *checkedCQ) resize(raw *ibv.CQ, entries int) error {
	if q == nil {
		return raw.Resize(entries)
	}
	checks.Lock()
	m := q.smallWith(entries)
	var err error
	if m == nil {
		err = raw.Resize(entries)
	}
	checks.Unlock()
	if m != nil {
		return m.error("resize", q.l)
	}
	return err
}

// outgrows is the mistake of a shared receive queue of so many receives that a
// completion queue is smaller than those that complete on it.
func (q *checkedQueue) outgrows(depth int) *mistake {
	before := q.depth
	q.depth = depth
	defer func() { q.depth = before }()
	for _, cq := range q.cqs {
		if len(cq.rooms) == 0 { // it may be closed
			continue
		}
		if m := cq.small(); m != nil {
			m.text = fmt.Sprintf("with room for %d receives it is too large for %s: %s", depth, cq.l.text(), m.text)
			return m.with(cq.l)
		}
	}
	return nil
}
