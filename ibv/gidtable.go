//go:build !freebsd

package ibv

import (
	"fmt"
	"syscall"
	"unsafe"
)

// QueryGIDTable fills entries with those of the GID tables of all ports that are
// not empty, and returns how many there are. PortAttr.GIDTblLen of all ports
// together is always room enough. [Context.GIDs] asks for one port, and makes
// room. It may be called from any goroutine.
//
// C: ibv_query_gid_table(3), _ibv_query_gid_table; flags is 0
func (ctx *Context) QueryGIDTable(entries []GIDEntry) (int, error) {
	act := ctx.action(fmt.Sprintf("query %d entries of the GID tables", len(entries)), map[syscall.Errno]string{
		syscall.EINVAL: "there are more entries than room for them: see PortAttr.GIDTblLen",
	})
	n, err := cQueryGIDTable(ctx, unsafe.SliceData(entries), uint64(len(entries)), 0, uint64(unsafe.Sizeof(GIDEntry{})))
	return n, act.from(err)
}
