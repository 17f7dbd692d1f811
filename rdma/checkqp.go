package rdma

import "github.com/goverbs/goverbs/ibv"

// checkedQP is what is known of a queue pair.
type checkedQP struct {
	usage
	l, pd          *life
	raw            *ibv.QP
	typ            ibv.QPType
	cap            ibv.QPCap
	signalAll      bool
	own            bool // made by CreateQP, and of a type that is the same on all devices
	moves          bool // its state is what C's object says
	send           *checkedQueue
	recv           *checkedQueue // the shared one, if it has that
	sendCQ, recvCQ *checkedCQ    // nil where there is no handle
	longest        uint64
}

// check has checked mode know of a queue pair that is about to live, and binds the
// hot calls to the checks. It returns what destroys the queue pair.
func (qp *QP) check(destroy func() error) func() error {
	if !checked {
		return destroy
	}
	device := qp.raw.Context.Device
	iwarp := device.NodeType == ibv.NodeRNIC || device.TransportType == ibv.TransportIWARP
	q := &checkedQP{
		l: qp.l, pd: qp.pd.l, raw: qp.raw, typ: qp.raw.QPType, cap: qp.cap, signalAll: qp.signalAll,
	}
	q.own = destroy != nil && q.known()
	q.moves = q.own && !iwarp
	q.send = &checkedQueue{l: qp.l, send: true, depth: int(qp.cap.MaxSendWR), room: int(qp.cap.MaxSendSGE), own: q.own}
	q.recv = &checkedQueue{l: qp.l, depth: int(qp.cap.MaxRecvWR), room: int(qp.cap.MaxRecvSGE), own: q.own}
	if qp.srq != nil {
		q.recv = qp.srq.checked
	}
	q.sendCQ, q.recvCQ = q.send.completesOn(qp.sendCQ), q.recv.completesOn(qp.recvCQ)
	if destroy == nil {
		qp.l.expose(qp.pd.l, qp.sendCQ.lifetime(), qp.recvCQ.lifetime(), qp.srq.lifetime())
	}
	qp.checked = q
	qp.send = ibv.SendPoster{Whole: q.postAllSends, Part: q.postSend}
	if qp.raw.SRQ == nil {
		qp.recv = recvPoster(qp.l, q.postRecv)
	}
	q.bindBatch(qp)
	checks.Lock()
	defer checks.Unlock()
	if checks.queuePairs == nil {
		checks.queuePairs = map[queuePairKey]*checkedQP{}
	}
	key := queuePairKey{qp.l.device, qp.raw.QPNum}
	checks.queuePairs[key] = q
	room := qp.room // and not the handle
	return q.closed(q.l, destroy, func() {
		checks.Lock()
		defer checks.Unlock()
		q.idle()
		room.leave()
		if checks.queuePairs[key] == q {
			delete(checks.queuePairs, key)
		}
	})
}

// known reports whether the type is one of those whose rules are the same on all
// devices.
func (q *checkedQP) known() bool {
	return q.typ == ibv.QPTRC || q.typ == ibv.QPTUC || q.typ == ibv.QPTUD
}

// modified takes note of a change, unless it has failed. In RESET, a queue pair
// forgets its work.
func (q *checkedQP) modified(err error, attr *ibv.QPAttr, mask ibv.QPAttrMask) error {
	if q == nil || err != nil {
		return err
	}
	checks.Lock()
	defer checks.Unlock()
	if mask&ibv.QPAttrMaskState != 0 && attr.QPState == ibv.QPSReset {
		q.idle()
	}
	if mask&ibv.QPAttrMaskCap != 0 { // of which nobody says what it is now
		q.own, q.send.own = false, false
		if !q.recv.shared {
			q.recv.own = false
		}
	}
	return nil
}

// idle is that nothing of the queue pair's is outstanding. What it had begun to
// receive from a shared receive queue will never complete.
func (q *checkedQP) idle() {
	q.send.reset()
	if q.recv.shared {
		q.recv.forget()
		return
	}
	q.recv.reset()
}

// enter begins a call on the queue pair with a chain or batch.
func (q *checkedQP) enter(list any) (leave func(), at stack, m *mistake) {
	return enter(&q.usage, q.l, list)
}

func enter(u *usage, l *life, list any) (leave func(), at stack, m *mistake) {
	at = callers()
	if m := u.begin(l, at); m != nil {
		return nil, nil, m
	}
	if m := posting.begin(list, at); m != nil {
		u.end()
		return nil, nil, m
	}
	return func() {
		posting.end(list)
		u.end()
	}, at, nil
}
