//go:build !freebsd

package ibv

// AllocDMAH makes a DMA handle: hints for the device's accesses to the memory that
// is registered with it, by [PD.RegMREx], such as which processor's cache the data
// is for. The caller closes it. It may be called from any goroutine.
//
// C: ibv_alloc_dmah(3)
func (ctx *Context) AllocDMAH(attr *DMAHInitAttr) (*DMAH, error) {
	act := ctx.action("allocate DMA handle", numberHints)
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	dmah, err := cAllocDMAH(ctx, attr)
	return dmah, act.from(err)
}

// Close frees the DMA handle. The regions that were registered with it must be
// closed before.
//
// C: ibv_dealloc_dmah(3)
func (dmah *DMAH) Close() error {
	return dmah.Context.action("deallocate DMA handle", closeHints).from(cDeallocDMAH(dmah))
}
