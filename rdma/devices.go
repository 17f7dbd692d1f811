package rdma

import "github.com/goverbs/goverbs/ibv"

// DeviceInfo tells of an RDMA device of the machine that is not opened.
type DeviceInfo struct {
	// Name is the kernel's name for it, such as mlx5_0 or rxe0, by which [Open] opens
	// it.
	Name string
	// Transport is what it speaks: [ibv.TransportIB] is InfiniBand and RoCE.
	Transport ibv.TransportType
}

// String is the name and what the device speaks, such as rxe0 (InfiniBand or RoCE):
// which of the two is up to each port.
func (d DeviceInfo) String() string {
	speaks := d.Transport.String()
	switch d.Transport {
	case ibv.TransportIB:
		speaks = "InfiniBand or RoCE"
	case ibv.TransportIWARP:
		speaks = "iWARP"
	}
	return d.Name + " (" + speaks + ")"
}

// Devices lists the RDMA devices of the machine that programs can use. An empty
// list is no error; [Open] says what is in the way of a device that is not there.
// Any goroutine may call it.
//
// C: ibv_get_device_list(3)
func Devices() ([]DeviceInfo, error) {
	list, err := ibv.Devices()
	if err != nil {
		return nil, err
	}
	var devices []DeviceInfo
	for _, d := range list.All() {
		devices = append(devices, DeviceInfo{Name: d.String(), Transport: d.TransportType})
	}
	return devices, list.Close()
}
