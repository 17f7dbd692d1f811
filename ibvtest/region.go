//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// region is a memory region.
type region struct {
	raw     ibv.MR // first: C's
	pd      *domain
	memory  unsafe.Pointer // which it keeps
	iova    uint64         // what addresses of work requests count from
	access  ibv.AccessFlags
	null    bool          // reads zeros, and nothing is written to it
	dm      *deviceMemory // which it is of, or nil
	windows int           // how many are bound to it
	use     regionUse
}

func init() {
	symbols["ibv_reg_mr"] = func(a ccall.Args) (uintptr, syscall.Errno) {
		return regMR(of[domain](a[0]), a[1], uint64(a[2]), uint64(a[1]), ibv.AccessFlags(a[3]))
	}
	regIOVA := func(a ccall.Args) (uintptr, syscall.Errno) {
		return regMR(of[domain](a[0]), a[1], uint64(a[2]), uint64(a[3]), ibv.AccessFlags(a[4]))
	}
	symbols["ibv_reg_mr_iova"], symbols["ibv_reg_mr_iova2"] = regIOVA, regIOVA
	symbols["ibv_reg_mr_ex"] = regMREx
	symbols["ibv_reg_dmabuf_mr"] = func(ccall.Args) (uintptr, syscall.Errno) { return null, syscall.EOPNOTSUPP }
	symbols["ibv_dereg_mr"] = deregMR
	equip = append(equip, func(v *ibv.VerbsContext) {
		v.AllocNullMR = opAllocNullMR
		v.AdviseMR = opAdviseMR
	})
}

var (
	opAllocNullMR = operation("alloc_null_mr", allocNullMR)
	// Advice is for regions whose pages come on demand.
	opAdviseMR = operation("advise_mr", func(ccall.Args) (uintptr, syscall.Errno) { return uintptr(syscall.EOPNOTSUPP), 0 })
)

const (
	remoteChanges = ibv.AccessRemoteWrite | ibv.AccessRemoteAtomic
	// optional are flags that a device may ignore, as this one does: what is ordered is also right where less will do.
	optional = ibv.AccessFlags(ibv.AccessOptionalRange)
	allowed  = ibv.AccessLocalWrite | remoteChanges | ibv.AccessRemoteRead | ibv.AccessMWBind | ibv.AccessZeroBased | ibv.AccessHugetlb | optional
	// registrationPage is within which an address and its iova have to agree, as the kernel wants it.
	registrationPage = 4096
)

// badAccess says why there is no such access, or 0.
func badAccess(access ibv.AccessFlags) syscall.Errno {
	switch {
	case access&^(allowed|ibv.AccessOnDemand|ibv.AccessFlushGlobal|ibv.AccessFlushPersistent) != 0:
		return syscall.EINVAL
	case access&^allowed != 0:
		return syscall.EOPNOTSUPP
	case access&remoteChanges != 0 && access&ibv.AccessLocalWrite == 0:
		return syscall.EINVAL // ibv_reg_mr(3)
	}
	return 0
}

// badMemory says why no region can be of that memory, or 0.
func (d *device) badMemory(start uintptr, length, iova uint64) syscall.Errno {
	end := uint64(start) + length
	switch {
	case length == 0 || length > d.attr.MaxMRSize || end < length || iova+length < length || uint64(uintptr(end)) != end:
		return syscall.EINVAL
	case (uint64(start)^iova)%registrationPage != 0:
		return syscall.EINVAL
	case !isThere(start, uintptr(length)):
		return syscall.EFAULT
	}
	return 0
}

func regMR(pd *domain, start uintptr, length, iova uint64, access ibv.AccessFlags) (uintptr, syscall.Errno) {
	d := pd.ctx.dev
	reason := badAccess(access)
	if reason == 0 {
		reason = d.badMemory(start, length, iova)
	}
	if reason != 0 {
		return null, reason
	}
	if access&ibv.AccessZeroBased != 0 {
		iova = 0
	}
	mr := &region{memory: unsafe.Pointer(of[byte](start)), iova: iova, access: access}
	mr.raw.Addr, mr.raw.Length = start, length
	return mr.register(pd)
}

// register makes a region of a domain. The lock is not held.
func (mr *region) register(pd *domain) (uintptr, syscall.Errno) {
	f, d := pd.ctx.f, pd.ctx.dev
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(d.keys.regions) >= int(d.attr.MaxMR) {
		return null, syscall.ENOMEM
	}
	mr.pd = pd.itself()
	mr.raw.Context, mr.raw.PD, mr.raw.Handle = pd.raw.Context, &pd.raw, d.handle()
	d.keys.open(mr)
	mr.pd.uses++
	f.keep(mr)
	return address(&mr.raw), 0
}

func (mr *region) opened() *context { return mr.pd.ctx }

func (mr *region) end() {
	mr.pd.ctx.dev.keys.close(mr)
	mr.pd.uses--
	if mr.dm != nil {
		mr.dm.uses--
	}
}

func deregMR(a ccall.Args) (uintptr, syscall.Errno) {
	mr := of[region](a[0])
	f := mr.pd.ctx.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if mr.windows > 0 {
		return uintptr(syscall.EBUSY), 0 // ibv_dereg_mr(3)
	}
	mr.end()
	f.drop(mr)
	mr.use.releases()
	return 0, 0
}

// allocNullMR makes a region as large as a region can be.
func allocNullMR(a ccall.Args) (uintptr, syscall.Errno) {
	mr := &region{null: true, access: ibv.AccessLocalWrite}
	mr.raw.Length = ^uint64(0)
	return mr.register(of[domain](a[0]))
}

func regMREx(a ccall.Args) (uintptr, syscall.Errno) {
	pd, attr := of[domain](a[0]), of[ibv.MRInitAttr](a[1])
	mask := ibv.MRInitAttrMask(attr.CompMask)
	switch {
	case mask&^(ibv.RegMRMaskIOVA|ibv.RegMRMaskAddr|ibv.RegMRMaskFD|ibv.RegMRMaskFDOffset|ibv.RegMRMaskDMAH|ibv.RegMRMaskBuf) != 0:
		return null, syscall.EINVAL
	case mask&(ibv.RegMRMaskFD|ibv.RegMRMaskFDOffset|ibv.RegMRMaskDMAH|ibv.RegMRMaskBuf) != 0:
		return null, syscall.EOPNOTSUPP
	case mask&ibv.RegMRMaskAddr == 0:
		return null, syscall.EINVAL
	}
	start := uintptr(attr.Addr)
	iova := uint64(start)
	if mask&ibv.RegMRMaskIOVA != 0 {
		iova = attr.IOVA
	}
	return regMR(pd, start, attr.Length, iova, attr.Access)
}
