package model

import (
	"bytes"
	"slices"

	"github.com/goverbs/goverbs/ibv"
)

const (
	// mtu is the largest datagram, and onePacket is the largest message that has one
	// packet whatever the MTU.
	mtu       = 1024
	onePacket = 256
)

// run carries out what can be, until all that is left waits for a receive.
func (w *world) run() {
	for again := true; again && w.undefined == ""; {
		again = false
		for _, number := range sorted(w.qps) {
			qp := w.qps[number]
			if qp.state > ibv.QPSRTS {
				w.flushPosted(qp)
			}
			for len(qp.sends) > 0 && qp.state == ibv.QPSRTS && w.undefined == "" && w.carryOut(qp, qp.sends[0]) {
				again = true
			}
		}
	}
}

// waits is the queue pairs with sends that wait for a receive from the queue.
func (w *world) waits(q *receives) (n int) {
	for _, qp := range w.qps {
		if peer := w.qps[qp.peer]; len(qp.sends) > 0 && qp.state == ibv.QPSRTS && peer != nil && w.queueOf(peer) == q {
			n++
		}
	}
	return n
}

// resolve is where in memory entries are; good is false if one of them may not be used
// so.
func (w *world) resolve(entries []SGE, pd int, access ibv.AccessFlags) (spans []span, good bool) {
	good = true
	for _, e := range entries {
		if e.Length == 0 {
			w.leave("an entry has no bytes")
		}
		spans = append(spans, span{e.Offset, e.Length})
		mr := w.mrs[e.MR]
		good = good && mr != nil && !mr.gone && !e.WrongKey && mr.PD == pd && mr.Access&access == access &&
			e.Offset >= mr.Offset && e.Offset+e.Length <= mr.Offset+mr.Length
	}
	if !good && bytesOf(spans) > onePacket {
		w.leave("a mistake in a message of more than one packet")
	}
	return spans, good
}

// forgetSpans says that what the spans have may be anything.
func (w *world) forgetSpans(spans []span) {
	for _, s := range spans {
		w.forget(s.offset, s.length)
	}
}

// operation is what an opcode means.
type operation struct {
	opcode    ibv.WCOpcode
	access    ibv.AccessFlags // that the peer must allow
	receives  bool            // it takes a receive
	immediate bool
	fetches   bool // it brings something back
	atomic    bool
	window    bool // it binds or invalidates a window of its own end
	ends      bool // it invalidates a window of the other end
}

var operations = map[ibv.WROpcode]operation{
	ibv.WRSend:              {opcode: ibv.WCSend, receives: true},
	ibv.WRSendWithImm:       {opcode: ibv.WCSend, receives: true, immediate: true},
	ibv.WRSendWithInv:       {opcode: ibv.WCSend, receives: true, ends: true},
	ibv.WRBindMW:            {opcode: ibv.WCBindMW, window: true},
	ibv.WRLocalInv:          {opcode: ibv.WCLocalInv, window: true},
	ibv.WRRDMAWrite:         {opcode: ibv.WCRDMAWrite, access: ibv.AccessRemoteWrite},
	ibv.WRRDMAWriteWithImm:  {opcode: ibv.WCRDMAWrite, access: ibv.AccessRemoteWrite, receives: true, immediate: true},
	ibv.WRRDMARead:          {opcode: ibv.WCRDMARead, access: ibv.AccessRemoteRead, fetches: true},
	ibv.WRAtomicCmpAndSwp:   {opcode: ibv.WCCompSwap, access: ibv.AccessRemoteAtomic, fetches: true, atomic: true},
	ibv.WRAtomicFetchAndAdd: {opcode: ibv.WCFetchAdd, access: ibv.AccessRemoteAtomic, fetches: true, atomic: true},
}

// fits tells whether queue pairs of the type have the operation.
func (o operation) fits(typ ibv.QPType) bool {
	switch typ {
	case ibv.QPTRC:
		return true
	case ibv.QPTUC:
		return !o.fetches
	default:
		return o.access == 0
	}
}

