//go:build !freebsd

package ibvtest

import (
	"syscall"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// addressHandle is an address handle.
type addressHandle struct {
	raw ibv.AH // first: C's
	ctx *context
	pd  *domain // that it was made in
	way ibv.AHAttr
}

func init() {
	symbols["ibv_create_ah"] = func(a ccall.Args) (uintptr, syscall.Errno) {
		pd := of[domain](a[0])
		pd.ctx.f.mu.Lock()
		defer pd.ctx.f.mu.Unlock()
		return pd.createAH(of[ibv.AHAttr](a[1]))
	}
	symbols["ibv_destroy_ah"] = destroyAH
}

// createAH makes an address handle. The lock is held.
func (pd *domain) createAH(way *ibv.AHAttr) (uintptr, syscall.Errno) {
	d := pd.ctx.dev
	if d.f.provider.IWARP {
		return null, syscall.EOPNOTSUPP
	}
	if errno := d.refusesWay(way); errno != 0 {
		return null, errno
	}
	if d.handlesOfAddresses >= d.attr.MaxAH {
		return null, syscall.ENOMEM
	}
	ah := &addressHandle{ctx: pd.ctx, pd: pd, way: *way}
	ah.raw.Context, ah.raw.PD, ah.raw.Handle = &pd.ctx.verbs.Context, &pd.raw, d.handle()
	pd.uses++
	d.handlesOfAddresses++
	d.f.keep(ah)
	return address(&ah.raw), 0
}

func (ah *addressHandle) opened() *context { return ah.ctx }

func (ah *addressHandle) end() {
	ah.pd.uses--
	ah.ctx.dev.handlesOfAddresses--
}

func destroyAH(a ccall.Args) (uintptr, syscall.Errno) {
	ah := of[addressHandle](a[0])
	ah.ctx.f.mu.Lock()
	defer ah.ctx.f.mu.Unlock()
	ah.end()
	ah.ctx.f.drop(ah)
	return 0, 0
}
