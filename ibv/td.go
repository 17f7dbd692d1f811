//go:build !freebsd

package ibv

import "unsafe"

// AllocTD makes a thread domain: a promise that what is made in it is used by one
// thread at a time, for which providers leave out locks. It is used through a
// parent domain: see [Context.AllocParentDomain]. In Go the promise is that no two
// goroutines use these objects at the same time. attr may be nil. The caller
// closes it. It may be called from any goroutine.
//
// C: ibv_alloc_td(3); attr may be nil
func (ctx *Context) AllocTD(attr *TDInitAttr) (*TD, error) {
	act := ctx.action("allocate thread domain", nil)
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.AllocTD))
	if attr == nil {
		attr = new(TDInitAttr)
	}
	td, err := callVerbsContextAllocTD(fn, ctx, attr)
	return td, act.from(err)
}

// Close frees the thread domain. The parent domains that name it must be closed
// before.
//
// C: ibv_dealloc_td(3)
func (td *TD) Close() error {
	act := td.Context.action("deallocate thread domain", closeHints)
	fn := td.Context.operation(unsafe.Offsetof(VerbsContext{}.DeallocTD))
	return act.from(callVerbsContextDeallocTD(fn, td))
}
