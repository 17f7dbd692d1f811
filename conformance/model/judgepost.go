package model

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// refusal is why a work request is, or may be, refused.
type refusal struct {
	errnos []syscall.Errno
	may    bool // it may be accepted, too
	full   bool // for lack of room
	state  bool // for the queue pair's state
}

var wrongState = &refusal{errnos: invalid, state: true}

// judgePost compares what a post returned with what it may.
func (w *world) judgePost(a *answer, n int, refuses func(i int) *refusal, posted func(i int), q *receives) error {
	accepted := a.accepted
	if accepted < 0 {
		if r := refuses(0); r == nil || !r.state || !w.UnknownRefusal {
			return fmt.Errorf("it gave %s, and does not say which work request was refused", errnoName(a.errno))
		}
		accepted = 0
	}
	if accepted > n || (a.errno == 0) != (accepted == n) {
		return fmt.Errorf("it gave %s, with %d of %d work requests accepted", errnoName(a.errno), accepted, n)
	}
	for i := range accepted {
		if r := refuses(i); r != nil && !r.may {
			return fmt.Errorf("it accepted work request %d, and should have given %s", i, errnoNames(r.errnos))
		}
		posted(i)
	}
	if accepted == n {
		return nil
	}
	r := refuses(accepted)
	switch {
	case r == nil:
		return fmt.Errorf("it refused work request %d with %s, and should have accepted it", accepted, errnoName(a.errno))
	case !slices.Contains(r.errnos, a.errno):
		return fmt.Errorf("it refused work request %d with %s, and not with %s", accepted, errnoName(a.errno), errnoNames(r.errnos))
	case r.full && q != nil && w.waits(q) == 0:
		q.room = len(q.waiting)
	}
	return nil
}

// refusesRecv is why a queue pair refuses receive i of a chain; nil if it must accept it.
func (w *world) refusesRecv(qp *queuePair, i int, wr RecvWR) *refusal {
	if qp.SRQ != 0 || qp.state == ibv.QPSReset {
		return wrongState
	}
	r := w.refusesReceive(&qp.receives, wr)
	if r == nil && qp.state == ibv.QPSErr && i >= qp.maxWR {
		// They need room until they are flushed, which may be after the whole chain.
		return &refusal{errnos: []syscall.Errno{syscall.ENOMEM}, may: true}
	}
	return r
}

// refusesReceive is why a receive queue refuses a receive, the first one first.
func (w *world) refusesReceive(q *receives, wr RecvWR) *refusal {
	n := len(q.waiting)
	switch {
	case len(wr.SGEs) > q.maxSGE:
		return &refusal{errnos: tooMuch}
	case q.room > 0 && n >= q.room && w.waits(q) == 0:
		return &refusal{errnos: []syscall.Errno{syscall.ENOMEM}, full: true}
	case n >= q.maxWR && (q.room == 0 || w.waits(q) > 0):
		return &refusal{errnos: []syscall.Errno{syscall.ENOMEM}, full: true, may: n <= 2*q.maxWR}
	}
	return nil
}

// refusesSend is why a queue pair refuses a send; nil if it must accept it.
func (w *world) refusesSend(qp *queuePair, wr SendWR) *refusal {
	if qp.state < ibv.QPSRTS {
		if w.KeepsRefusedSends {
			w.leave("a send in %v", qp.state)
		}
		return wrongState
	}
	op, length := operations[wr.Opcode], 0
	full, isInline := len(qp.occupied) >= int(qp.Cap.MaxSendWR), wr.Flags&ibv.SendInline != 0
	for _, e := range wr.SGEs {
		length += e.Length
		if isInline && (e.Offset < 0 || e.Offset+e.Length > MemorySize) {
			w.leave("it reads inline what is not there")
		}
	}
	switch {
	case (op.window || op.ends) && qp.Type != ibv.QPTRC:
		w.leave("windows of another type of queue pair than RC")
		return nil
	case op.fetches && isInline:
		w.leave("a read inline")
		return nil
	case len(wr.SGEs) > int(qp.Cap.MaxSendSGE), isInline && length > int(qp.Cap.MaxInlineData):
		return &refusal{errnos: tooMuch}
	case op.atomic && (length != 8 || len(wr.SGEs) != 1):
		w.leave("an atomic of %d bytes", length)
		return nil
	case !op.fits(qp.Type), op.atomic && wr.Remote.Offset%8 != 0:
		r := &refusal{errnos: invalid, may: true}
		if full {
			r.errnos = tooMuch
		}
		return r
	case full, w.FlushesLate && qp.state == ibv.QPSErr:
		return &refusal{errnos: []syscall.Errno{syscall.ENOMEM}, may: true}
	}
	return nil
}

