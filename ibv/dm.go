//go:build !freebsd

package ibv

import (
	"fmt"
	"syscall"
	"unsafe"
)

// AllocDM allocates memory of the device's own: DeviceAttrEx.MaxDMSize says how
// much there is. It is reached by [DM.WriteAt] and [DM.ReadAt], and by work requests
// through a region of [PD.RegDMMR]. The caller closes it. It may be called from any
// goroutine.
//
// C: ibv_alloc_dm(3)
func (ctx *Context) AllocDM(attr *AllocDMAttr) (*DM, error) {
	act := ctx.action("allocate memory of the device", map[syscall.Errno]string{
		syscall.ENOMEM: "the device has not that much left: see DeviceAttrEx.MaxDMSize",
	})
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	act.op = fmt.Sprintf("allocate %d bytes of the device's memory", attr.Length)
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.AllocDM))
	dm, err := callVerbsContextAllocDM(fn, ctx, attr)
	return dm, act.from(err)
}

// Close frees the memory. The regions of it must be closed before.
//
// C: ibv_free_dm(3)
func (dm *DM) Close() error {
	act := dm.Context.action("free memory of the device", closeHints)
	fn := dm.Context.operation(unsafe.Offsetof(VerbsContext{}.FreeDM))
	return act.from(callVerbsContextFreeDM(fn, dm))
}

// WriteAt copies p to the memory of the device, offset bytes from its start: all
// of it, or nothing with an error. It is io.WriterAt's. It may be called from any
// goroutine.
//
// C: ibv_memcpy_to_dm(3)
func (dm *DM) WriteAt(p []byte, offset int64) (int, error) {
	act := dm.Context.action(fmt.Sprintf("copy %d bytes to the device's memory at %d", len(p), offset), dmHints)
	if offset < 0 {
		return 0, act.invalid("the offset is negative")
	}
	if err := callDMMemcpyToDM(dm.MemcpyToDM, dm, uint64(offset), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uint64(len(p))); err != nil {
		return 0, act.from(err)
	}
	return len(p), nil
}

// ReadAt copies from the memory of the device to p, offset bytes from its start:
// all of it, or nothing with an error. It is io.ReaderAt's, but for the error at
// the end, which is C's. It may be called from any goroutine.
//
// C: ibv_memcpy_from_dm(3)
func (dm *DM) ReadAt(p []byte, offset int64) (int, error) {
	act := dm.Context.action(fmt.Sprintf("copy %d bytes from the device's memory at %d", len(p), offset), dmHints)
	if offset < 0 {
		return 0, act.invalid("the offset is negative")
	}
	if err := callDMMemcpyFromDM(dm.MemcpyFromDM, uintptr(unsafe.Pointer(unsafe.SliceData(p))), dm, uint64(offset), uint64(len(p))); err != nil {
		return 0, act.from(err)
	}
	return len(p), nil
}

var dmHints = map[syscall.Errno]string{
	syscall.EFAULT: "they are not within the memory, or not aligned as the device wants it",
	syscall.EINVAL: "they are not within the memory, or not aligned as the device wants it",
}

// ExportDMABufFD makes a DMA-buf of the memory, for other devices, and returns its
// file, which the caller closes. It may be called from any goroutine.
//
// C: ibv_dm_export_dmabuf_fd(3)
func (dm *DM) ExportDMABufFD() (int, error) {
	fd, err := cDMExportDMABufFD(dm)
	return int(fd), dm.Context.action("export memory of the device as a DMA-buf", nil).from(err)
}

// RegDMMR registers length bytes of the device's memory, from offset. The region
// counts from 0, and access must have AccessZeroBased: entries and peers name
// offsets, and [MR.Bytes] and [MR.SGE] are of no use. The caller closes the region,
// before the memory. It may be called from any goroutine.
//
// C: ibv_reg_dm_mr(3)
func (pd *PD) RegDMMR(dm *DM, offset, length uint64, access AccessFlags) (*MR, error) {
	act := pd.Context.action(fmt.Sprintf("register %d bytes of the device's memory (%v)", length, access), map[syscall.Errno]string{
		syscall.EINVAL: "AccessZeroBased is missing, or they are not within the memory",
	})
	if dm == nil || dm.Context != pd.Context {
		return nil, act.invalid("the memory is missing, or of another context")
	}
	fn := pd.Context.operation(unsafe.Offsetof(VerbsContext{}.RegDMMR))
	mr, err := callVerbsContextRegDMMR(fn, pd, dm, offset, length, access)
	return mr, act.from(err)
}
