package ibv

import (
	"syscall"

	"github.com/goverbs/goverbs/clib"
)

// reason makes an errno of a result that is not zero, as [clib.Reason] does.
func reason(result, errno int32) syscall.Errno {
	// An errno is unsigned: a nonsensical one must not become enormous.
	return clib.Reason(int64(result), syscall.Errno(uint32(errno)))
}