// foresee says what cannot be tried of a call, before it is made.
func (w *world) foresee(c Call) {
	var moved int
	switch c := c.(type) {
	case AllocMW:
		if w.NoWindows {
			w.leave("a memory window")
		}
	case DestroyQP:
		moved = c.QP
	case ModifyQP:
		if c.To == ibv.QPSReset {
			moved = c.QP
		}
	case PostSend:
		for _, wr := range c.WRs {
			w.refusesSend(w.qps[c.QP], wr)
		}
	}
	if moved != 0 && w.boundTo(func(mw *window) bool { return mw.qp == moved }) {
		w.leave("queue pair %d has windows", moved)
	}
}

// postedRecv takes down a receive that a queue pair has accepted.
func (w *world) postedRecv(qp *queuePair, wr RecvWR) {
	if qp.state != ibv.QPSErr {
		qp.waiting = append(qp.waiting, wr)
		return
	}
	if w.FlushesLate {
		qp.waiting = append(qp.waiting, wr)
	}
	w.received(qp, wr, ibv.WCWRFlushErr).late = w.FlushesLate
}

// assume is what a device does that never gives more than was asked for.
func (w *world) assume(c Call) *answer {
	a := &answer{}
	count := func(n, room int, refuses func(i int) *refusal) {
		for a.accepted < n {
			r := refuses(a.accepted)
			if r == nil && a.accepted >= room {
				r = &refusal{errnos: []syscall.Errno{syscall.ENOMEM}}
			}
			if r != nil {
				a.errno = r.errnos[0]
				return
			}
			a.accepted++
		}
	}
	switch c := c.(type) {
	case PostRecv:
		qp := w.qps[c.QP]
		count(len(c.WRs), qp.maxWR-len(qp.waiting), func(i int) *refusal { return w.refusesRecv(qp, i, c.WRs[i]) })
		return a
	case PostSRQRecv:
		q := &w.srqs[c.SRQ].receives
		count(len(c.WRs), q.maxWR-len(q.waiting), func(i int) *refusal { return w.refusesReceive(q, c.WRs[i]) })
		return a
	case PostSend:
		qp := w.qps[c.QP]
		count(len(c.WRs), int(qp.Cap.MaxSendWR)-len(qp.occupied), func(i int) *refusal { return w.refusesSend(qp, c.WRs[i]) })
		return a
	}
	if errnos := w.refusals(c); errnos != nil {
		a.errno = errnos[0]
		return a
	}
	switch c := c.(type) {
	case CreateCQ:
		a.entries = c.Entries
	case ResizeCQ:
		a.entries = c.Entries
	case CreateSRQ:
		a.srq = ibv.SRQAttr{MaxWR: c.MaxWR, MaxSGE: c.MaxSGE}
	case QuerySRQ:
		q := w.srqs[c.SRQ]
		a.srq = ibv.SRQAttr{MaxWR: uint32(q.maxWR), MaxSGE: uint32(q.maxSGE)}
	case CreateQP:
		a.cap = c.Cap
	case QueryQP:
		qp := w.qps[c.QP]
		a.state, a.typ, a.access, a.sigAll, a.cap = qp.state, qp.Type, qp.access, qp.SigAll, qp.Cap
	}
	return a
}