// localAccess is what the own region of a work request must allow.
func (o operation) localAccess() ibv.AccessFlags {
	if o.fetches {
		return ibv.AccessLocalWrite
	}
	return 0
}

// posted takes down a send that a queue pair has accepted.
func (w *world) posted(qp *queuePair, wr SendWR) {
	s := &send{SendWR: wr, local: true, known: true}
	op := operations[wr.Opcode]
	spans, good := w.resolve(wr.SGEs, qp.PD, op.localAccess())
	if wr.Flags&ibv.SendInline != 0 {
		good = true
	}
	if s.local = good; good && !op.fetches {
		s.data, s.known = w.gather(spans)
	}
	if mw := w.windowOf(&wr); mw != nil {
		if wr.Opcode == ibv.WRBindMW {
			mw.keys++
		}
		s.key = mw.keys
	}
	qp.sends, qp.occupied = append(qp.sends, s), append(qp.occupied, s)
}

// succeed completes the first send of the queue, if it is to be reported.
func (w *world) succeed(qp *queuePair, s *send, length int) {
	qp.sends = qp.sends[1:]
	if qp.SigAll || s.Flags&ibv.SendSignaled != 0 {
		w.report(qp, s, ibv.WCSuccess)
		e := w.expected[len(w.expected)-1]
		e.opcode, e.length = operations[s.Opcode].opcode, length
	}
}

// report has a send's completion come, which frees its place and those before.
func (w *world) report(qp *queuePair, s *send, statuses ...ibv.WCStatus) {
	qp.occupied = qp.occupied[slices.Index(qp.occupied, s)+1:]
	w.expect(&expectation{qp: qp.QP, id: s.ID, statuses: statuses, length: -1})
}

// fail completes the first send of the queue, and stops the queue.
func (w *world) fail(qp *queuePair, s *send, statuses ...ibv.WCStatus) {
	qp.sends = qp.sends[1:]
	w.report(qp, s, statuses...)
	if qp.Type == ibv.QPTRC || w.ErrorOfUnreliable {
		w.toError(qp)
		return
	}
	qp.state = ibv.QPSSQE
	w.flushSends(qp)
}

func (w *world) flushSends(qp *queuePair) {
	for len(qp.sends) > 0 {
		s := qp.sends[0]
		qp.sends = qp.sends[1:]
		if operations[s.Opcode].window {
			w.mws[s.Window.MW].open = true
		}
		w.report(qp, s, ibv.WCWRFlushErr)
	}
}

// flushPosted flushes what was posted to a queue pair that takes no more sends.
func (w *world) flushPosted(qp *queuePair) {
	n := len(w.expected)
	w.flushSends(qp)
	for _, e := range w.expected[n:] {
		e.late = w.FlushesLate
	}
}

// toError moves a queue pair to ERR, and flushes it.
func (w *world) toError(qp *queuePair) {
	qp.state = ibv.QPSErr
	w.flushSends(qp)
	for _, e := range w.expected {
		if e.qp == qp.QP && e.late && !e.dropped {
			w.flushed(e)
		}
	}
	for len(qp.waiting) > 0 {
		w.received(qp, take(&qp.receives), ibv.WCWRFlushErr)
	}
}

// flushed is for a late completion that came, or must come now.
func (w *world) flushed(e *expectation) {
	if qp := w.qps[e.qp]; e.receive && !e.dropped {
		qp.waiting = qp.waiting[1:]
	}
	e.late = false
}

// take is the first receive of a queue that is not empty.
func take(q *receives) RecvWR {
	wr := q.waiting[0]
	q.waiting = q.waiting[1:]
	return wr
}

// received has a receive's completion come.
func (w *world) received(qp *queuePair, wr RecvWR, statuses ...ibv.WCStatus) *expectation {
	e := &expectation{qp: qp.QP, receive: true, id: wr.ID, statuses: statuses, length: -1}
	w.expect(e)
	return e
}

