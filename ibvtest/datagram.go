//go:build !freebsd

package ibvtest

import "github.com/goverbs/goverbs/ibv"

// toGroup is the queue pair number of what is sent to a multicast group.
const toGroup = 0xffffff

// beginDatagram sends the next work request of a UD queue pair on its way, and ends it: nobody answers (IBTA 9.8.3).
func (qp *queuePair) beginDatagram(w *sendWork) {
	qp.begun = true
	n := w.length()
	if n > uint64(qp.mtu(w)) {
		qp.finish(ibv.WCSuccess, 0) // nothing is sent, and nothing told (IBTA C10-93.1.1)
		return
	}
	if status := qp.gather(w); status != ibv.WCSuccess {
		qp.finish(status, 0)
		return
	}
	there := qp.ctx.dev.at(&w.way)
	var to *device
	if there != nil {
		to = there.dev
	}
	m := qp.ctx.f.underWay(qp.ctx.dev, to, qp.number(), w.wr.WR.UD().RemoteQPN, w.wr.Opcode, true, int(n))
	if m.delay > 0 {
		lost, doubled := m.lost, m.doubled
		qp.wait(m.delay, func() { qp.sendLate(uint32(n), lost, doubled) })
		return
	}
	qp.send(uint32(n), m.lost, m.doubled)
}

// sendLate is send for a datagram that had a delay.
func (qp *queuePair) sendLate(n uint32, lost, doubled bool) {
	if status := qp.gather(qp.sends.next()); status != ibv.WCSuccess {
		qp.finish(status, 0)
		return
	}
	qp.send(n, lost, doubled)
}

// mtu is the longest datagram that can go the way that a work request does.
func (qp *queuePair) mtu(w *sendWork) uint32 {
	return 128 << qp.ctx.dev.port(uint32(w.way.PortNum)).attr.ActiveMTU
}

// send has a datagram of n bytes from f.here arrive, if it does.
func (qp *queuePair) send(n uint32, lost, doubled bool) {
	f, w, which := qp.ctx.f, qp.sends.next(), qp.sends.first
	times := 1
	switch {
	case lost:
		times = 0
	case doubled:
		times = 2
	}
	w.header(qp.ctx.dev, n, &f.header)
	f.datagram = append(append(f.datagram[:0], f.header[:]), f.here...)
	for range times {
		qp.spread(w, n)
	}
	if qp.sends.first == which { // no completion queue that overran has ended this queue pair
		qp.finish(ibv.WCSuccess, 0)
	}
}

// spread brings a datagram to all its receivers.
func (qp *queuePair) spread(w *sendWork, n uint32) {
	if !qp.home().up() {
		return
	}
	to := w.wr.WR.UD().RemoteQPN
	if there := qp.ctx.dev.at(&w.way); there != nil {
		if peer := there.dev.queuePairs[to]; peer != nil && int(peer.attr.PortNum) == there.number {
			peer.takeDatagram(qp, w, n)
		}
		return
	}
	if to != toGroup {
		return
	}
	g := group{gid: w.way.GRH.DGID}
	if qp.ctx.f.infiniband {
		g.lid = w.way.DLID
	}
	for _, d := range qp.ctx.f.devices {
		for _, member := range d.groups[g] {
			member.takeDatagram(qp, w, n) // the sender too, if it is one
		}
	}
}

// takeDatagram takes a datagram into a receive, or drops it.
func (qp *queuePair) takeDatagram(from *queuePair, w *sendWork, n uint32) {
	key := w.wr.WR.UD().RemoteQKey
	if key>>31 != 0 {
		key = from.attr.QKey // IBTA 10.2.5
	}
	p := qp.home()
	switch {
	case !p.up():
		return
	case !qp.receiving() || qp.raw.QPBase.QPType != ibv.QPTUD:
		return
	case key != qp.attr.QKey:
		p.attr.QKeyViolCntr++
		return
	}
	r, f := qp.receives.next(), qp.ctx.f
	if r == nil {
		return
	}
	wc := ibv.WC{Opcode: ibv.WCRecv, ByteLen: ibv.GRHLength + n, SrcQP: from.number(), SL: w.way.SL, PKeyIndex: qp.attr.PKeyIndex}
	f.here = append(f.here[:0], f.datagram...)
	if w.way.IsGlobal != 0 {
		wc.WCFlags |= ibv.WCGRH
	}
	if f.infiniband {
		wc.SLID = from.ctx.dev.port(uint32(w.way.PortNum)).attr.LID | uint16(w.way.SrcPathBits)
	}
	switch own, _ := qp.place(w, r, ibv.GRHLength+n); own {
	case ibv.WCSuccess:
	case ibv.WCLocLenErr:
		return // and the receive is there for the next one (IBTA 9.9.3, class D)
	default:
		qp.receives.complete(qp, &ibv.WC{Status: own}, false)
		qp.enter(ibv.QPSErr)
		return
	}
	if w.wr.Opcode == ibv.WRSendWithImm {
		wc.WCFlags |= ibv.WCWithImm
		wc.SetImmData(w.wr.ImmData())
	}
	qp.receives.complete(qp, &wc, w.is(ibv.SendSolicited))
}
