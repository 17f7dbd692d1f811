package rdma

import "github.com/goverbs/goverbs/ibv"

// checkedSRQ is what is known of a shared receive queue.
type checkedSRQ struct {
	usage
	checkedQueue
	raw *ibv.SRQ
	pd  *life
}

// check has checked mode know of a shared receive queue that is about to live, and
// binds the post to it. It returns what destroys the queue.
func (srq *SRQ) check(destroy func() error) func() error {
	if !checked {
		return destroy
	}
	q := &checkedSRQ{raw: srq.raw, pd: srq.pd.l, checkedQueue: checkedQueue{
		l: srq.l, shared: true, depth: int(srq.attr.MaxWR), room: int(srq.attr.MaxSGE), own: destroy != nil,
	}}
	srq.checked = &q.checkedQueue
	srq.recv = recvPoster(q.l, q.post)
	if !q.own {
		srq.l.expose(q.pd)
	}
	return q.closed(srq.l, destroy, func() {
		checks.Lock()
		defer checks.Unlock()
		q.forget()
	})
}

// modify changes a shared receive queue, unless its completion queues are too small
// for what it would hold.
func (q *checkedQueue) modify(raw *ibv.SRQ, attr ibv.SRQAttr, mask ibv.SRQAttrMask) error {
	if q == nil || mask&ibv.SRQMaxWR == 0 {
		return raw.Modify(attr, mask)
	}
	checks.Lock()
	m := q.outgrows(int(attr.MaxWR))
	checks.Unlock()
	if m != nil {
		return m.error("modify", q.l)
	}
	if err := raw.Modify(attr, mask); err != nil {
		return err
	}
	has, failed := raw.Query()
	checks.Lock()
	defer checks.Unlock()
	q.depth = int(has.MaxWR)
	if failed != nil {
		q.own = false // so that nobody knows any more how much it holds
	}
	return nil
}

func (q *checkedSRQ) post(c *ibv.RecvChain, first, end int) (int, error) {
	return postRecv(&q.usage, q.l, &q.checkedQueue, c, first, end,
		func(r *request) ([]use, *mistake) { return q.checkRecv(q.pd, r) },
		func(n int) (int, error) { return c.PostRange(q.raw, first, first+n) })
}