// peerOf is the queue pair at the other end, or nil if nobody answers there.
func (w *world) peerOf(a *queuePair) *queuePair {
	b := w.qps[a.peer]
	if b == nil || b.state < ibv.QPSRTR || b.state == ibv.QPSErr {
		return nil
	}
	if b.peer != a.QP || a.peerEpoch != b.epoch || b.peerEpoch != a.epoch {
		w.leave("queue pair %d sends to %d, which is not connected to it, or no more", a.QP, b.QP)
	}
	return b
}

// carryOut does what the first send of a queue asks for; false says that it waits.
func (w *world) carryOut(a *queuePair, s *send) bool {
	op := operations[s.Opcode]
	spans, good := w.resolve(s.SGEs, a.PD, op.localAccess())
	switch {
	case !op.fits(a.Type):
		w.fail(a, s, ibv.WCLocQPOpErr)
		return true
	case s.Flags&ibv.SendInline != 0:
	case good != s.local:
		w.leave("a region goes, or comes, under a send that waits")
	case !op.fetches && good:
		data, known := w.gather(spans)
		s.known = s.known && known && bytes.Equal(data, s.data)
	}
	if a.Type == ibv.QPTUD {
		w.datagram(a, s)
		return true
	}
	if mw := w.windowOf(&s.SendWR); mw != nil && mw.keys != s.key {
		w.leave("window %d has another key than when it was named", mw.AllocMW.MW)
	}
	if op.window {
		w.rebind(a, s)
		return true
	}
	b := w.peerOf(a)
	remote, refused := []span{{s.Remote.Offset, bytesOf(spans)}}, []ibv.WCStatus(nil)
	if b != nil && op.access != 0 {
		refused = w.refused(a, b, s, op)
	}
	if !s.local {
		if op.fetches && refused != nil {
			w.leave("both ends of a read have made a mistake")
		}
		if b != nil && op.access == ibv.AccessRemoteWrite {
			w.forgetSpans(remote)
		}
		if op.fetches && (b == nil || op.atomic) {
			w.leave("a read that fails here, when what it does there is not known")
		}
		w.forgetSpans(localTargets(op, spans))
		w.fail(a, s, w.localError()...)
		return true
	}
	if b == nil {
		w.unanswered(a, s)
		return true
	}
	q := w.queueOf(b)
	if op.receives && len(q.waiting) == 0 {
		if refused != nil {
			w.leave("a write that is refused, and has no receive")
		}
		if op.access != 0 {
			w.forgetSpans(remote) // All but the last packet may find their way.
		}
		if w.LosesMore && a.Type == ibv.QPTUC && len(s.data) > onePacket {
			w.leave("a message of several packets is lost on UC")
		}
		return w.notReady(a, s)
	}
	switch {
	case refused != nil:
		if a.Type == ibv.QPTUC { // The peer drops it, and this end does not hear of it.
			w.succeed(a, s, -1)
			return true
		}
		if op.receives && w.TellsReceiveOfRefusal {
			if b.SRQ != 0 {
				w.leave("a refused write has taken a shared receive, and not reported it")
			}
			w.received(b, take(q), append(refused, ibv.WCWRFlushErr)...)
		}
		w.toError(b)
		w.forgetSpans(localTargets(op, spans))
		w.fail(a, s, refused...)
	case op.atomic:
		w.atomic(s, spans, remote)
		w.succeed(a, s, 8)
	case op.fetches:
		data, known := w.gather(remote)
		w.scatter(spans, data, remote, known)
		w.succeed(a, s, len(data))
	case op.access != 0:
		if s.Flags&ibv.SendInline != 0 {
			spans = nil // They were copied.
		}
		w.scatter(remote, s.data, spans, s.known)
		if op.receives {
			e := w.received(b, take(q), ibv.WCSuccess)
			e.opcode, e.length, e.flags, e.imm = ibv.WCRecvRDMAWithImm, len(s.data), ibv.WCWithImm, s.Imm
		}
		w.succeed(a, s, -1)
	default:
		w.deliver(a, b, s, spans)
	}
	return true
}

