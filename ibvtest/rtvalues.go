//go:build !freebsd

package ibvtest

import (
	"syscall"
	"time"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

func init() {
	equip = append(equip, func(v *ibv.VerbsContext) { v.QueryRtValues = ibv.VerbsContextQueryRtValuesFunc(opQueryRtValues) })
}

var opQueryRtValues = operation("query_rt_values", queryRtValues)

// coreClock is how often a second the device's clock counts, in kHz: it counts nanoseconds.
const coreClock = 1_000_000

// queryRtValues tells what the device's clock says now.
func queryRtValues(a ccall.Args) (uintptr, syscall.Errno) {
	values := of[ibv.ValuesEx](a[1])
	if values.CompMask&^ibv.ValuesMaskRawClock != 0 {
		return uintptr(syscall.EINVAL), 0
	}
	if values.CompMask&ibv.ValuesMaskRawClock != 0 {
		// C has the count in the nanoseconds, as all providers do.
		values.RawClock.TvSec, values.RawClock.TvNsec = 0, time.Now().UnixNano()
	}
	return 0, 0
}
