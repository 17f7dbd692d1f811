//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// queuePair is a queue pair.
type queuePair struct {
	raw    ibv.QPEx // first: C's, which begins with struct ibv_qp
	ctx    *context
	pd     *domain // nil of the receiving end of XRC
	in     *domain // the parent domain or the protection domain that it was made in
	init   ibv.QPInitAttr
	attr   ibv.QPAttr
	sendCQ *completionQueue
	recvCQ *completionQueue
	srq    *sharedQueue // or nil
	groups int          // that it is attached to
	batch  *batch       // of an extended one

	// Of a receiving end of XRC.
	xrcd    *xrcDomain
	target  *queuePair // which this is another handle of, or nil
	handles int        // how many of those there are

	transport
}

func init() {
	symbols["ibv_create_qp"] = func(a ccall.Args) (uintptr, syscall.Errno) {
		attr := of[ibv.QPInitAttr](a[1])
		extended := ibv.QPInitAttrEx{CompMask: ibv.QPInitAttrPD}
		// Safe: C's two structs begin alike.
		*(*ibv.QPInitAttr)(unsafe.Pointer(&extended)) = *attr
		extended.CompMask, extended.PD = ibv.QPInitAttrPD, of[ibv.PD](a[0])
		qp, errno := contextOf(extended.PD.Context).createQP(&extended)
		if errno != 0 {
			return null, errno
		}
		attr.Cap = extended.Cap
		return address(&qp.raw.QPBase), 0
	}
	symbols["ibv_destroy_qp"] = destroyQP
	equip = append(equip, func(v *ibv.VerbsContext) { v.CreateQPEx = opCreateQPEx })
}

var opCreateQPEx = operation("create_qp_ex", func(a ccall.Args) (uintptr, syscall.Errno) {
	qp, errno := contextAt(a[0]).createQP(of[ibv.QPInitAttrEx](a[1]))
	if errno != 0 {
		return null, errno
	}
	return address(&qp.raw.QPBase), 0
})

// createQP makes a queue pair, and tells in attr what it really has.
func (c *context) createQP(attr *ibv.QPInitAttrEx) (*queuePair, syscall.Errno) {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	if !c.hasAll(attr) {
		return nil, syscall.EINVAL
	}
	if errno := c.dev.refusesQP(attr); errno != 0 {
		return nil, errno
	}
	qp := &queuePair{ctx: c}
	raw := &qp.raw.QPBase
	raw.Context, raw.QPContext, raw.QPType = &c.verbs.Context, attr.QPContext, attr.QPType
	raw.SendCQ, raw.RecvCQ, raw.SRQ, raw.State = attr.SendCQ, attr.RecvCQ, attr.SRQ, ibv.QPSReset
	if attr.QPType != ibv.QPTXRCRecv {
		qp.in = of[domain](address(attr.PD))
		qp.in.uses++
		qp.pd, raw.PD = qp.in.itself(), attr.PD
	}
	if attr.QPType == ibv.QPTXRCRecv {
		attr.Cap = ibv.QPCap{}
		qp.xrcd = of[xrcDomain](address(attr.XRCD))
		qp.xrcd.uses++
		raw.SendCQ, raw.RecvCQ, raw.SRQ = nil, nil, nil
	}
	if attr.QPType == ibv.QPTXRCSend {
		attr.Cap.MaxRecvWR, attr.Cap.MaxRecvSGE = 0, 0
		raw.RecvCQ, raw.SRQ = nil, nil
	}
	if raw.SRQ != nil {
		qp.srq = of[sharedQueue](address(attr.SRQ))
		qp.srq.uses++
		attr.Cap.MaxRecvWR, attr.Cap.MaxRecvSGE = 0, 0
	}
	// Safe: the objects are of ours, and C's two structs begin alike.
	qp.sendCQ, qp.recvCQ = ofPointer[completionQueue](unsafe.Pointer(raw.SendCQ)), ofPointer[completionQueue](unsafe.Pointer(raw.RecvCQ))
	qp.init = *(*ibv.QPInitAttr)(unsafe.Pointer(attr))
	for _, cq := range []*completionQueue{qp.sendCQ, qp.recvCQ} {
		if cq != nil {
			cq.uses++
		}
	}
	raw.Handle, raw.QPNum = c.dev.handle(), c.dev.qpNumber()
	if qp.srq != nil {
		qp.setUp(&qp.srq.queue)
	} else {
		qp.setUp(nil)
	}
	if attr.CompMask&ibv.QPInitAttrSendOpsFlags != 0 {
		qp.extend(ibv.QPCreateSendOpsFlags(attr.SendOpsFlags))
	}
	c.dev.queuePairs[raw.QPNum] = qp
	c.f.keep(qp)
	return qp, 0
}

