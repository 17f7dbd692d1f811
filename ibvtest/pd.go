//go:build !freebsd

package ibvtest

import (
	"syscall"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// domain is a protection domain, or a parent domain, which stands for one.
type domain struct {
	raw     ibv.PD // first: C's
	ctx     *context
	standIn *domain // of a parent domain: the protection domain
	td      *threadDomain
	uses    int // how many objects were made in it: it cannot be freed before them
}

// threadDomain is a thread domain, which promises what makes no difference here.
type threadDomain struct {
	raw  ibv.TD // first: C's
	ctx  *context
	uses int
}

func init() {
	symbols["ibv_alloc_pd"] = allocPD
	symbols["ibv_dealloc_pd"] = deallocPD
	equip = append(equip, func(v *ibv.VerbsContext) {
		v.AllocParentDomain = opAllocParentDomain
		v.AllocTD, v.DeallocTD = opAllocTD, opDeallocTD
	})
}

var (
	opAllocParentDomain = operation("alloc_parent_domain", allocParentDomain)
	opAllocTD           = operation("alloc_td", allocTD)
	opDeallocTD         = operation("dealloc_td", deallocTD)
)

func (pd *domain) opened() *context { return pd.ctx }

func (pd *domain) end() {
	if pd.standIn == nil {
		pd.ctx.dev.domains--
		return
	}
	pd.standIn.uses--
	if pd.td != nil {
		pd.td.uses--
	}
}

func (td *threadDomain) opened() *context { return td.ctx }
func (td *threadDomain) end()             {}

// itself is the protection domain that it is or stands for.
func (pd *domain) itself() *domain {
	if pd.standIn != nil {
		return pd.standIn
	}
	return pd
}

func allocPD(a ccall.Args) (uintptr, syscall.Errno) {
	c := contextAt(a[0])
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	if c.dev.domains >= c.dev.attr.MaxPD {
		return null, syscall.ENOMEM
	}
	c.dev.domains++
	pd := &domain{ctx: c}
	c.f.keep(pd)
	pd.raw.Context, pd.raw.Handle = &c.verbs.Context, c.dev.handle()
	return address(&pd.raw), 0
}

func deallocPD(a ccall.Args) (uintptr, syscall.Errno) {
	pd := of[domain](a[0])
	pd.ctx.f.mu.Lock()
	defer pd.ctx.f.mu.Unlock()
	return uintptr(closeUnused(pd, pd.uses)), 0
}

func allocParentDomain(a ccall.Args) (uintptr, syscall.Errno) {
	c, attr := contextAt(a[0]), of[ibv.ParentDomainInitAttr](a[1])
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	switch {
	case among[domain](c, address(attr.PD)) == nil || attr.TD != nil && among[threadDomain](c, address(attr.TD)) == nil || attr.CompMask&^(ibv.ParentDomainInitAttrAllocators|ibv.ParentDomainInitAttrPDContext) != 0:
		return null, syscall.EINVAL
	case attr.CompMask&ibv.ParentDomainInitAttrAllocators != 0:
		return null, syscall.EOPNOTSUPP // its queues are Go's, and the functions C's
	}
	// Safe: both are of ours.
	pd := &domain{ctx: c, standIn: of[domain](address(attr.PD)).itself()}
	if attr.TD != nil {
		pd.td = of[threadDomain](address(attr.TD))
		pd.td.uses++
	}
	pd.standIn.uses++
	c.f.keep(pd)
	pd.raw.Context, pd.raw.Handle = &c.verbs.Context, pd.standIn.raw.Handle // the kernel knows no parent domains
	return address(&pd.raw), 0
}

func allocTD(a ccall.Args) (uintptr, syscall.Errno) {
	c, attr := contextAt(a[0]), of[ibv.TDInitAttr](a[1])
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	if attr.CompMask != 0 {
		return null, syscall.EINVAL
	}
	td := &threadDomain{ctx: c}
	td.raw.Context = &c.verbs.Context
	c.f.keep(td)
	return address(&td.raw), 0
}

func deallocTD(a ccall.Args) (uintptr, syscall.Errno) {
	td := of[threadDomain](a[0])
	td.ctx.f.mu.Lock()
	defer td.ctx.f.mu.Unlock()
	return uintptr(closeUnused(td, td.uses)), 0
}
