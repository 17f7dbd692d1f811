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
	uses  int // how many queue pairs take from it: it cannot be destroyed before them
}

func init() {
	symbols["ibv_create_srq"] = func(a ccall.Args) (uintptr, syscall.Errno) {
		pd, attr := of[domain](a[0]), of[ibv.SRQInitAttr](a[1])
		return pd.createSRQ(attr.SRQContext, &attr.Attr)
	}
	symbols["ibv_modify_srq"] = modifySRQ
	symbols["ibv_query_srq"] = querySRQ
	symbols["ibv_destroy_srq"] = destroySRQ
	equip = append(equip, func(v *ibv.VerbsContext) {
		v.Context.Ops.PostSRQRecv = ibv.ContextOpsPostSRQRecvFunc(opPostSRQRecv)
		v.CreateSRQEx, v.GetSRQNum = ibv.VerbsContextCreateSRQExFunc(opCreateSRQEx), ibv.VerbsContextGetSRQNumFunc(opGetSRQNum)
	})
}

var (
	opPostSRQRecv = servePost("post_srq_recv", (*sharedQueue).post)
	opCreateSRQEx = operation("create_srq_ex", createSRQEx)
	// Only queues for XRC have a number, which there are none of.
	opGetSRQNum = operation("get_srq_num", func(ccall.Args) (uintptr, syscall.Errno) { return uintptr(syscall.EINVAL), 0 })
)

// createSRQ makes a shared receive queue, and tells in attr what it really has.
func (pd *domain) createSRQ(number uintptr, attr *ibv.SRQAttr) (uintptr, syscall.Errno) {
	c, d := pd.ctx, pd.ctx.dev
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	switch {
	case d.attr.MaxSRQ == 0:
		return null, syscall.EOPNOTSUPP
	case !d.fitsSRQ(attr.MaxWR), int64(attr.MaxSGE) > int64(d.attr.MaxSRQSGE):
		return null, syscall.EINVAL
	case d.sharedQueues >= d.attr.MaxSRQ:
		return null, syscall.ENOMEM
	}
	attr.SRQLimit = 0
	srq := &sharedQueue{ctx: c, in: pd, attr: *attr}
	srq.queue.depth, srq.queue.maxSGE, srq.queue.shared = attr.MaxWR, attr.MaxSGE, srq
	raw := &srq.raw
	raw.Context, raw.SRQContext, raw.PD, raw.Handle = &c.verbs.Context, number, &pd.raw, d.handle()
	pd.uses++
	d.sharedQueues++
	c.f.keep(srq)
	return address(raw), 0
}

// fitsSRQ reports whether a shared receive queue can be so large.
func (d *device) fitsSRQ(maxWR uint32) bool {
	return maxWR > 0 && int64(maxWR) <= int64(d.attr.MaxSRQWR)
}

func createSRQEx(a ccall.Args) (uintptr, syscall.Errno) {
	attr := of[ibv.SRQInitAttrEx](a[1])
	switch mask := attr.CompMask; {
	case mask&ibv.SRQInitAttrPD == 0:
		return null, syscall.EINVAL
	case mask&ibv.SRQInitAttrType != 0 && attr.SRQType != ibv.SRQTBasic, mask&^(ibv.SRQInitAttrPD|ibv.SRQInitAttrType) != 0:
		return null, syscall.EOPNOTSUPP
	}
	return of[domain](address(attr.PD)).createSRQ(attr.SRQContext, &attr.Attr)
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
	srq.attr, srq.queue.depth = changed, changed.MaxWR
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
	}
}

// post is post_srq_recv.
func (srq *sharedQueue) post(list unsafe.Pointer) (result, errno int32, bad uintptr) {
	srq.ctx.f.mu.Lock()
	defer srq.ctx.f.mu.Unlock()
	return srq.queue.post(srq.ctx.dev, 0, list)
}

func (srq *sharedQueue) opened() *context { return srq.ctx }

func (srq *sharedQueue) end() {
	srq.queue.clear()
	srq.in.uses--
	srq.ctx.dev.sharedQueues--
}

func destroySRQ(a ccall.Args) (uintptr, syscall.Errno) {
	srq := of[sharedQueue](a[0])
	srq.ctx.f.mu.Lock()
	defer srq.ctx.f.mu.Unlock()
	if srq.uses > 0 {
		return uintptr(syscall.EBUSY), 0
	}
	srq.end()
	srq.ctx.f.drop(srq)
	return 0, 0
}
