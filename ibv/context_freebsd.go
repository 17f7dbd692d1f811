package ibv

// queryPort is C's macro ibv_query_port. FreeBSD's struct is still the one that the
// symbol fills: the macro only clears what an older library leaves alone, and a new
// struct of Go's is clear.
func (ctx *Context) queryPort(port uint8, attr *PortAttr) error { return cQueryPort(ctx, port, attr) }
