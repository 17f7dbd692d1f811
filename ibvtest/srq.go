//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// sharedQueue is a shared receive queue.
type sharedQueue struct {
	raw   ibv.SRQ // first: C's
	ctx   *context
	in    *domain // the parent domain or the protection domain that it was made in
	attr  ibv.SRQAttr
	queue recvQueue
	// Of one for XRC.
	xrcd   *xrcDomain
	cq     *completionQueue
	number uint32

	uses int // how many queue pairs take from it: it cannot be destroyed before them
}

func init() {
	symbols["ibv_create_srq"] = func(a ccall.Args) (uintptr, syscall.Errno) {
		pd, attr := of[domain](a[0]), of[ibv.SRQInitAttr](a[1])
		pd.ctx.f.mu.Lock()
		defer pd.ctx.f.mu.Unlock()
		srq, errno := pd.createSRQ(attr.SRQContext, &attr.Attr)
		if errno != 0 {
			return null, errno
		}
		return address(&srq.raw), 0
	}
	symbols["ibv_modify_srq"] = modifySRQ
	symbols["ibv_query_srq"] = querySRQ
	symbols["ibv_destroy_srq"] = destroySRQ
	equip = append(equip, func(v *ibv.VerbsContext) {
		v.Context.Ops.PostSRQRecv = opPostSRQRecv
		v.CreateSRQEx, v.GetSRQNum = opCreateSRQEx, opGetSRQNum
	})
}

var (
	opPostSRQRecv = servePost("post_srq_recv", (*sharedQueue).post)
	opCreateSRQEx = operation("create_srq_ex", createSRQEx)
	opGetSRQNum   = operation("get_srq_num", getSRQNum)
)

// createSRQ makes a shared receive queue, and tells in attr what it really has. The lock is held.
func (pd *domain) createSRQ(number uintptr, attr *ibv.SRQAttr) (*sharedQueue, syscall.Errno) {
	c, d := pd.ctx, pd.ctx.dev
	switch {
	case d.attr.MaxSRQ == 0:
		return nil, syscall.EOPNOTSUPP
	case !d.fitsSRQ(attr.MaxWR), int64(attr.MaxSGE) > int64(d.attr.MaxSRQSGE):
		return nil, syscall.EINVAL
	case d.sharedQueues >= d.attr.MaxSRQ:
		return nil, syscall.ENOMEM
	}
	attr.SRQLimit = 0
	srq := &sharedQueue{ctx: c, in: pd, attr: *attr}
	srq.queue.depth, srq.queue.maxSGE, srq.queue.in, srq.queue.shared = c.f.depth(attr.MaxWR), attr.MaxSGE, pd, srq
	raw := &srq.raw
	raw.Context, raw.SRQContext, raw.PD, raw.Handle = &c.verbs.Context, number, &pd.raw, d.handle()
	pd.uses++
	d.sharedQueues++
	c.f.keep(srq)
	return srq, 0
}

// fitsSRQ reports whether a shared receive queue can be so large.
func (d *device) fitsSRQ(maxWR uint32) bool {
	return maxWR > 0 && int64(maxWR) <= int64(d.attr.MaxSRQWR)
}

func createSRQEx(a ccall.Args) (uintptr, syscall.Errno) {
	c, attr := contextAt(a[0]), of[ibv.SRQInitAttrEx](a[1])
	const basic, forXRC = ibv.SRQInitAttrPD | ibv.SRQInitAttrType, ibv.SRQInitAttrXRCD | ibv.SRQInitAttrCQ
	mask, typ := attr.CompMask, ibv.SRQTBasic
	if mask&ibv.SRQInitAttrType != 0 {
		typ = attr.SRQType
	}
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	isXRC := typ == ibv.SRQTXRC
	switch {
	case mask&ibv.SRQInitAttrPD == 0, isXRC && mask&forXRC != forXRC:
		return null, syscall.EINVAL
	case typ != ibv.SRQTBasic && !(isXRC && c.dev.hasXRC()), mask&^(basic|forXRC) != 0:
		return null, syscall.EOPNOTSUPP
	}
	pd := among[domain](c, address(attr.PD))
	if pd == nil || isXRC && (among[xrcDomain](c, address(attr.XRCD)) == nil || among[completionQueue](c, address(attr.CQ)) == nil) {
		return null, syscall.EINVAL
	}
	srq, errno := pd.createSRQ(attr.SRQContext, &attr.Attr)
	if errno != 0 {
		return null, errno
	}
	if isXRC {
		// Safe: both are of ours.
		srq.xrcd, srq.cq = of[xrcDomain](address(attr.XRCD)), ofPointer[completionQueue](unsafe.Pointer(attr.CQ))
		srq.xrcd.uses++
		srq.cq.uses++
		c.dev.nextSRQ++
		srq.number = c.dev.nextSRQ
		c.dev.numbered[srq.number] = srq
	}
	return address(&srq.raw), 0
}

