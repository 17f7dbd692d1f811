//go:build !freebsd

package ibv

import "unsafe"

// queryGIDEntry is what QueryGIDEntry does with rdma-core's library.
func (ctx *Context) queryGIDEntry(act action, port, index uint32) (GIDEntry, error) {
	entry := new(GIDEntry)
	err := callInt(act, "_ibv_query_gid_ex", uintptr(unsafe.Pointer(ctx)),
		uintptr(port), uintptr(index), uintptr(unsafe.Pointer(entry)), 0, unsafe.Sizeof(*entry))
	return *entry, err
}
