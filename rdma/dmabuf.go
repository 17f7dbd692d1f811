//go:build !freebsd

package rdma

import "github.com/goverbs/goverbs/ibv"

// DMABufOptions say which part of a DMA-buf a region is, and what may be done with
// it.
type DMABufOptions struct {
	// Offset is where the part starts in the DMA-buf, and Length its size, in bytes.
	Offset, Length uint64
	// IOVA is where the region starts for the device and for peers. It and Offset must
	// be the same within their pages, as two zeros are.
	IOVA uint64
	// Access is what the device and peers may do with the memory, or 0 for
	// ibv.AccessLocalWrite.
	Access ibv.AccessFlags
}

// RegisterDMABuf registers a DMA-buf: memory of another device, such as a graphics
// card's. The region has no Bytes. fd stays the caller's, who may close it once the
// region is there: the kernel keeps the memory until that is closed. The caller
// closes the region. What the device or the library does not have is
// errors.ErrUnsupported by errors.Is.
//
// C: ibv_reg_dmabuf_mr(3)
func (pd *PD) RegisterDMABuf(fd int, opts DMABufOptions) (*Region, error) {
	if opts.Access == 0 {
		opts.Access = ibv.AccessLocalWrite
	}
	l, err := begin("memory region", pd)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	raw, err := pd.raw.RegDMABufMR(opts.Offset, opts.Length, opts.IOVA, fd, opts.Access)
	if err != nil {
		return nil, err
	}
	return newRegion(pd, l, raw, opts.IOVA, nil, &registration{raw: raw}), nil
}
