package model

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// answer is what a call returned.
type answer struct {
	errno    syscall.Errno // 0 for success
	accepted int           // of posts; -1 if that is not known
	entries  int           // that a completion queue has
	cap      ibv.QPCap     // that a queue pair has
	srq      ibv.SRQAttr   // that a shared receive queue has
	state    ibv.QPState   // of a queue pair
	typ      ibv.QPType    // of a queue pair
	access   ibv.AccessFlags
	sigAll   bool
}

var (
	busy    = []syscall.Errno{syscall.EBUSY}
	inUse   = []syscall.Errno{syscall.EBUSY, syscall.EINVAL}
	invalid = []syscall.Errno{syscall.EINVAL}
	tooMuch = []syscall.Errno{syscall.EINVAL, syscall.ENOMEM}
)

// most is what no device has of anything that calls here ask for.
const most = 1 << 28

// present tells whether the objects that the call names are there, and the one that it
// makes is not.
func (w *world) present(c Call) bool {
	has := func(m map[int]bool, n int) bool { return m[n] }
	switch c := c.(type) {
	case AllocPD:
		return !has(w.pds, c.PD)
	case DeallocPD:
		return has(w.pds, c.PD)
	case RegMR:
		return w.mrs[c.MR] == nil && has(w.pds, c.PD) && c.Offset >= 0 && c.Length >= 0 && c.Offset+c.Length <= MemorySize
	case DeregMR:
		return w.mrs[c.MR] != nil && !w.mrs[c.MR].gone
	case AllocMW:
		return w.mws[c.MW] == nil && has(w.pds, c.PD)
	case DeallocMW:
		return w.mws[c.MW] != nil && !w.mws[c.MW].gone
	case CreateCQ:
		return w.cqs[c.CQ] == nil
	case ResizeCQ:
		return w.cqs[c.CQ] != nil
	case DestroyCQ:
		return w.cqs[c.CQ] != nil
	case CreateSRQ:
		return w.srqs[c.SRQ] == nil && has(w.pds, c.PD)
	case QuerySRQ:
		return w.srqs[c.SRQ] != nil
	case DestroySRQ:
		return w.srqs[c.SRQ] != nil
	case CreateQP:
		return w.qps[c.QP] == nil && has(w.pds, c.PD) && w.cqs[c.SendCQ] != nil && w.cqs[c.RecvCQ] != nil &&
			(c.SRQ == 0 || w.srqs[c.SRQ] != nil)
	case ModifyQP:
		qp := w.qps[c.QP]
		return qp != nil && (c.mask(qp.Type, qp.state)&ibv.QPAttrMaskDestQPN == 0 || w.qps[c.Peer] != nil)
	case QueryQP:
		return w.qps[c.QP] != nil
	case DestroyQP:
		return w.qps[c.QP] != nil
	case CreateAH:
		_, there := w.ahs[c.AH]
		return !there && has(w.pds, c.PD)
	case DestroyAH:
		_, there := w.ahs[c.AH]
		return there
	case Fill:
		return c.Offset >= 0 && c.Length >= 0 && c.Offset+c.Length <= MemorySize
	case PostRecv:
		return w.qps[c.QP] != nil && w.haveKeys(entriesOf(c.WRs))
	case PostSRQRecv:
		return w.srqs[c.SRQ] != nil && w.haveKeys(entriesOf(c.WRs))
	case PostSend:
		qp := w.qps[c.QP]
		if qp == nil {
			return false
		}
		for _, wr := range c.WRs {
			if !w.haveKeys(wr.SGEs) || !w.haveTarget(wr) {
				return false
			}
			if qp.Type == ibv.QPTUD {
				if _, ok := w.ahs[wr.AH]; !ok || w.qps[wr.To] == nil || operations[wr.Opcode].access != 0 || wr.Window.MW != 0 {
					return false
				}
			}
		}
		return true
	}
	return false
}

func entriesOf(wrs []RecvWR) (entries []SGE) {
	for _, wr := range wrs {
		entries = append(entries, wr.SGEs...)
	}
	return entries
}

// haveTarget tells whether what a send names beside its entries was ever there.
func (w *world) haveTarget(wr SendWR) bool {
	op := operations[wr.Opcode]
	switch {
	case op.access != 0 && wr.Remote.MW != 0:
		return w.mws[wr.Remote.MW] != nil
	case op.access != 0:
		return w.mrs[wr.Remote.MR] != nil
	case wr.Opcode == ibv.WRBindMW:
		return w.mws[wr.Window.MW] != nil && !w.mws[wr.Window.MW].gone && w.mrs[wr.Window.MR] != nil && !w.mrs[wr.Window.MR].gone
	case op.window, op.ends:
		return w.mws[wr.Window.MW] != nil
	}
	return true
}

