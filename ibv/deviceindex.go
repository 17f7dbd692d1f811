//go:build !freebsd

package ibv

import (
	"fmt"
	"syscall"
)

// Index is the kernel's number for the device, which stays the same when the
// device is renamed. It may be called from any goroutine.
//
// C: ibv_get_device_index(3)
func (d *Device) Index() (int, error) {
	act := action{op: fmt.Sprintf("find the number of RDMA device %q", d)}
	if err := d.check(act); err != nil {
		return 0, err
	}
	index, err := cGetDeviceIndex(d)
	if err == nil && index < 0 {
		return 0, act.because(syscall.EOPNOTSUPP, "the kernel does not number RDMA devices")
	}
	return int(index), act.from(err)
}
