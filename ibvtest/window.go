//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// window is a memory window.
type window struct {
	raw    ibv.MW // first: C's
	pd     *domain
	rkey   uint32  // the one that counts: programs write to that of raw
	mr     *region // which it is bound to, or nil
	qp     *queuePair
	addr   uint64
	length uint64
	access ibv.AccessFlags
}

func init() {
	equip = append(equip, func(v *ibv.VerbsContext) {
		ops := &v.Context.Ops
		ops.AllocMW, ops.DeallocMW, ops.BindMW = opAllocMW, opDeallocMW, opBindMW
	})
}

var (
	opAllocMW   = operation("alloc_mw", allocMW)
	opDeallocMW = operation("dealloc_mw", deallocMW)
	opBindMW    = operation("bind_mw", bindMW)
)

func allocMW(a ccall.Args) (uintptr, syscall.Errno) {
	pd, typ := of[domain](a[0]), ibv.MWType(a[1])
	f, d := pd.ctx.f, pd.ctx.dev
	f.mu.Lock()
	defer f.mu.Unlock()
	if typ != ibv.MWType1 && typ != ibv.MWType2 {
		return null, syscall.EINVAL
	}
	if len(d.keys.windowsAt) >= int(d.attr.MaxMW) {
		return null, syscall.ENOMEM
	}
	mw := &window{pd: pd.itself()}
	number := d.keys.number()
	local, _ := d.keys.bytes()
	mw.rkey = number | local
	mw.raw.Context, mw.raw.PD, mw.raw.RKey, mw.raw.Handle, mw.raw.Type = pd.raw.Context, &pd.raw, mw.rkey, d.handle(), typ
	d.keys.windowsAt[address(&mw.raw)] = mw
	mw.pd.uses++
	f.keep(mw)
	return address(&mw.raw), 0
}

func deallocMW(a ccall.Args) (uintptr, syscall.Errno) {
	mw := of[window](a[0])
	f := mw.pd.ctx.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if mw.mr != nil {
		mw.mr.use.closes()
	}
	mw.end()
	f.drop(mw)
	return 0, 0
}

func (mw *window) opened() *context { return mw.pd.ctx }

func (mw *window) end() {
	keys := &mw.pd.ctx.dev.keys
	mw.unbind()
	keys.free(mw.rkey)
	delete(keys.windowsAt, address(&mw.raw))
	mw.pd.uses--
}

// unbind takes away what the window was bound to.
func (mw *window) unbind() {
	if mw.mr == nil {
		return
	}
	delete(mw.pd.ctx.dev.keys.remote, mw.rkey)
	mw.mr.windows--
	mw.mr, mw.qp = nil, nil
}

// bindMW binds a window of type 1, whose key the provider chooses.
func bindMW(a ccall.Args) (uintptr, syscall.Errno) {
	qp, mw, bind := of[queuePair](a[0]), of[window](a[1]), of[ibv.MWBind](a[2])
	qp.ctx.f.mu.Lock()
	known := among[window](qp.ctx, a[1]) != nil
	qp.ctx.f.mu.Unlock()
	if !known || mw.raw.Type != ibv.MWType1 {
		return uintptr(syscall.EINVAL), 0
	}
	wr := &ibv.SendWR{WRID: bind.WRID, Opcode: ibv.WRBindMW, SendFlags: bind.SendFlags}
	to := wr.BindMW()
	to.MW, to.RKey, to.BindInfo = ibv.ToPtr(&mw.raw), ibv.IncRKey(mw.raw.RKey), bind.BindInfo
	if result, errno, _ := qp.postSend(unsafe.Pointer(wr)); result != 0 {
		if result < 0 && errno != 0 {
			result = errno
		}
		return uintptr(max(result, -result)), 0
	}
	mw.raw.RKey = to.RKey
	return 0, 0
}

// bind carries out a work request that binds a window. The lock is held. What it refuses is refused by the specification's
// rules C10-72 to C10-75, o10-36.2.2 and o10-37.2.
func (qp *queuePair) bind(wr *ibv.SendWR) ibv.WCStatus {
	to, keys := wr.BindMW(), &qp.ctx.dev.keys
	mw := keys.windowsAt[uintptr(to.MW)]
	if mw == nil || mw.pd != qp.pd.itself() || (to.RKey^mw.rkey)>>8 != 0 {
		return ibv.WCMWBindErr
	}
	info := &to.BindInfo
	var mr *region
	if info.Length > 0 {
		if mr = keys.regionsAt[uintptr(info.MR)]; mr == nil || mw.refuses(mr, info) {
			return ibv.WCMWBindErr
		}
	}
	if mw.raw.Type == ibv.MWType2 && (mr == nil || mw.mr != nil || to.RKey == mw.rkey) {
		return ibv.WCMWBindErr // it has to be invalidated first, and to have another key
	}
	if mw.mr != nil {
		mw.mr.use.closes()
	}
	mw.unbind()
	mw.rkey = to.RKey
	if mr != nil {
		mw.mr, mw.addr, mw.length, mw.access = mr, info.Addr, info.Length, info.MWAccessFlags
		mr.windows++
		if mw.raw.Type == ibv.MWType2 {
			mw.qp = qp
		}
		keys.remote[mw.rkey] = openToAll{mw: mw}
	}
	return ibv.WCSuccess
}

// refuses reports whether the window cannot be bound to a part of a region.
func (mw *window) refuses(mr *region, info *ibv.MWBindInfo) bool {
	access, at := info.MWAccessFlags, info.Addr-mr.iova
	switch {
	case mr.pd != mw.pd, mr.access&ibv.AccessMWBind == 0, mr.access&ibv.AccessZeroBased != 0:
		return true
	case access&^(remoteChanges|ibv.AccessRemoteRead|ibv.AccessZeroBased|optional) != 0:
		return true
	case access&remoteChanges != 0 && mr.access&ibv.AccessLocalWrite == 0:
		return true
	case access&ibv.AccessZeroBased != 0 && mw.raw.Type == ibv.MWType1:
		return true
	}
	return info.Addr < mr.iova || !within(at, info.Length, mr.raw.Length)
}

// invalidate has an rkey be of nothing, as a work request of the queue pair or a message to it asks for. The lock is held.
// It is false if the key is not that of a window of type 2 which the queue pair may invalidate: a region of a program's
// is deregistered.
func (qp *queuePair) invalidate(rkey uint32) bool {
	mw := qp.ctx.dev.keys.remote[rkey].mw
	if mw == nil || mw.raw.Type != ibv.MWType2 || mw.qp != qp {
		return false
	}
	mw.mr.use.closes()
	mw.unbind()
	return true
}

// unbindWindows is for a queue pair that ends, as its windows of type 2 do.
func (qp *queuePair) unbindWindows() {
	for _, mw := range qp.ctx.dev.keys.windowsAt {
		if mw.qp == qp {
			mw.unbind()
		}
	}
}
