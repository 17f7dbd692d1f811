//go:build !freebsd

package rdma

import (
	"fmt"

	"github.com/goverbs/goverbs/ibv"
)

// DM is memory of the device's own, which peers reach without the machine's memory
// having a part in it. Any goroutine may use it.
type DM struct {
	_ noCopy

	raw *ibv.DM
	l   *life
	dev *Device
}

// AllocDM allocates size bytes of the device's memory: DeviceAttrEx.MaxDMSize says
// how much there is. It starts at a multiple of 2 to the power of align bytes, which
// atomics may need. The caller closes it. What the device does not have is
// errors.ErrUnsupported by errors.Is.
//
// C: ibv_alloc_dm(3)
func (d *Device) AllocDM(size uint64, align uint32) (*DM, error) {
	l, err := begin("device memory", d)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	raw, err := d.raw.AllocDM(&ibv.AllocDMAttr{Length: size, LogAlignReq: align})
	if err != nil {
		return nil, err
	}
	dm := &DM{raw: raw, l: l, dev: d}
	live(l, dm, fmt.Sprintf("of %d bytes", size), raw.Close, nil)
	return dm, nil
}

// RegisterDM registers length bytes of the device's memory, from offset, for queue
// pairs of the protection domain. Peers count from 0 in the region, which has no
// Bytes. access is what the device and peers may do, or 0 for ibv.AccessLocalWrite.
// The region is a child of the memory, too. The caller closes it.
//
// C: ibv_reg_dm_mr(3)
func (pd *PD) RegisterDM(dm *DM, offset, length uint64, access ibv.AccessFlags) (*Region, error) {
	if access == 0 {
		access = ibv.AccessLocalWrite
	}
	l, err := begin("memory region", pd, dm)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	raw, err := pd.raw.RegDMMR(dm.raw, offset, length, access|ibv.AccessZeroBased)
	if err != nil {
		return nil, err
	}
	return newRegion(pd, l, raw, 0, nil, &registration{raw: raw}), nil
}

// WriteAt copies p to the memory, offset bytes from its start: see
// [ibv.DM.WriteAt].
func (dm *DM) WriteAt(p []byte, offset int64) (n int, err error) {
	err = dm.lifetime().during("write to", func() error {
		n, err = dm.raw.WriteAt(p, offset)
		return err
	})
	return n, err
}

// ReadAt copies from the memory to p, offset bytes from its start: see
// [ibv.DM.ReadAt].
func (dm *DM) ReadAt(p []byte, offset int64) (n int, err error) {
	err = dm.lifetime().during("read from", func() error {
		n, err = dm.raw.ReadAt(p, offset)
		return err
	})
	return n, err
}

// Device is the device that it is of.
func (dm *DM) Device() *Device { return dm.dev }

// Raw is C's object, valid until Close.
func (dm *DM) Raw() *ibv.DM { return dm.raw }

// Close frees the memory: see [Object].
func (dm *DM) Close() error { return dm.lifetime().close() }

// CloseAll closes the memory and its regions: see [Object].
func (dm *DM) CloseAll() error { return dm.lifetime().closeAll() }

// String is the kind, the size and the device.
func (dm *DM) String() string { return dm.lifetime().text() }

func (dm *DM) lifetime() *life {
	if dm == nil {
		return nil
	}
	return dm.l
}
