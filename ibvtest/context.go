//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// context is an opened device.
type context struct {
	verbs ibv.VerbsContext // first: C's, at whose end the one is that programs know
	f     *Fabric
	dev   *device
}

// contextOf is ours around C's.
func contextOf(raw *ibv.Context) *context {
	// Safe: C's is a member of ours.
	return (*context)(unsafe.Add(unsafe.Pointer(raw), -int(unsafe.Offsetof(context{}.verbs)+unsafe.Offsetof(ibv.VerbsContext{}.Context))))
}

// contextAt is contextOf, for an argument.
func contextAt(address uintptr) *context { return contextOf(of[ibv.Context](address)) }

func openDevice(a ccall.Args) (uintptr, syscall.Errno) {
	d := of[device](a[0])
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	if d.f.closed {
		return null, syscall.ENODEV
	}
	c := &context{f: d.f, dev: d}
	c.verbs.Sz = uint64(unsafe.Sizeof(c.verbs))
	raw := &c.verbs.Context
	raw.Device, raw.ABICompat = &d.raw, ^uintptr(0)
	raw.CmdFD, raw.AsyncFD, raw.NumCompVectors = -1, -1, 1
	raw.Ops.PollCQ, raw.Ops.PostSend, raw.Ops.PostRecv = ibv.ContextOpsPollCQFunc(opPollCQ), ibv.ContextOpsPostSendFunc(opPostSend), ibv.ContextOpsPostRecvFunc(opPostRecv)
	c.verbs.QueryPort = ibv.VerbsContextQueryPortFunc(opQueryPort)
	d.f.keep(c)
	return address(raw), 0
}

func init() {
	symbols["ibv_close_device"] = func(a ccall.Args) (uintptr, syscall.Errno) {
		c := contextAt(a[0])
		c.f.mu.Lock()
		defer c.f.mu.Unlock()
		c.f.drop(c)
		return 0, 0
	}
	symbols["ibv_query_device"] = queryDevice
	symbols["ibv_query_port"] = queryPort
	symbols["ibv_query_gid"] = queryGID
	symbols["_ibv_query_gid_ex"] = queryGIDEntry
	symbols["ibv_alloc_pd"] = allocPD
	symbols["ibv_dealloc_pd"] = func(a ccall.Args) (uintptr, syscall.Errno) {
		pd := of[domain](a[0])
		pd.ctx.f.mu.Lock()
		defer pd.ctx.f.mu.Unlock()
		pd.ctx.f.drop(pd)
		return 0, 0
	}
}

var opQueryPort = operation("query_port", queryPort)

func queryDevice(a ccall.Args) (uintptr, syscall.Errno) {
	attr := of[ibv.DeviceAttr](a[1])
	*attr = ibv.DeviceAttr{MaxQP: 1 << 16, MaxQPWR: 1 << 14, MaxSGE: 32, MaxSGERd: 32, MaxCQ: 1 << 16, MaxCQE: 1 << 20, PhysPortCnt: 1, MaxQPRdAtom: 16, MaxQPInitRdAtom: 16}
	return 0, 0
}

func queryPort(a ccall.Args) (uintptr, syscall.Errno) {
	if byte(a[1]) != 1 {
		return uintptr(syscall.EINVAL), 0
	}
	attr := of[ibv.PortAttr](a[2])
	attr.State, attr.MaxMTU, attr.ActiveMTU, attr.GIDTblLen, attr.PKeyTblLen = ibv.PortActive, ibv.MTU4096, ibv.MTU4096, 1, 1
	attr.LinkLayer, attr.MaxMsgSz = ibv.LinkLayerEthernet, 1<<31
	return 0, 0
}

func queryGID(a ccall.Args) (uintptr, syscall.Errno) {
	c := contextAt(a[0])
	if byte(a[1]) != 1 || int32(a[2]) != 0 {
		return failed, syscall.EINVAL
	}
	*of[ibv.GID](a[3]) = c.dev.gid
	return 0, 0
}

func queryGIDEntry(a ccall.Args) (uintptr, syscall.Errno) {
	c := contextAt(a[0])
	if uint32(a[1]) != 1 || uint32(a[2]) != 0 {
		return uintptr(syscall.EINVAL), 0
	}
	entry := of[ibv.GIDEntry](a[3])
	entry.GID, entry.PortNum, entry.GIDType = c.dev.gid, 1, ibv.GIDTypeRoCEV2
	return 0, 0
}

// domain is a protection domain.
type domain struct {
	raw ibv.PD // first: C's
	ctx *context
}

func allocPD(a ccall.Args) (uintptr, syscall.Errno) {
	c := contextAt(a[0])
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	pd := &domain{ctx: c}
	c.f.keep(pd)
	pd.raw.Context, pd.raw.Handle = &c.verbs.Context, c.dev.handle()
	return address(&pd.raw), 0
}
