package ibv

import (
	"fmt"
	"math"
	"syscall"
)

var pkeyHints = map[syscall.Errno]string{
	syscall.EINVAL: hintPorts + ", entries from 0 to PortAttr.PKeyTblLen-1",
	syscall.ENOENT: hintPorts + ", entries from 0 to PortAttr.PKeyTblLen-1",
}

// QueryPKey reads an entry of a port's P_Key table. Ports count from 1, entries
// from 0. It may be called from any goroutine.
//
// C: ibv_query_pkey(3)
func (ctx *Context) QueryPKey(port, index uint32) (BE16, error) {
	act := ctx.action(fmt.Sprintf("query P_Key %d of port %d", index, port), pkeyHints)
	if err := act.checkPort(port); err != nil {
		return 0, err
	}
	if index > math.MaxInt32 {
		return 0, act.invalid("%s", pkeyHints[syscall.EINVAL])
	}
	pkey := new(BE16)
	err := act.from(cQueryPKey(ctx, uint8(port), int32(index), pkey))
	return *pkey, err
}
