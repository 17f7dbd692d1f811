//go:build !freebsd

package ibv

import (
	"fmt"
	"syscall"
)

// QueryPortSpeed asks what a port can carry now, in units of 100 Mb/s, whatever
// lanes and signals that is made of. Ports count from 1. It may be called from any
// goroutine. With a library that does not have it, PortAttr.ActiveSpeed and
// PortAttr.ActiveWidth say the same in C's terms: see [Context.QueryPort].
//
// C: ibv_query_port_speed(3)
func (ctx *Context) QueryPortSpeed(port uint32) (uint64, error) {
	act := ctx.action(fmt.Sprintf("query the speed of port %d", port), map[syscall.Errno]string{syscall.EINVAL: hintPorts})
	speed := new(uint64)
	err := act.from(cQueryPortSpeed(ctx, port, speed))
	return *speed, alsoTry(err, "ActiveSpeed and ActiveWidth of QueryPort say what the port's lanes carry, and how many there are")
}
