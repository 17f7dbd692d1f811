package rdma

import "github.com/goverbs/goverbs/ibv"

// postAllSends posts a chain, if nothing is wrong with it.
func (q *checkedQP) postAllSends(c *ibv.SendChain, _, _ uintptr) (int, error) {
	if last := c.Len() - 1; c.WR(last).Next != nil {
		return 0, endless(last).error("post sends to", q.l)
	}
	return q.postSend(c, 0, c.Len())
}

// postSend posts work requests of a chain, if nothing is wrong with them.
func (q *checkedQP) postSend(c *ibv.SendChain, first, end int) (int, error) {
	const op = "post sends to"
	if first < 0 || first >= end || end > c.Len() {
		return c.PostRange(q.raw, first, end)
	}
	leave, at, m := q.enter(c)
	if m != nil {
		return 0, m.error(op, q.l)
	}
	defer leave()
	if err := c.Intact(first, end); err != nil {
		return 0, overwritten(err).error(op, q.l)
	}
	requests := make([]request, end-first)
	for i := range requests {
		wr := c.WR(first + i)
		r := &requests[i]
		*r = request{index: first + i, wrID: wr.WRID, opcode: wr.Opcode, flags: wr.SendFlags, sges: c.SGEs(first + i)}
		if q.typ == ibv.QPTUD {
			r.ah, r.remoteQPN = uintptr(wr.WR.UD().AH), wr.WR.UD().RemoteQPN
		}
		if wr.SendFlags&ibv.SendInline != 0 {
			r.inlined = r.length()
			r.inline = true
		}
	}
	return q.postSends(op, requests, true, at, func(n int) (int, error) { return c.PostRange(q.raw, first, first+n) })
}

// postSends checks work requests for the send queue, and posts them.
func (q *checkedQP) postSends(op string, requests []request, parts bool, at stack, post func(n int) (int, error)) (int, error) {
	checks.Lock()
	n, m, err := q.send.post(requests, parts, at, q.checkSend, q.workOf, post)
	checks.Unlock()
	if m != nil {
		return n, m.error(op, q.l)
	}
	return n, err
}

// sendsInline are the operations that can have their data inline.
func sendsInline(op ibv.WROpcode) bool {
	switch op {
	case ibv.WRSend, ibv.WRSendWithImm, ibv.WRSendWithInv, ibv.WRRDMAWrite, ibv.WRRDMAWriteWithImm:
		return true
	}
	return false
}

// hasResult reports whether an operation writes to its buffers.
func hasResult(op ibv.WROpcode) bool {
	return op == ibv.WRRDMARead || op == ibv.WRAtomicCmpAndSwp || op == ibv.WRAtomicFetchAndAdd
}

// cannot reports whether queue pairs of a type never have an operation, on any
// device. Of types and operations that devices have rules of their own for, it knows
// nothing.
func cannot(typ ibv.QPType, op ibv.WROpcode) bool {
	switch op {
	case ibv.WRRDMAWrite, ibv.WRRDMAWriteWithImm:
		return typ == ibv.QPTUD
	case ibv.WRRDMARead, ibv.WRAtomicCmpAndSwp, ibv.WRAtomicFetchAndAdd:
		return typ == ibv.QPTUD || typ == ibv.QPTUC
	case ibv.WRSendWithInv, ibv.WRLocalInv, ibv.WRBindMW: // of memory that only a connection reaches
		return typ == ibv.QPTUD
	}
	return (typ == ibv.QPTUD || typ == ibv.QPTUC) && answered(op)
}

// checkSend checks a work request for the send queue, and returns the memory that
// it uses until it has completed.
func (q *checkedQP) checkSend(r *request) ([]use, *mistake) {
	state := q.raw.State
	switch {
	case q.moves && state < ibv.QPSRTS:
		return nil, wrong("it is in %v, and takes no sends before RTS: see ToRTS", state)
	case cannot(q.typ, r.opcode):
		return nil, r.wrong("is %v, which a queue pair of type %v cannot do", r.opcode, q.typ)
	case q.typ == ibv.QPTUD && r.ah != 0 && r.remoteQPN == 0:
		return nil, r.wrong("goes to queue pair 0, which is the network manager's: use SetUD")
	case q.known() && r.inline && !sendsInline(r.opcode):
		return nil, r.wrong("is %v, whose data cannot be inline", r.opcode)
	case q.own && q.known() && r.inline && r.inlined > uint64(q.cap.MaxInlineData):
		return nil, r.wrong("has %d bytes inline, and the queue pair was made for %d (MaxInlineData)", r.inlined, q.cap.MaxInlineData)
	case q.own && q.known() && len(r.sges) > q.send.room:
		return nil, r.wrong("has %d scatter/gather entries, and its queue was made for %d", len(r.sges), q.send.room)
	}
	if q.typ == ibv.QPTUD {
		if m := checks.addressed(q.pd, r); m != nil {
			return nil, m
		}
	}
	if q.known() && r.length() > q.longest {
		if q.longest = q.longestMessage(); r.length() > q.longest {
			return nil, r.wrong("has %d bytes, and the longest message has %d here", r.length(), q.longest)
		}
	}
	if r.inline {
		return nil, nil
	}
	return checks.entries(q.pd, r, hasResult(r.opcode))
}

// longestMessage is how long a message may be on any of the device's ports, as they
// are now.
func (q *checkedQP) longestMessage() uint64 {
	const unknown = 1<<64 - 1
	device, err := q.raw.Context.QueryDevice()
	if err != nil {
		return unknown
	}
	longest := uint64(0)
	for number := range uint32(device.PhysPortCnt) {
		port, err := q.raw.Context.QueryPort(number + 1)
		if err != nil || port.MaxMsgSz == 0 || port.ActiveMTU < ibv.MTU256 || port.ActiveMTU > ibv.MTU4096 {
			return unknown
		}
		if q.typ == ibv.QPTUD {
			longest = max(longest, uint64(128)<<port.ActiveMTU)
			continue
		}
		longest = max(longest, uint64(port.MaxMsgSz))
	}
	if longest == 0 {
		return unknown
	}
	return longest
}

// workOf is a send as outstanding work.
func (q *checkedQP) workOf(r *request) *work {
	return &work{
		what:      "send",
		signalled: q.signalAll || r.flags&ibv.SendSignaled != 0,
		writes:    hasResult(r.opcode),
		atomic:    hasResult(r.opcode) && r.opcode != ibv.WRRDMARead,
		fenced:    r.flags&ibv.SendFence != 0,
	}
}
