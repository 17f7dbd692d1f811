//go:build !freebsd

package ibv

import "unsafe"

// queryGIDEntry is what QueryGIDEntry does with rdma-core's library.
func (ctx *Context) queryGIDEntry(act action, port, index uint32) (GIDEntry, error) {
	entry := new(GIDEntry)
	err := cQueryGIDEx(ctx, port, index, entry, 0, uint64(unsafe.Sizeof(*entry)))
	return *entry, act.from(err)
}
