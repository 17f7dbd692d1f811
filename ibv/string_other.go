//go:build !freebsd

package ibv

import "fmt"

// String is a line about the memory of the device.
func (dm *DM) String() string {
	if dm == nil {
		return nilText
	}
	return fmt.Sprintf("memory of RDMA device %v (handle %d)", dm.Context.Device, dm.Handle)
}

// String is a line about the thread domain.
func (td *TD) String() string {
	if td == nil {
		return nilText
	}
	return fmt.Sprintf("thread domain of RDMA device %v", td.Context.Device)
}

// String is a line about the DMA handle.
func (dmah *DMAH) String() string {
	if dmah == nil {
		return nilText
	}
	return fmt.Sprintf("DMA handle of RDMA device %v", dmah.Context.Device)
}