// haveKeys tells whether the regions of the entries were ever there.
func (w *world) haveKeys(entries []SGE) bool {
	return !slices.ContainsFunc(entries, func(e SGE) bool { return w.mrs[e.MR] == nil })
}

// refusals is the errno values one of which the call must give; none if it must succeed.
// Posts are another matter.
func (w *world) refusals(c Call) []syscall.Errno {
	switch c := c.(type) {
	case DeallocPD:
		if w.childrenOf(c.PD) {
			return busy
		}
	case RegMR:
		writes := c.Access&(ibv.AccessRemoteWrite|ibv.AccessRemoteAtomic) != 0
		if c.Length == 0 || writes && c.Access&ibv.AccessLocalWrite == 0 {
			return invalid
		}
	case DeregMR:
		if w.boundTo(func(mw *window) bool { return mw.MR == c.MR }) {
			return inUse
		}
	case CreateCQ:
		return wrongSize(c.Entries)
	case ResizeCQ:
		return wrongSize(c.Entries)
	case DestroyCQ:
		for _, qp := range w.qps {
			if qp.SendCQ == c.CQ || qp.RecvCQ == c.CQ {
				return busy
			}
		}
	case CreateSRQ:
		if c.MaxWR >= most || c.MaxSGE >= most {
			return tooMuch
		}
	case DestroySRQ:
		for _, qp := range w.qps {
			if qp.SRQ == c.SRQ {
				return busy
			}
		}
	case CreateQP:
		if max(c.Cap.MaxSendWR, c.Cap.MaxSendSGE) >= most || c.SRQ == 0 && max(c.Cap.MaxRecvWR, c.Cap.MaxRecvSGE) >= most {
			return tooMuch
		}
	case ModifyQP:
		if !c.takes(w.qps[c.QP]) {
			return invalid
		}
	}
	return nil
}

func wrongSize(entries int) []syscall.Errno {
	if entries < 1 {
		return invalid
	}
	if entries >= most {
		return tooMuch
	}
	return nil
}

// childrenOf tells whether a protection domain has any.
func (w *world) childrenOf(pd int) bool {
	for _, mr := range w.mrs {
		if mr.PD == pd && !mr.gone {
			return true
		}
	}
	for _, mw := range w.mws {
		if mw.PD == pd && !mw.gone {
			return true
		}
	}
	for _, of := range w.ahs {
		if of == pd {
			return true
		}
	}
	for _, srq := range w.srqs {
		if srq.pd == pd {
			return true
		}
	}
	for _, qp := range w.qps {
		if qp.PD == pd {
			return true
		}
	}
	return false
}

// judge compares what a call returned with what it may, and does to the world what it
// does. The error says what it should have been.
func (w *world) judge(c Call, a *answer) error {
	switch c := c.(type) {
	case PostRecv:
		return w.judgePost(a, len(c.WRs), func(i int) *refusal { return w.refusesRecv(w.qps[c.QP], i, c.WRs[i]) },
			func(i int) { w.postedRecv(w.qps[c.QP], c.WRs[i]) }, &w.qps[c.QP].receives)
	case PostSRQRecv:
		q := &w.srqs[c.SRQ].receives
		if w.waits(q) > 1 {
			w.leave("several queue pairs wait for a receive of shared receive queue %d", c.SRQ)
		}
		return w.judgePost(a, len(c.WRs), func(i int) *refusal { return w.refusesReceive(q, c.WRs[i]) },
			func(i int) { q.waiting = append(q.waiting, c.WRs[i]) }, q)
	case PostSend:
		qp := w.qps[c.QP]
		return w.judgePost(a, len(c.WRs), func(i int) *refusal { return w.refusesSend(qp, c.WRs[i]) },
			func(i int) { w.posted(qp, c.WRs[i]) }, nil)
	}
	if want := w.refusals(c); want != nil {
		if !slices.Contains(want, a.errno) {
			return fmt.Errorf("it gave %s, and not %s", errnoName(a.errno), errnoNames(want))
		}
		return nil
	}
	if a.errno != 0 {
		return fmt.Errorf("it gave %s, and should have succeeded", errnoName(a.errno))
	}
	return w.done(c, a)
}

