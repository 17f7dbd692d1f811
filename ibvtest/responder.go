//go:build !freebsd

package ibvtest

import (
	"time"

	"github.com/goverbs/goverbs/ibv"
)

// answer is what a responder says to a message.
type answer struct {
	kind   answerKind
	status ibv.WCStatus  // with refused: what the requester learns
	delay  time.Duration // with notReady: when to send it again
}

type answerKind int

const (
	silence answerKind = iota
	acknowledged
	refused
	notReady
	ended // of iWARP: the connection is, and the requester takes the message for sent
)

// psnMask has the bits of a packet's number.
const psnMask = 1<<24 - 1

// respond has a message arrive, of n bytes, from f.here or, for a read, to there (IBTA 9.7, 9.8).
func (qp *queuePair) respond(from *queuePair, w *sendWork, n uint32) answer {
	switch {
	case !qp.receiving() || !qp.speaksWith(from.raw.QPBase.QPType):
		return answer{}
	case qp.toward() != from.ctx.dev:
		return answer{}
	case qp.reliable() && (qp.recvPSN^from.sendPSN)&psnMask != 0:
		return answer{}
	case qp.attr.PathMTU != from.attr.PathMTU && n > 128<<min(qp.attr.PathMTU, from.attr.PathMTU):
		return qp.fails(ibv.WCRemInvReqErr, ibv.WCSuccess) // packets are not as long as they should be (IBTA 9.7.4.1.6)
	case qp.xrcd != nil && !qp.choose(w.wr.QPType.XRC().RemoteSRQN):
		return qp.fails(ibv.WCRemInvReqErr, ibv.WCSuccess) // IBTA A14.3.1.4
	}
	if qp.now == ibv.QPSRTR && !qp.heard {
		qp.heard = true
		qp.ctx.event(ibv.EventCommEst, address(&qp.raw)) // IBTA 11.6.3.1
	}
	a := qp.execute(w, n)
	if a.kind == acknowledged {
		qp.recvPSN += from.packets(n)
	}
	if qp.attr.DestQPNum != from.number() {
		return answer{} // which goes to another one: packets do not say what queue pair they are from
	}
	return a
}

// execute does what a message asks for.
func (qp *queuePair) execute(w *sendWork, n uint32) answer {
	switch w.wr.Opcode {
	case ibv.WRSend, ibv.WRSendWithImm, ibv.WRSendWithInv:
		return qp.receive(w, n)
	case ibv.WRRDMAWrite, ibv.WRRDMAWriteWithImm:
		return qp.write(w, n)
	case ibv.WRRDMARead:
		return qp.read(w, n)
	case ibv.WRAtomicCmpAndSwp, ibv.WRAtomicFetchAndAdd:
		return qp.atomic(w)
	}
	return qp.fails(ibv.WCRemInvReqErr, ibv.WCSuccess)
}

// receive takes a message into a receive.
func (qp *queuePair) receive(w *sendWork, n uint32) answer {
	r := qp.receives.next()
	if r == nil {
		return qp.notReadyNow()
	}
	wc := ibv.WC{Opcode: ibv.WCRecv, ByteLen: n}
	status, told := qp.place(w, r, n)
	switch {
	case status == ibv.WCLocLenErr && !qp.reliable():
		return answer{} // and the receive is there for the next message (IBTA 9.9.3, class D)
	case status == ibv.WCSuccess && told != ibv.WCSuccess:
		return answer{kind: refused, status: told}
	case status != ibv.WCSuccess:
		qp.receives.complete(qp, &ibv.WC{Status: status}, false)
		return qp.fails(told, status)
	}
	switch w.wr.Opcode {
	case ibv.WRSendWithImm:
		wc.WCFlags |= ibv.WCWithImm
		wc.SetImmData(w.wr.ImmData())
	case ibv.WRSendWithInv:
		if !qp.invalidate(w.wr.InvalidateRKey()) {
			qp.receives.complete(qp, &ibv.WC{Status: ibv.WCRemInvReqErr}, false)
			return qp.fails(ibv.WCRemAccessErr, ibv.WCRemInvReqErr)
		}
		wc.WCFlags |= ibv.WCWithInv
		wc.SetInvalidatedRKey(w.wr.InvalidateRKey())
	}
	qp.receives.complete(qp, &wc, w.is(ibv.SendSolicited))
	return answer{kind: acknowledged}
}

// notReadyNow is the answer where a receive is missing. iWARP has none, and ends the connection (RFC 5041 7.1).
func (qp *queuePair) notReadyNow() answer {
	if qp.ctx.f.provider.IWARP {
		qp.enter(ibv.QPSErr)
		return answer{kind: ended}
	}
	return answer{kind: notReady, delay: rnrTimeout(qp.attr.MinRNRTimer)}
}

// place scatters n bytes from f.here over the entries of a receive. It says how the receive ended, and what the requester
// learns if that is not well.
func (qp *queuePair) place(w *sendWork, r *recvWork, n uint32) (own, told ibv.WCStatus) {
	entries, cut, fits := firstBytes(r.entries, n)
	if !fits {
		return ibv.WCLocLenErr, ibv.WCRemInvReqErr
	}
	f := qp.ctx.f
	if f.there, own = qp.pd.local(f.there[:0], entries, true); own != ibv.WCSuccess {
		return own, ibv.WCRemOpErr
	}
	qp.peers.place(&w.own, &r.own, f.there)
	switch scatter(f.there, f.here) {
	case toFaults:
		return ibv.WCLocProtErr, ibv.WCRemOpErr
	case fromFaults:
		if len(entries) > 0 {
			entries[len(entries)-1].Length += cut // for the next message
		}
		return ibv.WCSuccess, ibv.WCLocProtErr
	}
	return ibv.WCSuccess, ibv.WCSuccess
}

// firstBytes shortens entries to the first n bytes, and says what the last one has lost. What is behind is not looked at, as
// devices do not.
func firstBytes(entries []ibv.SGE, n uint32) (first []ibv.SGE, cut uint32, fits bool) {
	for i := range entries {
		if n <= entries[i].Length {
			cut, entries[i].Length = entries[i].Length-n, n
			return entries[:i+1], cut, true
		}
		n -= entries[i].Length
	}
	return entries, 0, n == 0
}

// fails moves the responder to ERR, and says what the requester learns. On UC that is nothing, and nothing happens but for
// an error of the responder's own.
func (qp *queuePair) fails(told, own ibv.WCStatus) answer {
	if qp.reliable() || own != ibv.WCSuccess {
		qp.enter(ibv.QPSErr)
	}
	if qp.reliable() && own == ibv.WCSuccess { // of which no completion tells (IBTA 11.6.3.2)
		kind := ibv.EventQPReqErr
		if told == ibv.WCRemAccessErr {
			kind = ibv.EventQPAccessErr
		}
		qp.ctx.event(kind, address(&qp.raw))
	}
	return answer{kind: refused, status: told}
}
