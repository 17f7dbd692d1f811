//go:build !freebsd

package ibvtest

import (
	"syscall"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// xrcDomain is an XRC domain, of this program alone.
type xrcDomain struct {
	raw  ibv.XRCD // first: C's
	ctx  *context
	uses int // how many objects were made in it: it cannot be closed before them
}

func init() {
	equip = append(equip, func(v *ibv.VerbsContext) {
		v.OpenXRCD, v.CloseXRCD = opOpenXRCD, opCloseXRCD
		v.OpenQP = opOpenQP
	})
}

var (
	opOpenXRCD  = operation("open_xrcd", openXRCD)
	opCloseXRCD = operation("close_xrcd", closeXRCD)
	opOpenQP    = operation("open_qp", openQP)
)

// hasXRC reports whether the device has XRC.
func (d *device) hasXRC() bool {
	return d.attr.DeviceCapFlags&ibv.DeviceXRC != 0 && !d.f.provider.IWARP
}

func openXRCD(a ccall.Args) (uintptr, syscall.Errno) {
	c, attr := contextAt(a[0]), of[ibv.XRCDInitAttr](a[1])
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	switch {
	case !c.dev.hasXRC():
		return null, syscall.EOPNOTSUPP
	case attr.CompMask != ibv.XRCDInitAttrFD|ibv.XRCDInitAttrOflags, attr.FD < 0 && attr.Oflags&syscall.O_CREAT == 0:
		return null, syscall.EINVAL
	case attr.FD >= 0:
		return null, syscall.EOPNOTSUPP // a file is for other processes
	}
	x := &xrcDomain{ctx: c}
	x.raw.Context = &c.verbs.Context
	c.f.keep(x)
	return address(&x.raw), 0
}

func (x *xrcDomain) opened() *context { return x.ctx }
func (x *xrcDomain) end()             {}

func closeXRCD(a ccall.Args) (uintptr, syscall.Errno) {
	x := of[xrcDomain](a[0])
	x.ctx.f.mu.Lock()
	defer x.ctx.f.mu.Unlock()
	return uintptr(closeUnused(x, x.uses)), 0
}

// openQP gives another handle of a receiving end of XRC.
func openQP(a ccall.Args) (uintptr, syscall.Errno) {
	c, attr := contextAt(a[0]), of[ibv.QPOpenAttr](a[1])
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	const needs = ibv.QPOpenAttrNum | ibv.QPOpenAttrXRCD | ibv.QPOpenAttrType
	if attr.CompMask&^ibv.QPOpenAttrContext != needs || attr.QPType != ibv.QPTXRCRecv {
		return null, syscall.EINVAL
	}
	target := c.dev.queuePairs[attr.QPNum]
	if target == nil || target.xrcd == nil || target.xrcd != of[xrcDomain](address(attr.XRCD)) {
		return null, syscall.EINVAL
	}
	handle := &queuePair{ctx: c, target: target}
	raw := &handle.raw.QPBase
	raw.Context, raw.QPType, raw.QPNum, raw.Handle, raw.State = &c.verbs.Context, attr.QPType, attr.QPNum, c.dev.handle(), target.now
	if attr.CompMask&ibv.QPOpenAttrContext != 0 {
		raw.QPContext = attr.QPContext
	}
	target.handles++
	c.f.keep(handle)
	return address(raw), 0
}

// itself is the queue pair that a handle is of.
func (qp *queuePair) itself() *queuePair {
	if qp.target != nil {
		return qp.target
	}
	return qp
}

// choose has a receiving end of XRC take a message for the shared receive queue that it names, in whose protection domain it
// is, if there is one in the XRC domain.
func (qp *queuePair) choose(number uint32) bool {
	srq := qp.ctx.dev.numbered[number]
	if srq == nil || srq.xrcd != qp.xrcd {
		return false
	}
	qp.receives, qp.pd, qp.recvCQ = &srq.queue, srq.in.itself(), srq.cq
	return true
}

// reliable reports whether messages are acknowledged.
func (qp *queuePair) reliable() bool {
	switch qp.raw.QPBase.QPType {
	case ibv.QPTRC, ibv.QPTXRCSend, ibv.QPTXRCRecv:
		return true
	}
	return false
}

// speaksWith reports whether the queue pair takes messages of a sender of a type.
func (qp *queuePair) speaksWith(sender ibv.QPType) bool {
	own := qp.raw.QPBase.QPType
	return own == sender && own != ibv.QPTXRCSend || own == ibv.QPTXRCRecv && sender == ibv.QPTXRCSend
}