// localTargets is what an operation was to bring back.
func localTargets(op operation, spans []span) []span {
	if op.fetches {
		return spans
	}
	return nil
}

// refused is how the peer refuses an operation on its memory, or nil.
func (w *world) refused(a, b *queuePair, s *send, op operation) []ibv.WCStatus {
	target := s.Remote
	for _, e := range s.SGEs {
		target.Length += e.Length
	}
	if b.access&op.access == 0 {
		return []ibv.WCStatus{ibv.WCRemInvReqErr}
	}
	if target.Length == 0 { // No byte is touched, so no key counts.
		return nil
	}
	good := true
	if target.MW != 0 {
		good = w.windowTarget(b, target, op.access)
	} else {
		_, good = w.resolve([]SGE{target}, b.PD, op.access)
	}
	if !good && target.Length > onePacket {
		w.leave("a mistake in a message of more than one packet")
	}
	switch {
	case op.atomic && target.Offset%8 != 0 && !good:
		return []ibv.WCStatus{ibv.WCRemInvReqErr, ibv.WCRemAccessErr}
	case op.atomic && target.Offset%8 != 0:
		return []ibv.WCStatus{ibv.WCRemInvReqErr}
	case !good:
		return []ibv.WCStatus{ibv.WCRemAccessErr}
	}
	return nil
}

// again is for a queue pair that tries its first send again.
func (w *world) again(a *queuePair) {
	if slices.ContainsFunc(a.sends, func(s *send) bool { return operations[s.Opcode].window }) {
		w.leave("a window is bound behind a send that is tried again: it may be so before, or after")
	}
	if !w.StallsRetries || a.Type != ibv.QPTRC {
		return
	}
	for i, s := range a.sends {
		if i > 0 || s.Flags&ibv.SendFence != 0 {
			w.leave("queue pair %d has more to send than what it tries again, or it is fenced", a.QP)
		}
	}
}

// unanswered ends a send to nobody.
func (w *world) unanswered(a *queuePair, s *send) {
	w.again(a)
	switch {
	case a.Type == ibv.QPTUC:
		w.succeed(a, s, -1)
	case w.RetriesForEver && a.retryCnt == 7:
		w.leave("queue pair %d sends for ever to a peer that does not answer", a.QP)
	default:
		w.fail(a, s, ibv.WCRetryExcErr)
	}
}

// notReady is a send that finds no receive; false says that it waits.
func (w *world) notReady(a *queuePair, s *send) bool {
	w.again(a)
	switch {
	case a.Type == ibv.QPTUC:
		w.succeed(a, s, -1)
	case a.rnrRetry == 7:
		return false
	case w.NotReadyIsNoAnswer:
		w.fail(a, s, ibv.WCRNRRetryExcErr, ibv.WCRetryExcErr)
	default:
		w.fail(a, s, ibv.WCRNRRetryExcErr)
	}
	return true
}

// target is where a message of n bytes goes that takes the receive.
func (w *world) target(b *queuePair, wr RecvWR, n int) (spans []span, good bool) {
	spans, good = w.resolve(wr.SGEs, b.PD, ibv.AccessLocalWrite)
	touched := slices.Clone(wr.SGEs)
	for i := range touched {
		touched[i].Length = min(touched[i].Length, n)
		n -= touched[i].Length
	}
	touched = slices.DeleteFunc(touched, func(e SGE) bool { return e.Length == 0 })
	if _, inside := w.resolve(touched, b.PD, ibv.AccessLocalWrite); inside != good {
		w.leave("a message ends before what is wrong in its receive")
	}
	return spans, good
}

