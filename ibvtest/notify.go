//go:build !freebsd

package ibvtest

import (
	"syscall"

	"github.com/goverbs/goverbs/internal/ccall"
)

// arming is what event of a completion queue a program has asked for.
type arming int

const (
	notArmed arming = iota
	armedSolicited
	armedAny // of any completion, which asking for solicited ones does not take back
)

var opReqNotifyCQ = operation("req_notify_cq", reqNotifyCQ)

// reqNotifyCQ asks for one event, of a completion that comes from now on: those that are there cause none.
func reqNotifyCQ(a ccall.Args) (uintptr, syscall.Errno) {
	cq := of[completionQueue](a[0])
	cq.ctx.f.mu.Lock()
	defer cq.ctx.f.mu.Unlock()
	if int32(a[1]) == 0 {
		cq.armed = armedAny
	} else {
		cq.armed = max(cq.armed, armedSolicited)
	}
	return 0, 0
}
