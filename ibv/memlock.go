//go:build linux || freebsd

package ibv

import (
	"fmt"
	"syscall"

	"github.com/goverbs/goverbs/internal/system"
)

// memoryHint says what to do where there is not enough memory for a verb that locks
// some, within a limit of the process.
func memoryHint() string {
	const less = "ask for less, or close objects: QueryDevice has the device's limits"
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(system.RlimitMemlock, &limit); err != nil {
		return less
	}
	const unlimited = 1<<63 - 1 // FreeBSD's limits are signed; Linux's infinity is above
	if uint64(limit.Cur) >= unlimited {
		return less + "; the limit of locked memory is not to blame, for there is none (ulimit -l)"
	}
	return fmt.Sprintf("%s; or raise the limit of locked memory, which is %s (ulimit -l)", less, bytesText(uint64(limit.Cur)))
}

// bytesText is a number of bytes in the largest unit that keeps it whole.
func bytesText(n uint64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; i < len(units)-1 && n >= 1024 && n%1024 == 0; i++ {
		n /= 1024
	}
	return fmt.Sprintf("%d %s", n, units[i])
}