// hasAll reports whether the context has what attributes name for a queue pair.
func (c *context) hasAll(attr *ibv.QPInitAttrEx) bool {
	return (attr.CompMask&ibv.QPInitAttrPD == 0 || among[domain](c, address(attr.PD)) != nil) &&
		(attr.CompMask&ibv.QPInitAttrXRCD == 0 || among[xrcDomain](c, address(attr.XRCD)) != nil) &&
		(attr.SRQ == nil || among[sharedQueue](c, address(attr.SRQ)) != nil) &&
		(attr.SendCQ == nil || among[completionQueue](c, address(attr.SendCQ)) != nil) &&
		(attr.RecvCQ == nil || among[completionQueue](c, address(attr.RecvCQ)) != nil)
}

// refusesQP is why the device makes no such queue pair, or 0.
func (d *device) refusesQP(attr *ibv.QPInitAttrEx) syscall.Errno {
	if errno := d.refusesQPType(attr); errno != 0 {
		return errno
	}
	above := func(n uint32, limit int32) bool { return int64(n) > int64(limit) }
	switch limits := &d.attr; {
	case above(attr.Cap.MaxSendWR, limits.MaxQPWR), above(attr.Cap.MaxSendSGE, limits.MaxSGE), attr.Cap.MaxInlineData > maxInline,
		attr.SRQ == nil && (above(attr.Cap.MaxRecvWR, limits.MaxQPWR) || above(attr.Cap.MaxRecvSGE, limits.MaxSGE)):
		return syscall.EINVAL
	case len(d.queuePairs) >= int(limits.MaxQP):
		return syscall.ENOMEM
	}
	return 0
}

// refusesQPType is why the device makes no queue pair of such a type, or for such operations, or 0.
func (d *device) refusesQPType(attr *ibv.QPInitAttrEx) syscall.Errno {
	const has = ibv.QPInitAttrPD | ibv.QPInitAttrXRCD | ibv.QPInitAttrCreateFlags | ibv.QPInitAttrSendOpsFlags
	missing := attr.CompMask&ibv.QPInitAttrPD == 0 || attr.SendCQ == nil
	there := true
	switch attr.QPType {
	case ibv.QPTRC:
		missing = missing || attr.RecvCQ == nil
	case ibv.QPTUC, ibv.QPTUD:
		missing, there = missing || attr.RecvCQ == nil, !d.f.provider.IWARP
	case ibv.QPTXRCSend:
		there = d.hasXRC()
	case ibv.QPTXRCRecv:
		missing, there = attr.CompMask&ibv.QPInitAttrXRCD == 0, d.hasXRC()
	case ibv.QPTRawPacket, ibv.QPTDriver:
		there = false
	default:
		return syscall.EINVAL
	}
	switch {
	case !there, attr.CompMask&^has != 0, attr.CompMask&ibv.QPInitAttrCreateFlags != 0 && attr.CreateFlags != 0,
		attr.CompMask&ibv.QPInitAttrSendOpsFlags != 0 && attr.SendOpsFlags&^uint64(extendedOperations[attr.QPType]) != 0:
		return syscall.EOPNOTSUPP
	case missing, attr.SRQ != nil && of[sharedQueue](address(attr.SRQ)).xrcd != nil:
		return syscall.EINVAL
	}
	return 0
}

// qpNumber is a number that no queue pair has: the one behind the last, so that late messages find nobody.
func (d *device) qpNumber() uint32 {
	const firstNumber, numbers = 17, 1 << 24
	for {
		n := d.nextQP
		if d.nextQP++; d.nextQP == numbers-1 { // that is the number of multicast groups
			d.nextQP = firstNumber
		}
		if d.queuePairs[n] == nil {
			return n
		}
	}
}

func (qp *queuePair) opened() *context { return qp.ctx }

func (qp *queuePair) end() {
	if qp.target != nil {
		qp.target.handles--
		return
	}
	qp.own.ended = true
	qp.forget()
	qp.leaveAll()
	qp.unbindWindows()
	delete(qp.ctx.dev.queuePairs, qp.number())
	if qp.xrcd != nil {
		qp.xrcd.uses--
		return // its queues are others'
	}
	for _, cq := range []*completionQueue{qp.sendCQ, qp.recvCQ} {
		if cq != nil {
			cq.uses--
		}
	}
	if qp.in != nil {
		qp.in.uses--
	}
	if qp.srq != nil {
		qp.srq.uses--
	}
}

func destroyQP(a ccall.Args) (uintptr, syscall.Errno) {
	qp := of[queuePair](a[0])
	qp.ctx.f.mu.Lock()
	defer qp.ctx.f.mu.Unlock()
	if qp.groups > 0 || qp.handles > 0 {
		return uintptr(syscall.EBUSY), 0
	}
	qp.end()
	qp.ctx.f.drop(qp)
	qp.ctx.forgetEvents(address(&qp.raw), &qp.raw.QPBase.EventsCompleted)
	return 0, 0
}
