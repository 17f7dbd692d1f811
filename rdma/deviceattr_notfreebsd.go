//go:build !freebsd

package rdma

// PortSpeed asks what a port can carry now, in units of 100 Mb/s: see
// [ibv.Context.QueryPortSpeed]. Ports count from 1. Any goroutine may call it.
//
// C: ibv_query_port_speed(3)
func (d *Device) PortSpeed(number uint32) (uint64, error) {
	return ask(d.lifetime(), "query the speed of a port of", func() (uint64, error) { return d.raw.QueryPortSpeed(number) })
}
