package rdma

import (
	"fmt"

	"github.com/goverbs/goverbs/ibv"
)

// Region is memory that a device may read and write. It owns the memory, or keeps
// it in place, until its Close has succeeded. Any goroutine may use it.
type Region struct {
	_ noCopy

	raw *ibv.MR
	l   *life
	pd  *PD
}

// Register registers memory of the Go heap, or any other that the caller keeps in
// place. The caller closes the region.
func (pd *PD) Register(memory []byte, access ibv.AccessFlags) (*Region, error) {
	l, err := begin("memory region", pd)
	if err != nil {
		return nil, err
	}
	raw, err := pd.raw.RegMR(memory, access)
	if err != nil {
		l.abandon()
		return nil, err
	}
	return newRegion(pd, l, raw, raw.Close), nil
}

func newRegion(pd *PD, l *life, raw *ibv.MR, destroy func() error) *Region {
	r := &Region{raw: raw, l: l, pd: pd}
	live(l, r, fmt.Sprintf("%#x", raw.LKey), destroy, nil)
	return r
}

// Raw is C's object, valid until Close.
func (r *Region) Raw() *ibv.MR { return r.raw }

// Close deregisters the memory: see [Object].
func (r *Region) Close() error { return r.lifetime().close() }

// CloseAll closes the region and what needs it: see [Object].
func (r *Region) CloseAll() error { return r.lifetime().closeAll() }

// String is the kind, the lkey and the device.
func (r *Region) String() string { return r.lifetime().text() }

func (r *Region) lifetime() *life {
	if r == nil {
		return nil
	}
	return r.l
}
