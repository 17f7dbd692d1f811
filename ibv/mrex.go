//go:build !freebsd

package ibv

import (
	"fmt"
	"syscall"
	"unsafe"
)

// RegMREx registers memory of any kind: attr.CompMask says what describes it. attr
// is read during the call only. The memory at attr.Addr must stay where it is and
// not be freed until the region is closed: see [PD.RegMR]. attr.FD stays the caller's, who may close it once the region
// is there. The caller closes the region. It may be called from any goroutine.
//
// C: ibv_reg_mr_ex(3)
func (pd *PD) RegMREx(attr *MRInitAttr) (*MR, error) {
	act := pd.Context.action("register memory", map[syscall.Errno]string{
		syscall.EFAULT: memoryHints[syscall.EFAULT],
		syscall.ENOMEM: hintLocksMemory,
		syscall.EINVAL: memoryHints[syscall.EINVAL] + "; CompMask has to name an address, or a file with its offset and an IOVA, or a buffer",
	})
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	act.op = fmt.Sprintf("register %d bytes of memory (%v)", attr.Length, attr.Access)
	switch mask, dmah := MRInitAttrMask(attr.CompMask), attr.DMAH; {
	case mask&RegMRMaskDMAH != 0 && (dmah == nil || dmah.Context != pd.Context):
		return nil, act.invalid("CompMask names DMAH, which is nil or belongs to a different context")
	case mask&RegMRMaskBuf != 0 && attr.Buf == nil:
		return nil, act.invalid("CompMask names Buf, which is nil")
	}
	mr, err := cRegMREx(pd, attr)
	if err != nil {
		return nil, explainWith(act.from(err), func() []string { return unnamed(attr.members()...) })
	}
	return mr, nil
}

// members are those that count by CompMask. What its bits are is in another enum.
func (s *MRInitAttr) members() []member {
	mask := MRInitAttrMask(s.CompMask)
	return []member{
		countsBy(mask, RegMRMaskIOVA, "IOVA", s.IOVA != 0),
		countsBy(mask, RegMRMaskAddr, "Addr", s.Addr != 0),
		countsBy(mask, RegMRMaskFD, "FD", s.FD != 0),
		countsBy(mask, RegMRMaskFDOffset, "FDOffset", s.FDOffset != 0),
		countsBy(mask, RegMRMaskDMAH, "DMAH", s.DMAH != nil),
		countsBy(mask, RegMRMaskBuf, "Buf", s.Buf != nil),
	}
}

// RegDMABufMR registers length bytes of a DMA-buf, from offset: memory of another
// device, say. They begin at iova for this device and for peers; iova and offset
// must be the same within their pages. fd stays the caller's, who may close it once
// the region is there. MR.Addr is the offset, not an address, so [MR.Bytes] and
// [MR.SGE] are of no use. The caller closes the region. It may be called from any
// goroutine.
//
// C: ibv_reg_dmabuf_mr(3)
func (pd *PD) RegDMABufMR(offset, length, iova uint64, fd int, access AccessFlags) (*MR, error) {
	act := pd.Context.action(fmt.Sprintf("register %d bytes of DMA-buf %d (%v)", length, fd, access), map[syscall.Errno]string{
		syscall.EBADF:  "the file is not open",
		syscall.EINVAL: "the file is no DMA-buf, or too short, or offset and iova differ within their pages",
	})
	if err := act.checkFile(fd); err != nil {
		return nil, err
	}
	mr, err := cRegDMABufMR(pd, offset, length, iova, int32(fd), access)
	return mr, act.from(err)
}

// AllocNullMR makes a region without memory: what the device writes to it is
// dropped, what it reads from it is zeros. Only its LKey is for use, at any
// address and for any length; [MR.Bytes] and [MR.SGE] are not. The caller closes
// it. It may be called from any goroutine.
//
// C: ibv_alloc_null_mr(3)
func (pd *PD) AllocNullMR() (*MR, error) {
	act := pd.Context.action("allocate null memory region", nil)
	fn := pd.Context.operation(unsafe.Offsetof(VerbsContext{}.AllocNullMR))
	mr, err := callVerbsContextAllocNullMR(fn, pd)
	return mr, act.from(err)
}
