//go:build !freebsd

package ibvtest

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// device is a device of a fabric.
type device struct {
	raw    ibv.Device // first: C's
	f      *Fabric
	name   string
	number int            // in the process
	attr   ibv.DeviceAttr // which nobody changes once the device is there
	ports  []*port
	gone   atomic.Bool // unplugged, or its test is over

	// The fabric's lock guards these.
	contexts           []*context // in the order in which they were opened
	queuePairs         map[uint32]*queuePair
	keys               keyTable
	groups             map[group][]*queuePair
	numbered           map[uint32]*sharedQueue // those for XRC
	nextSRQ            uint32
	domains            int32
	handlesOfAddresses int32
	sharedQueues       int32
	nextQP             uint32
	memoryTaken        uint64 // of the device's own
	handles            uint32
}

func newDevice(f *Fabric, name string, number int) *device {
	d := &device{
		f: f, name: name, number: number, keys: newKeyTable(uint32(f.seed) + uint32(number)<<16), nextQP: 17,
		queuePairs: map[uint32]*queuePair{}, groups: map[group][]*queuePair{}, numbered: map[uint32]*sharedQueue{},
	}
	*(*uintptr)(unsafe.Pointer(&d.raw)) = mark // safe: what C has no use for is there
	d.raw.NodeType, d.raw.TransportType = ibv.NodeCA, ibv.TransportIB
	if f.provider.IWARP {
		d.raw.NodeType, d.raw.TransportType = ibv.NodeRNIC, ibv.TransportIWARP
	}
	copy(d.raw.Name[:], name)
	copy(d.raw.DevName[:], "uverbs-"+name)
	copy(d.raw.DevPath[:], "/sys/class/infiniband_verbs/uverbs-"+name)
	copy(d.raw.IbdevPath[:], "/sys/class/infiniband/"+name)
	d.attr = f.limits
	d.attr.NodeGUID, d.attr.SysImageGUID = ibv.ToBE64(d.guid()), ibv.ToBE64(d.guid())
	for n := range int(d.attr.PhysPortCnt) {
		d.ports = append(d.ports, newPort(d, n+1))
	}
	return d
}

// guid is a number that no other device of the process has: one that is locally administered.
func (d *device) guid() uint64 { return 0x0200_00ff_fe00_0000 | uint64(d.number)<<8 }

func init() {
	global["ibv_get_device_list"] = getDeviceList
	global["ibv_free_device_list"] = freeDeviceList
	symbols["ibv_get_device_name"] = func(a ccall.Args) (uintptr, syscall.Errno) { return address(&of[device](a[0]).raw.Name), 0 }
	symbols["ibv_get_device_guid"] = func(a ccall.Args) (uintptr, syscall.Errno) { return uintptr(of[device](a[0]).attr.NodeGUID), 0 }
	symbols["ibv_get_device_index"] = func(a ccall.Args) (uintptr, syscall.Errno) { return uintptr(of[device](a[0]).number), 0 }
}

// lists are those of devices that were got and not freed, by their addresses, with the library's own that is in them.
var lists = map[uintptr]*deviceList{}

type deviceList struct {
	array []*ibv.Device // with a nil at its end
	real  uintptr
}

var (
	libibverbs     = clib.Library{Soname: "libibverbs.so.1"}
	realList       = clib.Function{Library: &libibverbs, Name: "ibv_get_device_list"}
	realFreeOfList = clib.Function{Library: &libibverbs, Name: "ibv_free_device_list"}
)

// getDeviceList has our devices first, and the machine's behind them.
func getDeviceList(a ccall.Args) (uintptr, syscall.Errno, bool) {
	own, is := fabrics.devices()
	if !is {
		return 0, 0, false
	}
	l := &deviceList{}
	for _, d := range own {
		l.array = append(l.array, &d.raw)
	}
	count := of[int32](a[0])
	if fn, err := realList.Address(); err == nil {
		real := new(int32)
		// Safe: the call keeps what is converted in its argument list.
		if array, err := (clib.Pointer{Name: realList.Name, Address: fn}).Null(uintptr(unsafe.Pointer(real))); err == nil {
			l.real = array
			// Safe: C says that as many are there.
			l.array = append(l.array, unsafe.Slice(clib.At[*ibv.Device](array), *real)...)
		}
	}
	if count != nil {
		*count = int32(len(l.array))
	}
	l.array = append(l.array, nil)
	at := address(unsafe.SliceData(l.array))
	fabrics.mu.Lock()
	defer fabrics.mu.Unlock()
	lists[at] = l
	return at, 0, true
}

func freeDeviceList(a ccall.Args) (uintptr, syscall.Errno, bool) {
	fabrics.mu.Lock()
	l := lists[a[0]]
	delete(lists, a[0])
	fabrics.mu.Unlock()
	if l == nil {
		return 0, 0, false
	}
	if fn, err := realFreeOfList.Address(); err == nil && l.real != 0 {
		_ = clib.Pointer{Name: realFreeOfList.Name, Address: fn}.Void(l.real) // which cannot fail
	}
	return 0, 0, true
}

// handle is a number that no object of the device had.
func (d *device) handle() uint32 {
	d.handles++
	return d.handles
}
