package ibv

import (
	"errors"
	"unsafe"
)

// QueryDeviceEx asks for all that the device can do: what [Context.QueryDevice]
// has, and on-demand paging, timestamps, TSO, RSS, rates, raw packets, tag
// matching and memory of its own. Where the library or the provider has no such
// query, the answer has OrigAttr only, and zeros in what a library older than
// this package does not know. It may be called from any goroutine.
//
// C: ibv_query_device_ex(3); input is NULL, because its mask must be 0
func (ctx *Context) QueryDeviceEx() (DeviceAttrEx, error) {
	act := ctx.action("query RDMA device", nil)
	attr := new(DeviceAttrEx)
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.QueryDeviceEx))
	err := act.from(callVerbsContextQueryDeviceEx(fn, ctx, nil, attr, uint64(unsafe.Sizeof(*attr))))
	if errors.Is(err, errors.ErrUnsupported) {
		*attr = DeviceAttrEx{}
		err = act.from(cQueryDevice(ctx, &attr.OrigAttr))
	}
	return *attr, err
}
