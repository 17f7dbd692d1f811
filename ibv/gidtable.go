//go:build !freebsd

package ibv

import (
	"fmt"
	"slices"
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

// gidTable is the entries of a port in one call: a table has a thousand, most of them
// empty, and asking for each takes as many. It is false where that is not to be had.
func (ctx *Context) gidTable(port uint32, attr *PortAttr) ([]GIDEntry, bool) {
	device, err := ctx.QueryDevice()
	if err != nil {
		return nil, false
	}
	entries := make([]GIDEntry, int(device.PhysPortCnt)*int(max(attr.GIDTblLen, 0)))
	n, err := ctx.QueryGIDTable(entries)
	if err != nil || n > len(entries) {
		return nil, false
	}
	return slices.DeleteFunc(entries[:n], func(e GIDEntry) bool { return e.PortNum != port }), true
}
