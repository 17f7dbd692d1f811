//go:build !freebsd

package ibv

import "unsafe"

// queryPort is C's macro ibv_query_port, which passes the size of its struct; the
// symbol of that name fills a shorter one, from before there was a size.
func (ctx *Context) queryPort(port uint8, attr *PortAttr) error {
	if fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.QueryPort)); fn != 0 {
		return callVerbsContextQueryPort(fn, ctx, port, attr, uint64(unsafe.Sizeof(*attr)))
	}
	// Safe: the shorter struct is the beginning of this one.
	return cQueryPort(ctx, port, (*CompatIbvPortAttr)(unsafe.Pointer(attr)))
}
