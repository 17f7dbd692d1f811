//go:build !freebsd

package ibv

import (
	"fmt"
	"unsafe"
)

// RegMRIOVA is [PD.RegMR] with an address of the caller's choice: iova is where
// buf begins for the device and for peers. [MR.SGE] does not
// know it, and counts from the memory's own address; entries and work requests for
// this region count from iova. It may be called from any goroutine.
//
// C: ibv_reg_mr_iova(3), __ibv_reg_mr_iova, ibv_reg_mr_iova2
func (pd *PD) RegMRIOVA(buf []byte, iova uint64, access AccessFlags) (*MR, error) {
	act := pd.Context.action(fmt.Sprintf("register %d bytes of memory at %#x (%v)", len(buf), iova, access), memoryHints)
	if len(buf) == 0 {
		return nil, act.invalid("a memory region has at least one byte")
	}
	// Safe: buf escapes to the heap, which does not move, and is the caller's to keep.
	start, length := unsafe.Pointer(unsafe.SliceData(buf)), uint64(len(buf))
	mr, err := cRegMRIova2(pd, uintptr(start), length, iova, access)
	if isMissing(err) {
		mr, err = cRegMRIOVA(pd, uintptr(start), length, iova, access)
	}
	return mr, act.from(err)
}
