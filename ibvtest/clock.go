//go:build !freebsd

package ibvtest

import (
	"syscall"
	"time"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// clockKHz is how fast the clock of a device goes, which completions are stamped with: it counts the ns since 1970, in the
// time of the test.
const clockKHz = 1000000

func now() int64 { return time.Now().UnixNano() }

func init() {
	equip = append(equip, func(v *ibv.VerbsContext) {
		v.QueryRtValues = opQueryRTValues
	})
}

var opQueryRTValues = operation("query_rt_values", func(a ccall.Args) (uintptr, syscall.Errno) {
	values := of[ibv.ValuesEx](a[1])
	if values.CompMask&^ibv.ValuesMaskRawClock != 0 {
		return uintptr(syscall.EINVAL), 0
	}
	if values.CompMask != 0 {
		values.RawClock = ibv.Timespec{TvNsec: now()} // the ticks, all of them
	}
	return 0, 0
})
