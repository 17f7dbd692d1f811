//go:build !freebsd

package ibv

import (
	"syscall"
	"unsafe"
)

// AllocParentDomain makes a parent domain: a protection domain that stands for
// attr.PD wherever one is wanted, and adds to it a thread domain, a way to
// allocate the queues' memory, or both. attr is read during the call only; what it
// names must stay until the parent domain is closed, which the caller does, by
// [PD.Close]. attr.Alloc and attr.Free are functions of C's. It may be called from
// any goroutine.
//
// C: ibv_alloc_parent_domain(3)
func (ctx *Context) AllocParentDomain(attr *ParentDomainInitAttr) (*PD, error) {
	act := ctx.action("allocate parent domain", map[syscall.Errno]string{
		syscall.EINVAL: "the provider does not know one of the attributes that CompMask names",
	})
	switch {
	case attr == nil || attr.PD == nil:
		return nil, act.invalid("PD is missing")
	case attr.PD.Context != ctx, attr.TD != nil && attr.TD.Context != ctx:
		return nil, act.invalid("its protection domain or its thread domain belongs to another context")
	}
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.AllocParentDomain))
	pd, err := callVerbsContextAllocParentDomain(fn, ctx, attr)
	if err != nil {
		return nil, explainWith(act.from(err), func() []string {
			return unnamed(
				countsBy(attr.CompMask, ParentDomainInitAttrAllocators, "Alloc", attr.Alloc != 0),
				countsBy(attr.CompMask, ParentDomainInitAttrAllocators, "Free", attr.Free != 0),
				countsBy(attr.CompMask, ParentDomainInitAttrPDContext, "PDContext", attr.PDContext != 0))
		})
	}
	return pd, nil
}
