//go:build !freebsd

package ibv

import (
	"errors"
	"unsafe"

	"github.com/goverbs/goverbs/clib"
)

// regMR is C's ibv_reg_mr, a macro for the symbol of ibv_reg_mr_iova2 with the
// address for an iova; optional access flags are handled by that alone. Libraries
// before rdma-core 29 do not have it.
func regMR(pd *PD, start unsafe.Pointer, length uint64, access AccessFlags) (*MR, error) {
	mr, err := cRegMRIova2(pd, uintptr(start), length, uint64(uintptr(start)), access)
	if errors.Is(err, clib.ErrNoFunction) {
		mr, err = cRegMR(pd, uintptr(start), length, access)
	}
	return mr, err
}
