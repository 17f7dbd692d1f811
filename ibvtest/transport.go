//go:build !freebsd

package ibvtest

import "github.com/goverbs/goverbs/ibv"

// run carries out what is on the send queue as far as it goes. The fabric's lock is held.
func (qp *queuePair) run() {
	for len(qp.sends) > 0 {
		w := qp.sends[0]
		status := qp.send(w)
		qp.sends = qp.sends[1:]
		if status != ibv.WCSuccess || w.wr.SendFlags&ibv.SendSignaled != 0 || qp.init.SQSigAll != 0 {
			qp.sendCQ.push(ibv.WC{WRID: w.wr.WRID, Status: status, Opcode: ibv.WCSend, QPNum: qp.raw.QPBase.QPNum})
		}
	}
}

// send sends a message to the peer, and says how that ended.
func (qp *queuePair) send(w *sendWork) ibv.WCStatus {
	m := qp.ctx.f.underWay(qp.ctx.dev, qp.ctx.dev, qp.raw.QPBase.QPNum, qp.attr.DestQPNum, false, 0)
	if m.lost || m.doubled || m.delay > 0 {
		return ibv.WCRetryExcErr
	}
	peer := qp.ctx.dev.queuePairs[qp.attr.DestQPNum]
	if peer == nil {
		return ibv.WCRetryExcErr
	}
	if len(peer.receives) == 0 {
		return ibv.WCRNRRetryExcErr
	}
	from, status := qp.pd.local(w.entries, false)
	if status != ibv.WCSuccess {
		return status
	}
	r := peer.receives[0]
	peer.receives = peer.receives[1:]
	to, status := peer.pd.local(r.entries, true)
	n := length(from)
	if status == ibv.WCSuccess && n > length(to) {
		status = ibv.WCLocLenErr
	}
	if status == ibv.WCSuccess {
		scatter(to, from)
	}
	peer.recvCQ.push(ibv.WC{WRID: r.id, Status: status, Opcode: ibv.WCRecv, ByteLen: uint32(n), QPNum: peer.raw.QPBase.QPNum})
	if status != ibv.WCSuccess {
		return ibv.WCRemInvReqErr
	}
	return ibv.WCSuccess
}