func getSRQNum(a ccall.Args) (uintptr, syscall.Errno) {
	srq := of[sharedQueue](a[0])
	if srq.xrcd == nil {
		return uintptr(syscall.EINVAL), 0
	}
	*of[uint32](a[1]) = srq.number
	return 0, 0
}

func modifySRQ(a ccall.Args) (uintptr, syscall.Errno) {
	srq, attr, mask := of[sharedQueue](a[0]), of[ibv.SRQAttr](a[1]), ibv.SRQAttrMask(uint32(a[2]))
	d := srq.ctx.dev
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	changed := srq.attr
	if mask&ibv.SRQMaxWR != 0 {
		changed.MaxWR = attr.MaxWR
		if d.attr.DeviceCapFlags&ibv.DeviceSRQResize == 0 || !d.fitsSRQ(attr.MaxWR) || attr.MaxWR < srq.queue.taken {
			return uintptr(syscall.EINVAL), 0
		}
	}
	if mask&ibv.SRQLimit != 0 {
		changed.SRQLimit = attr.SRQLimit
	}
	if mask&^(ibv.SRQMaxWR|ibv.SRQLimit) != 0 || changed.SRQLimit > changed.MaxWR {
		return uintptr(syscall.EINVAL), 0
	}
	srq.attr, srq.queue.depth = changed, d.f.depth(changed.MaxWR)
	return 0, 0
}

func querySRQ(a ccall.Args) (uintptr, syscall.Errno) {
	srq := of[sharedQueue](a[0])
	srq.ctx.f.mu.Lock()
	defer srq.ctx.f.mu.Unlock()
	if srq.ctx.f.provider.IWARP {
		return uintptr(syscall.EOPNOTSUPP), 0
	}
	*of[ibv.SRQAttr](a[1]) = srq.attr
	return 0, 0
}

// taken is for when a queue pair has taken a receive: it tells once of fewer than the limit.
func (srq *sharedQueue) taken() {
	if srq.queue.waiting() < int(srq.attr.SRQLimit) {
		srq.attr.SRQLimit = 0
		srq.ctx.event(ibv.EventSRQLimitReached, address(&srq.raw))
	}
}

// post is post_srq_recv.
func (srq *sharedQueue) post(list unsafe.Pointer) (result, errno int32, bad uintptr) {
	if srq.ctx.f.hooking.here() {
		return inHook.results(uintptr(list))
	}
	srq.ctx.f.mu.Lock()
	defer srq.ctx.f.mu.Unlock()
	return srq.queue.post(srq.ctx, 0, list)
}

func (srq *sharedQueue) opened() *context { return srq.ctx }

func (srq *sharedQueue) end() {
	srq.queue.clear()
	srq.queue.ended = true
	if srq.xrcd != nil {
		srq.xrcd.uses--
		srq.cq.uses--
		delete(srq.ctx.dev.numbered, srq.number)
	}
	srq.in.uses--
	srq.ctx.dev.sharedQueues--
}

func destroySRQ(a ccall.Args) (uintptr, syscall.Errno) {
	srq := of[sharedQueue](a[0])
	srq.ctx.f.mu.Lock()
	defer srq.ctx.f.mu.Unlock()
	if errno := closeUnused(srq, srq.uses); errno != 0 {
		return uintptr(errno), 0
	}
	srq.ctx.forgetEvents(address(&srq.raw), &srq.raw.EventsCompleted)
	return 0, 0
}
