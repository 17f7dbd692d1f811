//go:build !freebsd

package ibvtest

import (
	"time"

	"github.com/goverbs/goverbs/ibv"
)

// maxMessage is how long a message of a connection may be.
const maxMessage = 1 << 31

// run carries out what is on the send queue as far as it goes. The fabric's lock is held.
func (qp *queuePair) run() {
	qp.ctx.f.claims.made()
	switch qp.now {
	case ibv.QPSRTS:
		for !qp.waits && qp.now == ibv.QPSRTS && qp.sends.waiting() > 0 {
			qp.begin()
		}
	case ibv.QPSSQD:
		for qp.begun && !qp.waits {
			qp.begin() // it is sent again
		}
	case ibv.QPSErr, ibv.QPSSQE:
		if !qp.ctx.f.provider.Stays {
			qp.flushSends()
		}
	}
}

// begin carries out the next work request, or sends it on its way.
func (qp *queuePair) begin() {
	w := qp.sends.next()
	if qp.raw.QPBase.QPType == ibv.QPTUD {
		qp.beginDatagram(w)
		return
	}
	qp.begun = true
	n, status := qp.prepare(w)
	switch {
	case status != ibv.WCSuccess:
		qp.finish(status, 0)
		return
	case w.wr.Opcode == ibv.WRLocalInv || w.wr.Opcode == ibv.WRBindMW:
		qp.finish(ibv.WCSuccess, 0)
		return
	}
	m := qp.ctx.f.underWay(qp.ctx.dev, qp.toward(), qp.number(), qp.attr.DestQPNum, w.wr.Opcode, false, int(n))
	if m.delay > 0 {
		lost := m.lost // a closure that had m would have it on the heap each time
		qp.wait(m.delay, func() { qp.arriveLate(n, lost) })
		return
	}
	qp.arrive(n, m.lost)
}

// prepare is what the requester does by itself: it finds the memory, or carries out what needs no peer. It says how many
// bytes the message has.
func (qp *queuePair) prepare(w *sendWork) (uint32, ibv.WCStatus) {
	switch w.wr.Opcode {
	case ibv.WRBindMW:
		return 0, qp.bind(&w.wr)
	case ibv.WRLocalInv:
		if !qp.invalidate(w.wr.InvalidateRKey()) {
			return 0, ibv.WCLocQPOpErr
		}
		return 0, ibv.WCSuccess
	case ibv.WRAtomicCmpAndSwp, ibv.WRAtomicFetchAndAdd:
		var fits bool
		if w.entries, _, fits = firstBytes(w.entries, atomicLength); !fits {
			return 0, ibv.WCLocLenErr
		}
		fallthrough
	case ibv.WRRDMARead:
		if qp.attr.MaxRdAtomic == 0 {
			return 0, ibv.WCLocQPOpErr // it could never be sent
		}
	}
	n := w.length()
	if n > maxMessage {
		return 0, ibv.WCLocLenErr
	}
	return uint32(n), qp.gather(w)
}

// arriveLate is arrive for a message that had a delay.
func (qp *queuePair) arriveLate(n uint32, lost bool) {
	if status := qp.gather(qp.sends.next()); status != ibv.WCSuccess {
		qp.finish(status, 0) // a region that was deregistered meanwhile, say
		return
	}
	qp.arrive(n, lost)
}

// wait has something done later, and nothing else on the send queue until then.
func (qp *queuePair) wait(d time.Duration, do func()) {
	qp.waits = true
	qp.timer = qp.ctx.f.after(d, func() {
		qp.waits, qp.timer = false, nil
		do()
		qp.run()
	})
}

// length is how many bytes the work request is about.
func (w *sendWork) length() (n uint64) {
	n = uint64(len(w.inline))
	for i := range w.entries {
		n += uint64(w.entries[i].Length)
	}
	return n
}

// gather finds the program's memory of a work request: f.here.
func (qp *queuePair) gather(w *sendWork) (status ibv.WCStatus) {
	f := qp.ctx.f
	if w.is(ibv.SendInline) {
		f.here = append(f.here[:0], w.inline)
		return ibv.WCSuccess
	}
	writes := false
	switch w.wr.Opcode {
	case ibv.WRRDMARead, ibv.WRAtomicCmpAndSwp, ibv.WRAtomicFetchAndAdd:
		writes = true
	}
	f.here, status = qp.pd.local(f.here[:0], w.entries, writes)
	return status
}

// arrive has a message of n bytes from f.here be at its receiver, unless it is lost.
func (qp *queuePair) arrive(n uint32, lost bool) {
	a, which := answer{}, qp.sends.first
	if peer := qp.peer(); peer != nil && !lost {
		a = peer.respond(qp, qp.sends.next(), n)
	}
	if qp.sends.first != which {
		return // what the message did to its receiver, or to a completion queue, has ended this queue pair
	}
	if qp.raw.QPBase.QPType == ibv.QPTUC {
		qp.finish(ibv.WCSuccess, 0)
		return
	}
	switch a.kind {
	case acknowledged:
		qp.sendPSN += qp.packets(n)
		qp.finish(ibv.WCSuccess, n)
	case refused:
		qp.finish(a.status, 0)
	case ended:
		qp.finish(ibv.WCSuccess, n)
		qp.enter(ibv.QPSErr)
	case notReady:
		if qp.attr.RNRRetry != forEver && qp.notReady >= int(qp.attr.RNRRetry) {
			qp.finish(ibv.WCRNRRetryExcErr, 0)
			return
		}
		qp.notReady++
		qp.wait(a.delay, qp.again)
	case silence:
		if qp.attr.Timeout == 0 {
			qp.waits = true // and nothing ends that but another state
			return
		}
		if qp.retries >= int(qp.attr.RetryCnt) {
			qp.wait(ackTimeout(qp.attr.Timeout), func() { qp.finish(ibv.WCRetryExcErr, 0) })
			return
		}
		qp.retries++
		qp.wait(ackTimeout(qp.attr.Timeout), qp.again)
	}
}

// again is for a message that is sent once more: wait runs the queue.
func (qp *queuePair) again() {}

// forEver is the number of retries after a receive was missing that never end (IBTA 9.7.5.2.8).
const forEver = 7

// finish completes the work request that was carried out.
func (qp *queuePair) finish(status ibv.WCStatus, n uint32) {
	qp.begun, qp.retries, qp.notReady = false, 0, 0
	qp.sends.complete(qp, status, n)
	switch {
	case status == ibv.WCSuccess:
		qp.drains()
	case qp.reliable():
		qp.enter(ibv.QPSErr)
	default:
		qp.enter(ibv.QPSSQE) // IBTA 10.3.1.6
	}
}

// packets is how many packets a message of n bytes takes.
func (qp *queuePair) packets(n uint32) uint32 {
	mtu := uint32(128) << qp.attr.PathMTU
	return max(1, n/mtu+min(1, n%mtu))
}

// peer is the queue pair at the other end of a connection, or nil.
func (qp *queuePair) peer() *queuePair {
	if !qp.far.up() || !qp.home().up() {
		return nil
	}
	return qp.far.dev.queuePairs[qp.attr.DestQPNum]
}

// home is the port that the queue pair sends by, or nil.
func (qp *queuePair) home() *port { return qp.ctx.dev.port(uint32(qp.attr.PortNum)) }

// toward is the device at the other end, or nil.
func (qp *queuePair) toward() *device {
	if qp.far == nil {
		return nil
	}
	return qp.far.dev
}
