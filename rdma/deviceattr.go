package rdma

import "github.com/goverbs/goverbs/ibv"

// Name is the device's name, such as rxe0. It works after Close, too.
func (d *Device) Name() string {
	l := d.lifetime()
	if l == nil {
		return ""
	}
	return l.name
}

// Query asks for the device's limits and capabilities: see
// [ibv.Context.QueryDevice]. Any goroutine may call it.
//
// C: ibv_query_device(3)
func (d *Device) Query() (ibv.DeviceAttr, error) {
	return ask(d.lifetime(), "query", func() (ibv.DeviceAttr, error) { return d.raw.QueryDevice() })
}

// QueryEx asks for all that the device can do: see [ibv.Context.QueryDeviceEx]. Any
// goroutine may call it.
//
// C: ibv_query_device_ex(3)
func (d *Device) QueryEx() (ibv.DeviceAttrEx, error) {
	return ask(d.lifetime(), "query", func() (ibv.DeviceAttrEx, error) { return d.raw.QueryDeviceEx() })
}

// QueryRTValues reads values of the device that change all the time, such as its
// clock: see [ibv.Context.QueryRTValues]. Any goroutine may call it.
//
// C: ibv_query_rt_values_ex(3)
func (d *Device) QueryRTValues(mask ibv.ValuesMask) (ibv.ValuesEx, error) {
	return ask(d.lifetime(), "query the clock of", func() (ibv.ValuesEx, error) { return d.raw.QueryRTValues(mask) })
}

// Port asks for the state and the properties of a port, which count from 1: see
// [ibv.Context.QueryPort]. Any goroutine may call it.
//
// C: ibv_query_port(3)
func (d *Device) Port(number uint32) (ibv.PortAttr, error) {
	return ask(d.lifetime(), "query a port of", func() (ibv.PortAttr, error) { return d.raw.QueryPort(number) })
}

// GIDs lists the entries of a port's GID table that are not empty: see
// [ibv.Context.GIDs]. Any goroutine may call it.
func (d *Device) GIDs(port uint32) ([]ibv.GIDEntry, error) {
	return ask(d.lifetime(), "query GIDs of", func() ([]ibv.GIDEntry, error) { return d.raw.GIDs(port) })
}

// PKey reads an entry of a port's P_Key table: see [ibv.Context.QueryPKey]. Any
// goroutine may call it.
//
// C: ibv_query_pkey(3)
func (d *Device) PKey(port, index uint32) (ibv.BE16, error) {
	return ask(d.lifetime(), "query a P_Key of", func() (ibv.BE16, error) { return d.raw.QueryPKey(port, index) })
}
