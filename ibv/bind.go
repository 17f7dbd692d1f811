//go:build !freebsd

package ibv

import "syscall"

// checkBind refuses what C refuses.
func checkBind(act action, mw *MW, info *MWBindInfo) error {
	switch mr := info.MR.Get(); {
	case mr == nil && (info.Addr != 0 || info.Length != 0):
		return act.invalid("there is an address or a length, and no memory region")
	case mr != nil && mr.PD != mw.PD:
		return act.because(syscall.EPERM, "the memory region and the window belong to different protection domains")
	}
	return nil
}
