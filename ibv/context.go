package ibv

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"
)

// Close closes the device. Everything made from it must be closed before, and
// nothing of it may be used afterwards.
//
// C: ibv_close_device(3)
func (ctx *Context) Close() error {
	return ctx.action("close RDMA device", closeHints).from(cCloseDevice(ctx))
}

// action names the device in the errors of an operation.
func (ctx *Context) action(op string, hints map[syscall.Errno]string) action {
	return action{op: op, on: ctx.Device.String(), hints: hints}
}

// QueryDevice asks for the device's limits and capabilities. It may be called
// from any goroutine.
//
// C: ibv_query_device(3)
func (ctx *Context) QueryDevice() (DeviceAttr, error) {
	attr := new(DeviceAttr)
	err := cQueryDevice(ctx, attr)
	return *attr, ctx.action("query RDMA device", nil).from(err)
}

// QueryPort asks for the state and the properties of a port; ports count from 1.
// A library older than this package leaves the fields that it does not know at
// zero. It may be called from any goroutine.
//
// C: ibv_query_port(3), ___ibv_query_port
func (ctx *Context) QueryPort(port uint32) (PortAttr, error) {
	act := ctx.action(fmt.Sprintf("query port %d", port), map[syscall.Errno]string{syscall.EINVAL: hintPorts})
	if err := act.checkPort(port); err != nil {
		return PortAttr{}, err
	}
	attr := new(PortAttr)
	err := ctx.queryPort(uint8(port), attr)
	return *attr, act.from(err)
}

// limit is an attribute of a new object, and how much of it the device can do.
type limit struct {
	name   string
	asked  uint32
	atMost int32
}

// String says so.
func (l limit) String() string {
	return fmt.Sprintf("%s is %d: the device can do %d", l.name, l.asked, l.atMost)
}

// noVector says why there is no such completion vector, or nothing if there is.
func (ctx *Context) noVector(name string, vector uint32) []string {
	if int64(vector) < int64(ctx.NumCompVectors) {
		return nil
	}
	return []string{fmt.Sprintf("%s is %d: the device has %d, counted from 0", name, vector, ctx.NumCompVectors)}
}

// explainLimits names the attributes that are above the device's limits, where C
// has refused to make an object with them, besides what was found otherwise.
func (ctx *Context) explainLimits(err error, limits func(*DeviceAttr) []limit, found ...string) error {
	return explainWith(err, func() []string {
		device, err := ctx.QueryDevice()
		if err != nil {
			return found
		}
		for _, l := range limits(&device) {
			if int64(l.asked) > int64(l.atMost) {
				found = append(found, l.String())
			}
		}
		return found
	})
}

// abiIsExtended is what an extended context has in abi_compat.
const abiIsExtended = ^uintptr(0)

// operation is the operation at an offset in the extended context around ctx; 0
// if the library or the provider does not have it. The struct grows at its front,
// so a library older than this package has an object that starts later: nothing
// before its start may be touched. There must not even be a pointer to the whole
// struct, because where the compiler checks it for nil, it reads the first byte.
func (ctx *Context) operation(offset uintptr) FuncPtr {
	if ctx.ABICompat != abiIsExtended {
		return 0
	}
	// Safe: the library says that ctx is the last member of an extended context,
	// whose size is in front of it.
	if *ctx.before(unsafe.Offsetof(VerbsContext{}.Sz)) < unsafe.Sizeof(VerbsContext{})-offset {
		return 0
	}
	// Safe: the object reaches as far.
	return FuncPtr(*ctx.before(offset))
}

// before points to the word at an offset in the extended context around ctx.
func (ctx *Context) before(offset uintptr) *uintptr {
	return (*uintptr)(unsafe.Add(unsafe.Pointer(ctx), -int(unsafe.Offsetof(VerbsContext{}.Context)-offset)))
}

// checkPort refuses what C's ports cannot be.
func (a action) checkPort(port uint32) error {
	if port == 0 || port > math.MaxUint8 {
		return a.invalid("there is no port %d: %s", port, hintPorts)
	}
	return nil
}

const hintPorts = "ports count from 1 to DeviceAttr.PhysPortCnt"