// done is what a call that succeeded changes; the error is of what it brought.
func (w *world) done(c Call, a *answer) error {
	switch c := c.(type) {
	case AllocPD:
		w.pds[c.PD] = true
	case DeallocPD:
		delete(w.pds, c.PD)
	case RegMR:
		w.mrs[c.MR] = &region{RegMR: c}
	case DeregMR:
		w.mrs[c.MR].gone = true
	case AllocMW:
		w.mws[c.MW] = &window{AllocMW: c}
	case DeallocMW:
		w.mws[c.MW].gone = true
	case CreateCQ:
		w.cqs[c.CQ] = &completionQueue{a.entries}
		return atLeast("entries", a.entries, c.Entries)
	case ResizeCQ:
		w.cqs[c.CQ].entries = a.entries
		return atLeast("entries", a.entries, c.Entries)
	case DestroyCQ:
		delete(w.cqs, c.CQ)
	case CreateSRQ:
		w.srqs[c.SRQ] = &sharedQueue{receives{maxWR: int(a.srq.MaxWR), maxSGE: int(a.srq.MaxSGE)}, c.PD}
		return firstError(atLeast("MaxWR", int(a.srq.MaxWR), int(c.MaxWR)), atLeast("MaxSGE", int(a.srq.MaxSGE), int(c.MaxSGE)))
	case QuerySRQ:
		q := w.srqs[c.SRQ]
		if w.misstated(int(a.srq.MaxWR), q.maxWR) || int(a.srq.MaxSGE) != q.maxSGE {
			return fmt.Errorf("it has MaxWR %d and MaxSGE %d, and was made with %d and %d", a.srq.MaxWR, a.srq.MaxSGE, q.maxWR, q.maxSGE)
		}
	case DestroySRQ:
		delete(w.srqs, c.SRQ)
	case CreateQP:
		return w.createdQP(c, a)
	case ModifyQP:
		w.modify(w.qps[c.QP], c)
	case QueryQP:
		return w.queriedQP(w.qps[c.QP], a)
	case DestroyQP:
		w.drop(c.QP)
		delete(w.qps, c.QP)
	case CreateAH:
		w.ahs[c.AH] = c.PD
	case DestroyAH:
		delete(w.ahs, c.AH)
	case Fill:
		w.fill(c.Offset, c.Length, c.Value)
	}
	return nil
}

func atLeast(what string, got, want int) error {
	if got < want {
		return fmt.Errorf("it has %s %d, and was asked for %d", what, got, want)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) createdQP(c CreateQP, a *answer) error {
	qp := &queuePair{CreateQP: c, state: ibv.QPSReset}
	err := firstError(
		atLeast("MaxSendWR", int(a.cap.MaxSendWR), int(c.Cap.MaxSendWR)),
		atLeast("MaxSendSGE", int(a.cap.MaxSendSGE), int(c.Cap.MaxSendSGE)),
		atLeast("MaxInlineData", int(a.cap.MaxInlineData), int(c.Cap.MaxInlineData)),
	)
	if c.SRQ == 0 {
		err = firstError(err, atLeast("MaxRecvWR", int(a.cap.MaxRecvWR), int(c.Cap.MaxRecvWR)),
			atLeast("MaxRecvSGE", int(a.cap.MaxRecvSGE), int(c.Cap.MaxRecvSGE)))
	}
	qp.Cap = a.cap
	qp.maxWR, qp.maxSGE = int(a.cap.MaxRecvWR), int(a.cap.MaxRecvSGE)
	w.qps[c.QP] = qp
	return err
}

func (w *world) queriedQP(qp *queuePair, a *answer) error {
	if a.state != qp.state {
		return fmt.Errorf("it is in %v, and should be in %v", a.state, qp.state)
	}
	if a.typ != qp.Type || a.sigAll != qp.SigAll {
		return fmt.Errorf("it has type %v and SigAll %v, and was made with %v and %v", a.typ, a.sigAll, qp.Type, qp.SigAll)
	}
	if qp.Type != ibv.QPTUD && qp.state != ibv.QPSReset && a.access != qp.access {
		return fmt.Errorf("its access flags are %v, and should be %v", a.access, qp.access)
	}
	if w.misstated(int(a.cap.MaxSendWR), int(qp.Cap.MaxSendWR)) || a.cap.MaxSendSGE != qp.Cap.MaxSendSGE || a.cap.MaxInlineData != qp.Cap.MaxInlineData ||
		qp.SRQ == 0 && (w.misstated(int(a.cap.MaxRecvWR), qp.maxWR) || int(a.cap.MaxRecvSGE) != qp.maxSGE) {
		return fmt.Errorf("it has %+v, and was made with %+v", a.cap, qp.Cap)
	}
	return nil
}

// misstated tells whether a query should not say that a queue that was made with room for
// so many work requests has that room.
func (w *world) misstated(room, made int) bool {
	return room < made || room > made && !w.QueryTellsRoom
}

func errnoName(e syscall.Errno) string {
	if e == 0 {
		return "success"
	}
	return fmt.Sprintf("error %d (%v)", int(e), e)
}

func errnoNames(es []syscall.Errno) (text string) {
	for i, e := range es {
		if i > 0 {
			text += " or "
		}
		text += errnoName(e)
	}
	return text
}
