//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// recvWork is a work request of a receive queue.
type recvWork struct {
	own     ownership
	id      uint64
	entries []ibv.SGE
}

// recvQueue is a receive queue, of a queue pair or shared.
type recvQueue struct {
	workQueue[recvWork]
	maxSGE uint32
	in     *domain
	shared *sharedQueue // which it is the queue of, or nil
	ended  bool         // what it is of is closed
}

// post posts a list. number is the queue pair's, or 0.
func (q *recvQueue) post(c *context, number uint32, list unsafe.Pointer) (result, errno int32, bad uintptr) {
	d := c.dev
	defer d.f.claims.made()
	// Safe: it is a list of the program's, which lives until the call is over.
	missing := q.unreadable((*ibv.RecvWR)(list))
	for wr, i := (*ibv.RecvWR)(list), 0; wr != nil; wr, i = wr.Next, i+1 {
		if wr == missing {
			return isNotThere.results(address(wr))
		}
		if r := d.f.wrRefused(c, number, 0, true, wr.WRID, i); r != nil {
			return r.results(address(wr))
		}
		if r, refused := q.refuses(d, wr); refused {
			return r.results(address(wr))
		}
		w := q.add()
		w.id, w.entries = wr.WRID, append(w.entries[:0], wr.SGEs()...)
		q.use.post(d.f, &w.own, q.in, w.entries, receives)
	}
	return 0, 0, 0
}

// refuses says how a receive is refused, if it is.
func (q *recvQueue) refuses(d *device, wr *ibv.RecvWR) (Refusal, bool) {
	p := &d.f.provider
	switch {
	case q.ended:
		return Refusal{Errno: syscall.EINVAL}, true
	case badEntries(p, wr.NumSGE, wr.SGList, q.maxSGE):
		return p.TooLong.because(syscall.EINVAL), true
	case wr.NumSGE == 0 && p.NoEntries != nil:
		return *p.NoEntries, true
	case q.full() || p.Depth > 0 && q.taken >= uint32(p.Depth):
		return p.Full.because(syscall.ENOMEM), true
	}
	return Refusal{}, false
}

// badEntries reports whether a work request has entries that its queue does not take.
func badEntries(p *Provider, n int32, list *ibv.SGE, most uint32) bool {
	if p.Entries > 0 {
		most = uint32(p.Entries)
	}
	return n < 0 || uint32(n) > most || n > 0 && list == nil
}

// because is the refusal, for a reason unless it has one.
func (r Refusal) because(errno syscall.Errno) Refusal {
	if r.Errno == 0 {
		r.Errno = errno
	}
	return r
}

// postRecv is post_recv.
func (qp *queuePair) postRecv(list unsafe.Pointer) (result, errno int32, bad uintptr) {
	f := qp.ctx.f
	if f.hooking.here() {
		return inHook.results(uintptr(list))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r, refused := qp.refusesReceives(); refused && list != nil {
		return r.results(uintptr(list))
	}
	result, errno, bad = qp.receives.post(qp.ctx, qp.number(), list)
	if qp.now == ibv.QPSErr && !f.provider.Stays {
		qp.flushReceives()
	}
	return result, errno, bad
}

// refusesReceives says how the queue pair refuses all of them, if it does.
func (qp *queuePair) refusesReceives() (Refusal, bool) {
	p := &qp.ctx.f.provider
	switch {
	case qp.raw.QPBase.SRQ != nil:
		return p.Attached.because(syscall.EINVAL), true
	case qp.now != ibv.QPSReset:
		return Refusal{}, false
	case p.Reset != nil:
		return *p.Reset, true
	}
	return Refusal{Errno: syscall.EINVAL}, p.Name == ""
}

// complete completes the work request next to be used, for a queue pair.
func (q *recvQueue) complete(qp *queuePair, wc *ibv.WC, solicited bool) {
	w := q.next()
	wc.WRID, wc.QPNum = w.id, qp.number()
	own := q.use.end(&w.own, true)
	q.done()
	if q.shared != nil {
		q.shared.taken()
	}
	qp.recvCQ.push(completion{wc: *wc, solicited: solicited || wc.Status != ibv.WCSuccess, slots: &q.slots, free: 1, life: q.life, own: own})
}

// flushReceives completes all that the queue pair's own receive queue has, unused.
func (qp *queuePair) flushReceives() {
	if qp.receives == &qp.own {
		for qp.own.waiting() > 0 {
			qp.own.complete(qp, &ibv.WC{Status: ibv.WCWRFlushErr}, false)
		}
	}
}
