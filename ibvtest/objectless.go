//go:build !freebsd

package ibvtest

import (
	"syscall"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// objectless are the functions of libibverbs that are about no object, as they are where there is no libibverbs. Where
// there is one, it is asked: so they are the same with ibvtest and without.
var objectless = map[string]symbol{
	"ibv_rate_to_mult": func(a ccall.Args) (uintptr, syscall.Errno) {
		return uintptr(numberOf(ibv.Rate(a[0]), multOf)), 0
	},
	"ibv_rate_to_mbps": func(a ccall.Args) (uintptr, syscall.Errno) {
		return uintptr(numberOf(ibv.Rate(a[0]), mbpsOf)), 0
	},
	"mult_to_ibv_rate": func(a ccall.Args) (uintptr, syscall.Errno) {
		return uintptr(rateOf(int32(a[0]), multOf)), 0
	},
	"mbps_to_ibv_rate": func(a ccall.Args) (uintptr, syscall.Errno) {
		return uintptr(rateOf(int32(a[0]), mbpsOf)), 0
	},
	// No words: package ibv has C's names of values then.
	"ibv_wc_status_str":  noText,
	"ibv_node_type_str":  noText,
	"ibv_port_state_str": noText,
	"ibv_event_type_str": noText,
	"ibv_wr_opcode_str":  noText,
	// A device of ours shares a program's memory, so a fork has nothing to spare.
	"ibv_fork_init":           func(ccall.Args) (uintptr, syscall.Errno) { return 0, 0 },
	"ibv_is_fork_initialized": func(ccall.Args) (uintptr, syscall.Errno) { return uintptr(ibv.ForkUnneeded), 0 },
	"ibv_import_device":       func(ccall.Args) (uintptr, syscall.Errno) { return null, syscall.EOPNOTSUPP },
}

func noText(ccall.Args) (uintptr, syscall.Errno) { return null, 0 }

func init() {
	for name, fn := range objectless {
		real := &clib.Function{Library: &libibverbs, Name: name}
		global[name] = func(a ccall.Args) (uintptr, syscall.Errno, bool) {
			if _, err := real.Address(); err == nil {
				return 0, 0, false
			}
			result, errno := fn(a)
			return result, errno, true
		}
	}
	global["ibv_ack_async_event"] = ackAsyncEvent
}

// ackAsyncEvent acknowledges an event of an object of ours. One of a port or of a device has nothing that counts, in C either.
func ackAsyncEvent(a ccall.Args) (uintptr, syscall.Errno, bool) {
	event := of[ibv.AsyncEvent](a[0])
	if event.CQ() == nil && event.QP() == nil && event.SRQ() == nil && event.WQ() == nil {
		return 0, 0, true
	}
	if deviceOf(uintptr(*event.Element.QP())) == nil {
		return 0, 0, false
	}
	result, errno := symbols["ibv_ack_async_event"](a)
	return result, errno, true
}
