package ibv

// AllocPD makes a protection domain, as ibv_alloc_pd(3) does: memory regions,
// queue pairs and address handles work together only within one. The caller
// closes it. It may be called from any goroutine.
func (ctx *Context) AllocPD() (*PD, error) {
	pd, err := cAllocPD(ctx)
	return pd, ctx.action("allocate protection domain", sizeHints).from(err)
}

// Close frees the protection domain, as ibv_dealloc_pd(3) does. Everything made
// in it must be closed before.
func (pd *PD) Close() error {
	return pd.Context.action("deallocate protection domain", closeHints).from(cDeallocPD(pd))
}
