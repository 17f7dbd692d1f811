//go:build !freebsd

package ibv

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"
)

// AdviseMR tells how memory of regions that are paged on demand will be used. Each
// entry is a part of such a region, by its LKey. With AdviseMRFlagFlush it is done
// when the call returns, which may take as long as reading the pages. It may be
// called from any goroutine.
//
// C: ibv_advise_mr(3)
func (pd *PD) AdviseMR(advice AdviseMRAdvice, flags IBUverbsAdviseMRFlag, parts []SGE) error {
	act := pd.Context.action(fmt.Sprintf("advise about %d parts of memory (%v)", len(parts), advice), map[syscall.Errno]string{
		syscall.EFAULT: "a part is not within its region, or not in the process's memory",
		syscall.EINVAL: "a flag is not known, or a part is not of a region that was registered with AccessOnDemand",
		syscall.EPERM:  "a region is not the process's, or was not registered for writing",
		syscall.ENOENT: "an LKey is not of a region of this protection domain",
	})
	if len(parts) == 0 || uint64(len(parts)) > math.MaxUint32 {
		return act.invalid("there are no parts, or too many")
	}
	fn := pd.Context.operation(unsafe.Offsetof(VerbsContext{}.AdviseMR))
	return act.from(callVerbsContextAdviseMR(fn, pd, advice, uint32(flags), unsafe.SliceData(parts), uint32(len(parts))))
}
