//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

func init() { symbols["ibv_rereg_mr"] = reregMR }

// reregMR changes a region. What it refuses it leaves as it was, and says so: that is ibv_rereg_mr(3)'s ERR_INPUT.
func reregMR(a ccall.Args) (uintptr, syscall.Errno) {
	mr, flags, pd, start, length, access := of[region](a[0]), ibv.ReregMRFlags(a[1]), of[domain](a[2]), a[3], uint64(a[4]), ibv.AccessFlags(a[5])
	f, d := mr.pd.ctx.f, mr.pd.ctx.dev
	f.mu.Lock()
	defer f.mu.Unlock()
	if reason := mr.badChange(d, flags, pd, start, length, access); reason != 0 {
		input := int32(ibv.ReregMRErrInput)
		return uintptr(input), reason
	}
	mr.use.releases()
	if flags&ibv.ReregMRChangePD != 0 {
		mr.pd.uses--
		mr.pd = pd.itself()
		mr.pd.uses++
		mr.raw.PD = &pd.raw
	}
	if flags&ibv.ReregMRChangeAccess != 0 {
		mr.access = access
	}
	if flags&ibv.ReregMRChangeTranslation != 0 {
		mr.memory, mr.iova = unsafe.Pointer(of[byte](start)), uint64(start)
		mr.raw.Addr, mr.raw.Length = start, length
	}
	if mr.access&ibv.AccessZeroBased != 0 {
		mr.iova = 0
	}
	d.keys.change(mr) // a work request that has the old ones is not about what it was about
	return 0, 0
}

// badChange says why the region cannot be changed so, or 0.
func (mr *region) badChange(d *device, flags ibv.ReregMRFlags, pd *domain, start uintptr, length uint64, access ibv.AccessFlags) syscall.Errno {
	const known = ibv.ReregMRChangeTranslation | ibv.ReregMRChangePD | ibv.ReregMRChangeAccess
	switch {
	case flags == 0 || flags&^known != 0 || mr.null || mr.dm != nil:
		return syscall.EINVAL
	case flags&ibv.ReregMRChangePD != 0 && among[domain](mr.pd.ctx, address(pd)) == nil:
		return syscall.EINVAL
	case mr.windows > 0:
		return syscall.EBUSY
	}
	if flags&ibv.ReregMRChangeAccess != 0 {
		if reason := badAccess(access); reason != 0 {
			return reason
		}
	}
	if flags&ibv.ReregMRChangeTranslation != 0 {
		return d.badMemory(start, length, uint64(start))
	}
	return 0
}
