package ibv

import "unsafe"

// regMR is C's ibv_reg_mr.
func regMR(pd *PD, start unsafe.Pointer, length uint64, access AccessFlags) (*MR, error) {
	return cRegMR(pd, uintptr(start), length, access)
}