// deliver puts a message into the peer's next receive.
func (w *world) deliver(a, b *queuePair, s *send, from []span) {
	wr := take(w.queueOf(b))
	to, good := w.target(b, wr, len(s.data))
	receive, send := w.localError(), []ibv.WCStatus{ibv.WCRemOpErr}
	fits := len(s.data) <= bytesOf(to)
	switch {
	case !good && !fits:
		w.leave("a receive that is too small, and wrong too")
	case !fits && a.Type == ibv.QPTUC:
		w.leave("a message on UC that is longer than its receive")
	case !fits:
		receive, send = w.tooSmall()
	case good:
		if s.Flags&ibv.SendInline != 0 {
			from = nil
		}
		w.scatter(to, s.data, from, s.known)
		e := w.received(b, wr, ibv.WCSuccess)
		e.opcode, e.length = ibv.WCRecv, len(s.data)
		if operations[s.Opcode].immediate {
			e.flags, e.imm = ibv.WCWithImm, s.Imm
		}
		if operations[s.Opcode].ends {
			e.flags, e.window = ibv.WCWithInv, s.Window.MW
			w.invalidate(b, w.mws[s.Window.MW])
		}
		w.succeed(a, s, -1)
		return
	}
	w.forgetSpans(to)
	w.received(b, wr, receive...)
	w.toError(b)
	if a.Type == ibv.QPTUC {
		w.succeed(a, s, -1)
		return
	}
	w.fail(a, s, send...)
}

// atomic changes a number, and brings back what it was.
func (w *world) atomic(s *send, local, remote []span) {
	data, known := w.gather(remote)
	old := native.Uint64(data)
	value := old + s.CompareAdd
	if s.Opcode == ibv.WRAtomicCmpAndSwp {
		if value = old; old == s.CompareAdd {
			value = s.Swap
		}
	}
	w.scatter(local, data, remote, known)
	for _, l := range local {
		known = known && !l.overlaps(remote[0])
	}
	w.scatter(remote, native.AppendUint64(nil, value), nil, known)
}

// datagram sends what may arrive or not, and reports nothing of that.
func (w *world) datagram(a *queuePair, s *send) {
	if !s.local {
		w.fail(a, s, w.localError()...)
		return
	}
	if len(s.data) > mtu {
		w.leave("a datagram is longer than the MTU")
	}
	if pd, ok := w.ahs[s.AH]; !ok || pd != a.PD {
		w.leave("an address handle is gone, or of another protection domain")
	}
	w.succeed(a, s, -1)
	b := w.qps[s.To]
	if b == nil || b.Type != ibv.QPTUD || b.state < ibv.QPSRTR || b.state == ibv.QPSErr || b.qkey != s.QKey {
		return
	}
	q := w.queueOf(b)
	if len(q.waiting) == 0 {
		return
	}
	wr := take(q)
	to, good := w.target(b, wr, ibv.GRHLength+len(s.data))
	if bytesOf(to) < ibv.GRHLength+len(s.data) {
		w.leave("a datagram is longer than its receive")
		return
	}
	if !good {
		if a == b {
			w.leave("queue pair %d fails by what it sends to itself", a.QP)
		}
		w.forgetSpans(to)
		w.received(b, wr, w.localError()...)
		w.toError(b)
		return
	}
	// The header's bytes may be anything, and what follows them is certain.
	from := []span(nil)
	if s.Flags&ibv.SendInline == 0 {
		from, _ = w.resolve(s.SGEs, a.PD, 0)
	}
	w.scatter(to, append(make([]byte, ibv.GRHLength), s.data...), from, s.known)
	w.forgetSpans(upTo(to, ibv.GRHLength))
	e := w.received(b, wr, ibv.WCSuccess)
	e.opcode, e.length, e.from = ibv.WCRecv, len(s.data)+ibv.GRHLength, a.QP
	if operations[s.Opcode].immediate {
		e.flags, e.imm = ibv.WCWithImm, s.Imm
	}
}
