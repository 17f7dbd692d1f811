package ibv

import "unsafe"

// AllocPD makes a protection domain, as ibv_alloc_pd(3) does: memory regions,
// queue pairs and address handles work together only within one. The caller
// closes it. It may be called from any goroutine.
func (ctx *Context) AllocPD() (*PD, error) {
	pd, err := callPointer(ctx.action("allocate protection domain", sizeHints), "ibv_alloc_pd", uintptr(unsafe.Pointer(ctx)))
	return pointerTo[PD](pd), err
}

// Close frees the protection domain, as ibv_dealloc_pd(3) does. Everything made
// in it must be closed before.
func (pd *PD) Close() error {
	return callInt(pd.Context.action("deallocate protection domain", closeHints), "ibv_dealloc_pd", uintptr(unsafe.Pointer(pd)))
}
