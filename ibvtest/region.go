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
	raw    ibv.MR // first: C's
	pd     *domain
	memory unsafe.Pointer // which it keeps
	iova   uint64         // what addresses of work requests count from
	access ibv.AccessFlags
}

func init() {
	symbols["ibv_reg_mr_iova2"] = regMR
	symbols["ibv_dereg_mr"] = deregMR
}

func regMR(a ccall.Args) (uintptr, syscall.Errno) {
	pd := of[domain](a[0]).itself()
	f, d := pd.ctx.f, pd.ctx.dev
	f.mu.Lock()
	defer f.mu.Unlock()
	mr := &region{pd: pd, memory: unsafe.Pointer(of[byte](a[1])), iova: uint64(a[3]), access: ibv.AccessFlags(a[4])}
	key := d.nextKey
	d.nextKey += 0x100
	mr.raw.Context, mr.raw.PD, mr.raw.Addr, mr.raw.Length, mr.raw.LKey, mr.raw.RKey = pd.raw.Context, &pd.raw, a[1], uint64(a[2]), key, key
	d.regions[key] = mr
	pd.uses++
	return address(&mr.raw), 0
}

func deregMR(a ccall.Args) (uintptr, syscall.Errno) {
	mr := of[region](a[0])
	mr.pd.ctx.f.mu.Lock()
	defer mr.pd.ctx.f.mu.Unlock()
	mr.end()
	return 0, 0
}

func (mr *region) end() {
	delete(mr.pd.ctx.dev.regions, mr.raw.LKey)
	mr.pd.uses--
}

// piece is some memory of a program.
type piece []byte

// local appends the memory of the entries of a work request, for a device that reads them, or writes to them.
func (pd *domain) local(pieces []piece, entries []ibv.SGE, writes bool) ([]piece, ibv.WCStatus) {
	for _, e := range entries {
		mr := pd.ctx.dev.regions[e.LKey]
		if mr == nil || mr.pd != pd || writes && mr.access&ibv.AccessLocalWrite == 0 {
			return pieces, ibv.WCLocProtErr
		}
		at := e.Addr - mr.iova
		if e.Addr < mr.iova || at > mr.raw.Length || uint64(e.Length) > mr.raw.Length-at {
			return pieces, ibv.WCLocProtErr
		}
		// Safe: it is within the region, whose memory that keeps.
		pieces = append(pieces, unsafe.Slice((*byte)(unsafe.Add(mr.memory, at)), e.Length))
	}
	return pieces, ibv.WCSuccess
}

// scatter copies from some pieces to others, as far as both reach.
func scatter(to, from []piece) {
	for len(to) > 0 && len(from) > 0 {
		n := copy(to[0], from[0])
		to[0], from[0] = to[0][n:], from[0][n:]
		if len(to[0]) == 0 {
			to = to[1:]
		}
		if len(from) > 0 && len(from[0]) == 0 {
			from = from[1:]
		}
	}
}
