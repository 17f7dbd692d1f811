package rdma

import (
	"fmt"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// AllocRegion makes a region of size bytes of its own memory: zeroed, page-aligned
// and outside the Go heap, so the collector neither scans nor counts it. The region
// gives it back when it is closed. The caller closes the region.
//
// C: ibv_reg_mr(3), mmap(2), mbind(2), madvise(2)
func (pd *PD) AllocRegion(size int, opts RegionOptions) (*Region, error) {
	l, err := begin("memory region", pd)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	r, err := pd.allocRegion(l, size, opts)
	if err != nil {
	}
	return r, err
}

func (pd *PD) allocRegion(l *life, size int, opts RegionOptions) (*Region, error) {
	if opts.Access == 0 {
		opts.Access = ibv.AccessLocalWrite
	}
	if size <= 0 {
		return nil, pd.l.failed(fmt.Sprintf("allocate a region of %d bytes in", size), syscall.EINVAL, "a region has at least one byte")
	}
	if opts.NUMANode == DeviceNode {
		node, ok := pd.dev.NUMANode()
		opts.NUMANode = AnyNode
		if ok {
			opts.NUMANode = OnNode(node)
		}
	}
	memory, unmap, failure := allocMemory(size, opts)
	if failure != nil {
		return nil, pd.l.failed(fmt.Sprintf("allocate a region of %d bytes in", size), failure.errno, failure.hint)
	}
	raw, err := pd.raw.RegMR(memory, opts.Access)
	if err != nil {
		unmap() // the error says more than one of giving back what nobody has used
		return nil, err
	}
	return newRegion(pd, l, raw, uint64(raw.Addr), memory, &registration{raw: raw, memory: memory, unmap: unmap, plain: &opts.Access}), nil
}

// allocMemory gets memory from the system, or from who stands in for devices if any pages will do.
func allocMemory(size int, opts RegionOptions) (memory []byte, free func() error, failure *memoryFailure) {
	anyPages := opts.HugePages == HugePagesNone || opts.HugePagesOptional || opts.HugePages == HugePagesTransparent
	if anyPages && opts.NUMANode == AnyNode && !opts.DontFork {
		if memory := ccall.AllocBuffer(size); memory != nil {
			return memory, ibv.Buffer(memory).Free, nil
		}
	}
	return mapMemory(size, opts)
}

// memoryFailure is why there is no memory, and what to do about it.
type memoryFailure struct {
	errno syscall.Errno
	hint  string
}
