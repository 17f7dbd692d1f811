package ibv

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/clib"
)

// DeviceList is the RDMA devices of the machine at one moment. It is C's
// array from ibv_get_device_list(3). Its devices are valid until Close; those
// that were opened stay valid until their contexts are closed too.
type DeviceList struct {
	devices []*Device
	array   **Device
}

// Devices lists the RDMA devices of the machine. An empty list is no error.
// The caller closes the list. It may be called from any goroutine.
//
// C: ibv_get_device_list(3)
func Devices() (*DeviceList, error) {
	act := action{op: "list RDMA devices", hints: map[syscall.Errno]string{
		syscall.ENOSYS: "the kernel has no RDMA support loaded: " + hintNoModules,
	}}
	// int32 as C's int is; libibverbs writes the number of devices here.
	count := new(int32)
	array, err := cGetDeviceList(count)
	if errors.Is(err, clib.ErrNoFunction) {
		return nil, another(act.op, err)
	}
	if err != nil {
		if f := exhausted(); f != nil {
			return nil, act.because(f.errno, "%s", f.text)
		}
		return nil, act.from(err)
	}
	list := &DeviceList{array: array}
	// Safe: C says that count pointers are there, and they stay until Close.
	list.devices = append(list.devices, unsafe.Slice(array, *count)...)
	return list, nil
}

// All is the devices, in libibverbs' order. The slice is the list's own.
func (l *DeviceList) All() []*Device { return l.devices }

// Close frees the list. It does nothing the second time.
//
// C: ibv_free_device_list(3)
func (l *DeviceList) Close() error {
	array := l.array
	l.array, l.devices = nil, nil
	if array == nil {
		return nil
	}
	return action{op: "free the list of RDMA devices"}.from(cFreeDeviceList(array))
}

// String is the kernel's name for the device, such as mlx5_0 or rxe0.
//
// C: ibv_get_device_name(3); it reads the member
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

// fault is what was found to be in the way of a device, and what to do about it.
type fault struct {
	errno syscall.Errno
	text  string
}

// Open opens a device of the list. The caller closes the context.
//
// C: ibv_open_device(3)
func (d *Device) Open() (*Context, error) {
	act := action{op: fmt.Sprintf("open RDMA device %q", d)}
	if err := d.check(act); err != nil {
		return nil, err
	}
	// libibverbs keeps the device for as long as the context lives.
	ctx, err := cOpenDevice(d)
	if err == nil {
		return ctx, nil
	}
	// libibverbs tries other files too, and gives the last one's errno.
	f := exhausted()
	if f == nil && slices.Contains(thisHost.devices(), d.String()) {
		f = thisHost.closed(d.String())
	}
	if f != nil {
		return nil, act.because(f.errno, "%s", f.text)
	}
	return nil, act.from(err)
}

// check refuses no device, which C would follow.
func (d *Device) check(act action) error {
	if d == nil {
		return act.invalid("the device is missing")
	}
	return nil
}

// Open opens the device of that name; "" is the first device that has an
// active port, and an iWARP device only if there is no other, because its queue
// pairs cannot be connected without librdmacm. The caller closes the context.
// Where the kernel has a device that cannot be had, the error says what is in the
// way. It may be called from any goroutine.
func Open(name string) (*Context, error) {
	list, err := Devices()
	if err != nil {
		return nil, err
	}
	defer list.Close()
	for _, d := range list.All() {
		if d.String() == name {
			return d.Open()
		}
	}
	act := action{op: strings.TrimSpace(fmt.Sprintf("open RDMA device %s", quoted(name)))}
	if f := exhausted(); f != nil {
		return nil, act.because(f.errno, "%s", f.text)
	}
	others := unlisted(list)
	switch {
	case slices.Contains(others, name):
		if f := thisHost.unlisted(name); f != nil {
			return nil, act.because(f.errno, "%s", f.text)
		}
	case name == "" && len(list.All())+len(others) > 0:
		return openActive(list, others)
	}
	if len(list.All())+len(others) == 0 {
		return nil, act.because(syscall.ENODEV, "the machine has no RDMA device; %s", hintNoDevice)
	}
	return nil, act.because(syscall.ENODEV, "the machine has %v", slices.Concat(names(list), others))
}

// names is the devices of a list by their names.
func names(list *DeviceList) []string {
	all := make([]string, len(list.All()))
	for i, d := range list.All() {
		all[i] = d.String()
	}
	return all
}

// unlisted is the kernel's devices that are not in a list of libibverbs'.
func unlisted(list *DeviceList) []string {
	listed := names(list)
	return slices.DeleteFunc(thisHost.devices(), func(name string) bool { return slices.Contains(listed, name) })
}

// quoted is a name in quotes, or nothing for no name.
func quoted(name string) string {
	if name == "" {
		return ""
	}
	return strconv.Quote(name)
}

// openActive opens the first device that can send and receive. The error tells
// about each, those too that the kernel has besides the list.
func openActive(list *DeviceList, others []string) (*Context, error) {
	var found []error
	for _, d := range iwarpLast(list.All()) {
		ctx, err := d.openIfActive()
		if err == nil {
			return ctx, nil
		}
		found = append(found, err)
	}
	for _, name := range others {
		if f := thisHost.unlisted(name); f != nil {
			found = append(found, action{op: fmt.Sprintf("open RDMA device %q", name)}.because(f.errno, "%s", f.text))
		}
	}
	if len(found) == 1 {
		return nil, found[0]
	}
	text := make([]string, len(found))
	errnos := map[syscall.Errno]bool{}
	for i, err := range found {
		text[i] = strings.TrimPrefix(err.Error(), "ibv: ")
		var errno syscall.Errno
		errors.As(err, &errno)
		errnos[errno] = true
	}
	why := syscall.ENODEV
	if len(errnos) == 1 {
		for errno := range errnos { // what is in the way of all of them
			why = errno
		}
	}
	return nil, action{op: "open the first usable RDMA device"}.because(why, "%s", strings.Join(text, "; "))
}

// openIfActive opens the device, and keeps it if it has an active port.
func (d *Device) openIfActive() (*Context, error) {
	ctx, err := d.Open()
	if err != nil {
		return nil, err
	}
	port, err := ctx.activePort()
	if err == nil && port == 0 {
		err = action{op: fmt.Sprintf("use RDMA device %q", d)}.because(syscall.ENETDOWN, "none of its ports is active: see to its network interface or cable")
	}
	if err == nil {
		return ctx, nil
	}
	return nil, errors.Join(err, ctx.Close())
}

// iwarpLast is the devices in their order, with those of iWARP behind the others.
func iwarpLast(devices []*Device) []*Device {
	isLast := func(d *Device) int {
		if d.IsIWARP() {
			return 1
		}
		return 0
	}
	return slices.SortedStableFunc(slices.Values(devices), func(a, b *Device) int { return isLast(a) - isLast(b) })
}

// IsIWARP reports whether the device speaks iWARP, whose queue pairs are connected by
// librdmacm alone.
func (d *Device) IsIWARP() bool {
	return d.NodeType == NodeRNIC || d.TransportType == TransportIWARP
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
