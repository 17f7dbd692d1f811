//go:build !freebsd

package ibv

import "syscall"

// checkBind2 refuses what makes no sense for a work request that binds a window of
// type 2: the device keeps the key's upper 24 bits, and the program has the others.
func checkBind2(act action, mw *MW, rkey uint32, info *MWBindInfo) error {
	switch {
	case mw.Type != MWType2:
		return act.invalid("the window is of %v: a work request binds MWType2, and QP.BindMW the others", mw.Type)
	case (rkey^mw.RKey)>>8 != 0:
		return act.invalid("rkey %#x differs from the window's %#x in more than the lower 8 bits: see IncRKey", rkey, mw.RKey)
	}
	return checkBind(act, mw, info)
}

// checkBind refuses what C refuses, and what Soft-RoCE follows without looking: it
// takes the region's key from no region too.
func checkBind(act action, mw *MW, info *MWBindInfo) error {
	switch mr := info.MR.Get(); {
	case mr == nil && (info.Addr != 0 || info.Length != 0):
		return act.invalid("there is an address or a length, and no memory region")
	case mr == nil && isRxe(uintptr(mw.Context.Ops.BindMW)):
		return act.invalid("Soft-RoCE needs the memory region of a window that is closed, too: leave MR as it was, with the length 0")
	case mr != nil && mr.PD != mw.PD:
		return act.because(syscall.EPERM, "the memory region and the window belong to different protection domains")
	}
	return nil
}
