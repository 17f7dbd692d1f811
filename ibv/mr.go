package ibv

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/goverbs/goverbs/clib"
)

// RegMR registers buf with the device, and the caller closes the region. A
// [Buffer] is the memory of choice. Memory of the Go heap works too, if the caller
// keeps it reachable until Close has succeeded, by runtime.KeepAlive after that: the
// region is C's, and the collector gives away what only a device writes to. A
// Region of package rdma keeps it. Memory on a goroutine's stack cannot get here. It
// may be called from any goroutine.
//
// C: ibv_reg_mr(3), __ibv_reg_mr
func (pd *PD) RegMR(buf []byte, access AccessFlags) (*MR, error) {
	act := pd.Context.action(fmt.Sprintf("register %d bytes of memory (%v)", len(buf), access), memoryHints)
	if len(buf) == 0 {
		return nil, act.invalid("a memory region has at least one byte")
	}
	// Safe: buf escapes to the heap, which does not move, and is the caller's to keep.
	mr, err := regMR(pd, unsafe.Pointer(unsafe.SliceData(buf)), uint64(len(buf)), access)
	return mr, act.from(err)
}

// Close ends the registration. No work request that names the region may be
// outstanding. The memory itself stays the caller's, and the device's too if Close
// fails.
//
// C: ibv_dereg_mr(3)
func (mr *MR) Close() error {
	act := mr.Context.action("deregister memory region", regionHints)
	return act.from(cDeregMR(mr))
}

// SGE is a scatter/gather entry for length bytes of the region that start at
// offset. Nothing is checked here, for this is made on the way to a post: an
// entry that leaves the region completes with an error, WCLocProtErr on most
// devices.
func (mr *MR) SGE(offset, length int) SGE {
	return SGE{Addr: uint64(mr.Addr) + uint64(offset), Length: uint32(min(uint(length), math.MaxUint32)), LKey: mr.LKey}
}

// Bytes is the region's memory, for as long as that is there, or nil for a region
// without an address in this process. It is of no use for those that say so where
// they are made: their Addr is something else.
func (mr *MR) Bytes() []byte {
	if mr.Addr == 0 || mr.Length > math.MaxInt {
		return nil
	}
	// Safe: these are the bytes that were registered, and their owner keeps them.
	return unsafe.Slice(clib.At[byte](mr.Addr), mr.Length)
}
