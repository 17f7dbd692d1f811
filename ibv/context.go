package ibv

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Close closes the device, as ibv_close_device(3) does. Everything made from
// it must be closed before, and nothing of it may be used afterwards.
func (ctx *Context) Close() error {
	return callInt(ctx.action("close RDMA device", closeHints), "ibv_close_device", uintptr(unsafe.Pointer(ctx)))
}

// action names the device in the errors of an operation.
func (ctx *Context) action(op string, hints map[syscall.Errno]string) action {
	return action{op: op, on: ctx.Device.String(), hints: hints}
}

// QueryDevice asks for the device's limits and capabilities, as
// ibv_query_device(3) does. It may be called from any goroutine.
func (ctx *Context) QueryDevice() (DeviceAttr, error) {
	attr := new(DeviceAttr)
	err := callInt(ctx.action("query RDMA device", nil), "ibv_query_device", uintptr(unsafe.Pointer(ctx)), uintptr(unsafe.Pointer(attr)))
	return *attr, err
}

// QueryPort asks for the state and the properties of a port, as
// ibv_query_port(3) does; ports count from 1. A library older than this
// package leaves the fields that it does not know at zero. It may be called
// from any goroutine.
func (ctx *Context) QueryPort(port uint8) (PortAttr, error) {
	act := ctx.action(fmt.Sprintf("query port %d", port), map[syscall.Errno]string{syscall.EINVAL: "ports count from 1 to DeviceAttr.PhysPortCnt"})
	attr := new(PortAttr)
	// C's ibv_query_port is a macro that passes the size of its struct; the
	// symbol of that name fills a shorter one, from before there was a size.
	if v := ctx.extended(unsafe.Offsetof(VerbsContext{}.QueryPort)); v != nil && v.QueryPort != 0 {
		err := callSlot(act, uintptr(v.QueryPort), uintptr(unsafe.Pointer(ctx)), uintptr(port), uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr))
		return *attr, err
	}
	err := callInt(act, "ibv_query_port", uintptr(unsafe.Pointer(ctx)), uintptr(port), uintptr(unsafe.Pointer(attr)))
	return *attr, err
}

// abiIsExtended is what an extended context has in abi_compat.
const abiIsExtended = ^uintptr(0)

// extended is the extended context around ctx, if it has one that reaches as
// far as the member at offset; nil otherwise. The struct grows at its front, so
// a library older than this package has an object that starts later: nothing
// before the start may be touched.
func (ctx *Context) extended(offset uintptr) *VerbsContext {
	if ctx.ABICompat != abiIsExtended {
		return nil
	}
	// Safe: the library says that ctx is the last member of an extended context,
	// and only what its size covers is read.
	v := (*VerbsContext)(unsafe.Add(unsafe.Pointer(ctx), -int(unsafe.Offsetof(VerbsContext{}.Context))))
	if uintptr(v.Sz) < unsafe.Sizeof(VerbsContext{})-offset {
		return nil
	}
	return v
}
