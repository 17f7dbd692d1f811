//go:build !freebsd

package ibv

import (
	"syscall"
	"unsafe"
)

// ModifyRateLimit limits how fast a queue pair in RTS sends, and in how large
// bursts. It takes a device with packet pacing, which the extended device
// attributes tell. It may be called from any goroutine, one at a time for a queue
// pair.
//
// C: ibv_modify_qp_rate_limit(3)
func (qp *QP) ModifyRateLimit(attr QPRateLimitAttr) error {
	act := qp.action("limit the rate of", map[syscall.Errno]string{
		syscall.EINVAL: "the rate is outside the device's limits, or the queue pair is not in RTS",
	})
	fn := qp.Context.operation(unsafe.Offsetof(VerbsContext{}.ModifyQPRateLimit))
	c := new(QPRateLimitAttr)
	*c = attr
	return act.from(callVerbsContextModifyQPRateLimit(fn, qp, c))
}
