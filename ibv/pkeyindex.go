//go:build !freebsd

package ibv

import (
	"fmt"
	"syscall"
)

// PKeyIndex is where a P_Key stands in a port's table, which QPAttr.PKeyIndex
// wants. It reads the table entry by entry. It may be called from any goroutine.
//
// C: ibv_get_pkey_index(3)
func (ctx *Context) PKeyIndex(port uint32, pkey BE16) (uint16, error) {
	hint := fmt.Sprintf("the port's table does not have it: see Context.QueryPKey; %s", hintPorts)
	act := ctx.action(fmt.Sprintf("find P_Key %#04x of port %d", pkey.Host(), port), map[syscall.Errno]string{
		syscall.EINVAL: hint, syscall.ENOENT: hint, syscall.EIO: hint, // EIO: C gave no reason
	})
	if err := act.checkPort(port); err != nil {
		return 0, err
	}
	index, err := cGetPKeyIndex(ctx, uint8(port), pkey)
	if err != nil {
		return 0, act.from(err)
	}
	return uint16(index), nil
}
