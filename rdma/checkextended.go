//go:build !freebsd

package rdma

import "github.com/goverbs/goverbs/ibv"

// bindExtended has extended polls take note of what has completed. Where they do not
// read what that takes, nothing is known of what completes here.
func (q *checkedCQ) bindExtended(cq *CQ, fields wcFields) {
	const needed = ibv.WCFieldQPNum | ibv.WCFieldOpcode
	if fields == 0 {
		return
	}
	if fields&needed != needed {
		q.own = false
		return
	}
	poll := cq.extended.poll
	checkedPoll := func(into []ibv.ExtendedWC) (int, error) {
		if m := q.begin(q.l, callers()); m != nil {
			return 0, m.error("poll", q.l)
		}
		defer q.end()
		checks.Lock()
		defer checks.Unlock()
		n, err := poll(into)
		for i := range into[:max(n, 0)] {
			wc := &into[i]
			q.completed(wc.QPNum(), wc.WRID, wc.Status, wc.Opcode())
		}
		return n, err
	}
	cq.extended = extendedCQ{checkedPoll, checkedPoll}
}
