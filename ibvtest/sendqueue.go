//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// sendWork is a work request of a send queue.
type sendWork struct {
	own     ownership
	wr      ibv.SendWR // a copy, whose Next and SGList nobody follows
	entries []ibv.SGE
	inline  []byte     // what was copied at the post
	way     ibv.AHAttr // of UD: the address handle may be gone when a datagram is
}

// is reports whether the work request has a flag.
func (w *sendWork) is(flag ibv.SendFlags) bool { return w.wr.SendFlags&flag != 0 }

// sendQueue is a send queue.
type sendQueue struct {
	workQueue[sendWork]
	silent uint32 // how many ended without a completion since the last one
}

// postSend is post_send.
func (qp *queuePair) postSend(list unsafe.Pointer) (result, errno int32, bad uintptr) {
	f := qp.ctx.f
	if f.hooking.here() {
		return inHook.results(uintptr(list))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return qp.postSends(list)
}

// postSends posts a list and carries it out as far as it goes. The lock is held.
func (qp *queuePair) postSends(list unsafe.Pointer) (result, errno int32, bad uintptr) {
	// Safe: it is a list of the program's, which lives until the call is over.
	missing := qp.unreadable((*ibv.SendWR)(list))
	for wr, i := (*ibv.SendWR)(list), 0; wr != nil; wr, i = wr.Next, i+1 {
		if wr == missing {
			result, errno, bad = isNotThere.results(address(wr))
			break
		}
		if r := qp.ctx.f.wrRefused(qp.ctx, qp.number(), wr.Opcode, false, wr.WRID, i); r != nil {
			result, errno, bad = r.results(address(wr))
			break
		}
		if r, refused := qp.refusesSend(wr); refused {
			result, errno, bad = r.results(address(wr))
			break
		}
		qp.take(wr)
	}
	qp.run()
	return result, errno, bad
}

// take puts a work request on the send queue.
func (qp *queuePair) take(wr *ibv.SendWR) {
	w := qp.sends.add()
	w.wr = *wr
	w.wr.Next, w.wr.SGList = nil, nil
	w.entries, w.inline = w.entries[:0], w.inline[:0]
	if qp.raw.QPBase.QPType == ibv.QPTUD {
		w.way = of[addressHandle](uintptr(wr.WR.UD().AH)).way
	}
	if !w.is(ibv.SendInline) {
		w.entries = append(w.entries, wr.SGEs()...)
	}
	qp.sends.use.post(qp.ctx.f, &w.own, qp.pd, w.entries, w.uses())
	if !w.is(ibv.SendInline) {
		return
	}
	for _, e := range wr.SGEs() {
		// Safe: that is what the program says of it, as it does to C.
		w.inline = append(w.inline, unsafe.Slice(of[byte](uintptr(e.Addr)), e.Length)...)
	}
}

// refusesSend says how a send is refused, if it is.
func (qp *queuePair) refusesSend(wr *ibv.SendWR) (Refusal, bool) {
	p := &qp.ctx.f.provider
	switch {
	case qp.own.ended:
		return Refusal{Errno: syscall.EINVAL}, true
	case qp.now < ibv.QPSRTS:
		return p.SendEarly.because(syscall.EINVAL), true
	case badEntries(p, wr.NumSGE, wr.SGList, qp.init.Cap.MaxSendSGE):
		return p.TooLong.because(syscall.EINVAL), true
	case !qp.has(wr.Opcode) || qp.badInline(wr):
		return Refusal{Errno: syscall.EINVAL}, true
	case qp.raw.QPBase.QPType == ibv.QPTUD && among[addressHandle](qp.ctx, uintptr(wr.WR.UD().AH)) == nil:
		return Refusal{Errno: syscall.EINVAL}, true
	case qp.sends.full() || p.Depth > 0 && qp.sends.taken >= uint32(p.Depth):
		return p.Full.because(syscall.ENOMEM), true
	}
	return Refusal{}, false
}

// has reports whether the queue pair has an operation.
func (qp *queuePair) has(op ibv.WROpcode) bool {
	all := operations[qp.raw.QPBase.QPType]
	if qp.ctx.f.provider.IWARP {
		all &= onIWARP
	}
	return all>>op&1 != 0
}

// operations are those that types of queue pairs have, a bit each: ibv_post_send(3) has the table.
var operations = [ibv.QPTXRCRecv + 1]uint32{
	ibv.QPTUD: operationBits(ibv.WRSend, ibv.WRSendWithImm),
	ibv.QPTUC: onConnections,
	ibv.QPTRC: onReliable, ibv.QPTXRCSend: onReliable,
}

var onConnections = operationBits(ibv.WRSend, ibv.WRSendWithImm, ibv.WRSendWithInv, ibv.WRRDMAWrite, ibv.WRRDMAWriteWithImm, ibv.WRLocalInv, ibv.WRBindMW)

var onReliable = onConnections | operationBits(ibv.WRRDMARead, ibv.WRAtomicCmpAndSwp, ibv.WRAtomicFetchAndAdd)

// onIWARP are those of RFC 5040: there is no immediate data, and there are no atomics.
var onIWARP = operationBits(ibv.WRSend, ibv.WRSendWithInv, ibv.WRRDMAWrite, ibv.WRRDMARead, ibv.WRLocalInv, ibv.WRBindMW)

func operationBits(opcodes ...ibv.WROpcode) (all uint32) {
	for _, op := range opcodes {
		all |= 1 << op
	}
	return all
}

// badInline reports whether data that is to be copied at the post cannot be.
func (qp *queuePair) badInline(wr *ibv.SendWR) bool {
	if wr.SendFlags&ibv.SendInline == 0 {
		return false
	}
	var n uint64
	for _, e := range wr.SGEs() {
		n += uint64(e.Length)
	}
	switch wr.Opcode {
	case ibv.WRRDMARead, ibv.WRAtomicCmpAndSwp, ibv.WRAtomicFetchAndAdd, ibv.WRLocalInv, ibv.WRBindMW:
		return true
	}
	return n > uint64(qp.init.Cap.MaxInlineData)
}

// complete ends the work request that is next to be carried out.
func (q *sendQueue) complete(qp *queuePair, status ibv.WCStatus, length uint32) {
	w := q.next()
	q.done()
	q.silent++
	told := status != ibv.WCSuccess || w.is(ibv.SendSignaled) || qp.init.SQSigAll != 0
	own := q.use.end(&w.own, told)
	if !told {
		return
	}
	wc := ibv.WC{WRID: w.wr.WRID, Status: status, QPNum: qp.number()}
	if status == ibv.WCSuccess {
		wc.Opcode, wc.ByteLen = completes[w.wr.Opcode], length
	}
	free := q.silent
	q.silent = 0
	qp.sendCQ.push(completion{wc: wc, solicited: status != ibv.WCSuccess, slots: &q.slots, free: free, life: q.life, own: own})
}

// completes is what the completions of operations say.
var completes = [...]ibv.WCOpcode{
	ibv.WRRDMAWrite: ibv.WCRDMAWrite, ibv.WRRDMAWriteWithImm: ibv.WCRDMAWrite, ibv.WRRDMARead: ibv.WCRDMARead,
	ibv.WRSend: ibv.WCSend, ibv.WRSendWithImm: ibv.WCSend, ibv.WRSendWithInv: ibv.WCSend,
	ibv.WRAtomicCmpAndSwp: ibv.WCCompSwap, ibv.WRAtomicFetchAndAdd: ibv.WCFetchAdd,
	ibv.WRLocalInv: ibv.WCLocalInv, ibv.WRBindMW: ibv.WCBindMW,
}

// flushSends completes all that the send queue has, not carried out.
func (qp *queuePair) flushSends() {
	for qp.sends.waiting() > 0 {
		qp.sends.complete(qp, ibv.WCWRFlushErr, 0)
	}
}
