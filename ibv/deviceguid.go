package ibv

import "fmt"

// GUID is the number that the maker of the device gave it, or 0 if that cannot be
// read. It may be called from any goroutine.
//
// C: ibv_get_device_guid(3)
func (d *Device) GUID() (BE64, error) {
	act := action{op: fmt.Sprintf("find the GUID of RDMA device %q", d)}
	if err := d.check(act); err != nil {
		return 0, err
	}
	guid, err := cGetDeviceGUID(d)
	return guid, act.from(err)
}
