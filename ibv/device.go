package ibv

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv/internal/dl"
)

// DeviceList is the RDMA devices of the machine at one moment. It is C's
// array from ibv_get_device_list(3). Its devices are valid until Close; those
// that were opened stay valid until their contexts are closed too.
type DeviceList struct {
	devices []*Device
	array   uintptr
}

// Devices lists the RDMA devices of the machine. An empty list is no error.
// The caller closes the list. It may be called from any goroutine.
func Devices() (*DeviceList, error) {
	act := action{op: "list RDMA devices", hints: map[syscall.Errno]string{
		syscall.ENOSYS: "the kernel has no RDMA support loaded: " + hintNoModules,
	}}
	// int32 as C's int is; libibverbs writes the number of devices here.
	count := new(int32)
	array, err := callPointer(act, "ibv_get_device_list", uintptr(unsafe.Pointer(count)))
	if err != nil {
		return nil, err
	}
	list := &DeviceList{array: array}
	// Safe: C says that count pointers are there, and they stay until Close.
	list.devices = append(list.devices, unsafe.Slice(*(***Device)(unsafe.Pointer(&array)), *count)...)
	return list, nil
}

// All is the devices, in libibverbs' order. The slice is the list's own.
func (l *DeviceList) All() []*Device { return l.devices }

// Close frees the list, as ibv_free_device_list(3) does. It does nothing the
// second time.
func (l *DeviceList) Close() error {
	array := l.array
	l.array, l.devices = 0, nil
	if array == 0 {
		return nil
	}
	fn, err := symbol("ibv_free_device_list")
	if err != nil {
		return err
	}
	// The function returns nothing, so whatever it seems to return is no error.
	dl.Call(fn, array)
	return nil
}

// String is the kernel's name for the device, such as mlx5_0 or rxe0.
func (d *Device) String() string {
	if d == nil {
		return nilText
	}
	return cString(d.Name[:])
}

// cString is the text before the first NUL.
func cString(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return text
}

// Open opens a device of the list, as ibv_open_device(3) does. The caller
// closes the context.
func (d *Device) Open() (*Context, error) {
	// Safe: libibverbs keeps the device for as long as the context lives.
	ctx, err := callPointer(action{op: fmt.Sprintf("open RDMA device %q", d)}, "ibv_open_device", uintptr(unsafe.Pointer(d)))
	return pointerTo[Context](ctx), err
}

// Open opens the device of that name; "" is the first device that has an
// active port. The caller closes the context. It may be called from any
// goroutine.
func Open(name string) (*Context, error) {
	list, err := Devices()
	if err != nil {
		return nil, err
	}
	defer list.Close()
	act := action{op: strings.TrimSpace(fmt.Sprintf("open RDMA device %s", quoted(name)))}
	if len(list.All()) == 0 {
		return nil, act.because(syscall.ENODEV, "the machine has no RDMA device; %s", hintNoDevice)
	}
	if name == "" {
		return openActive(list)
	}
	for _, d := range list.All() {
		if d.String() == name {
			return d.Open()
		}
	}
	return nil, act.because(syscall.ENODEV, "the machine has %v", list.All())
}

// quoted is a name in quotes, or nothing for no name.
func quoted(name string) string {
	if name == "" {
		return ""
	}
	return strconv.Quote(name)
}

// openActive opens the first device that can send and receive.
func openActive(list *DeviceList) (*Context, error) {
	var found []string
	for _, d := range list.All() {
		ctx, err := d.Open()
		if err != nil {
			found = append(found, err.Error())
			continue
		}
		port, err := ctx.activePort()
		switch {
		case err != nil:
			found = append(found, err.Error())
		case port == 0:
			found = append(found, fmt.Sprintf("%s has no active port", d))
		default:
			return ctx, nil
		}
		if err := ctx.Close(); err != nil {
			found = append(found, err.Error())
		}
	}
	return nil, action{op: "open the first usable RDMA device"}.because(syscall.ENODEV, "%s", strings.Join(found, "; "))
}

// activePort is the number of the first port that is active, or 0.
func (ctx *Context) activePort() (uint32, error) {
	attr, err := ctx.QueryDevice()
	if err != nil {
		return 0, err
	}
	for port := uint32(1); port <= uint32(attr.PhysPortCnt); port++ {
		p, err := ctx.QueryPort(port)
		if err != nil {
			return 0, err
		}
		if p.State == PortActive {
			return port, nil
		}
	}
	return 0, nil
}
