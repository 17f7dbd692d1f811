//go:build !freebsd

package ibv

import "unsafe"

// queryWholePort is C's macro ibv_query_port, which passes the size of its
// struct; the symbol of that name fills a shorter one, from before there was a
// size. It reports whether the library and the provider have the operation.
func (ctx *Context) queryWholePort(act action, port uint32, attr *PortAttr) (done bool, err error) {
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.QueryPort))
	if fn == 0 {
		return false, nil
	}
	return true, callSlot(act, fn, uintptr(unsafe.Pointer(ctx)), uintptr(port), uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr))
}
