package ibv

// AllocPD makes a protection domain: memory regions, queue pairs and address
// handles work together only within one. The caller closes it. It may be called
// from any goroutine.
//
// C: ibv_alloc_pd(3)
func (ctx *Context) AllocPD() (*PD, error) {
	pd, err := cAllocPD(ctx)
	return pd, ctx.action("allocate protection domain", numberHints).from(err)
}

// Close frees the protection domain, or parent domain. Everything made in it must
// be closed before.
//
// C: ibv_dealloc_pd(3)
func (pd *PD) Close() error {
	return pd.Context.action("deallocate protection domain", closeHints).from(cDeallocPD(pd))
}
