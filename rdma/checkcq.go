package rdma

import "github.com/goverbs/goverbs/ibv"

// checkedCQ is what is known of a completion queue.
type checkedCQ struct {
	usage
	l     *life
	raw   *ibv.CQ
	own   bool
	rooms map[*checkedRoom]struct{}
}

// check has checked mode know of a completion queue that is about to live, and binds
// the poll to it. It returns what destroys the queue.
func (cq *CQ) check(opts CQOptions, destroy func() error) func() error {
	if !checked {
		return destroy
	}
	q := &checkedCQ{l: cq.l, raw: cq.raw, own: destroy != nil, rooms: map[*checkedRoom]struct{}{}}
	cq.checked = q
	cq.poller = ibv.NewPoller(q.poll)
	q.bindExtended(cq, opts.Fields)
	return q.closed(q.l, destroy, func() {})
}

// poll polls, and takes note of what has completed.
func (q *checkedCQ) poll(wcs []ibv.WC) (int, error) {
	if m := q.begin(q.l, callers()); m != nil {
		return 0, m.error("poll", q.l)
	}
	defer q.end()
	checks.Lock()
	defer checks.Unlock()
	n, err := q.raw.Poll(wcs)
	for i := range wcs[:max(n, 0)] {
		wc := &wcs[i]
		q.completed(wc.QPNum, wc.WRID, wc.Status, wc.Opcode)
	}
	return n, err
}

// completed takes note of a completion. The opcode of one that failed means nothing,
// so that it may be that of a send or of a receive.
func (q *checkedCQ) completed(qpNum uint32, wrID uint64, status ibv.WCStatus, opcode ibv.WCOpcode) {
	of := checks.queuePairs[queuePairKey{q.l.device, qpNum}]
	switch {
	case of == nil:
	case status != ibv.WCSuccess:
		if of.sendCQ == q {
			of.send.completed(wrID, true)
		}
		if of.recvCQ == q {
			of.recv.completed(wrID, true)
		}
	case opcode&ibv.WCRecv != 0:
		of.recv.completed(wrID, false)
	default:
		of.send.completed(wrID, false)
	}
}
