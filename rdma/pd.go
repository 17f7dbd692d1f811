package rdma

import "github.com/goverbs/goverbs/ibv"

// PD is a protection domain: what is made in it works together, and with nothing
// else. Any goroutine may use it.
type PD struct {
	_ noCopy

	raw *ibv.PD
	l   *life
	dev *Device
}

// AllocPD makes a protection domain. The caller closes it.
//
// C: ibv_alloc_pd(3)
func (d *Device) AllocPD() (*PD, error) {
	l, err := begin("protection domain", d)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	raw, err := d.raw.AllocPD()
	if err != nil {
		return nil, err
	}
	return newPD(d, l, raw, raw.Close), nil
}

// AdoptPD makes a handle of a protection domain of the device that something else
// has made, and that it closes, after the handle.
func (d *Device) AdoptPD(raw *ibv.PD) (*PD, error) {
	l, err := beginAdopted("protection domain", raw, func(raw *ibv.PD) *ibv.Context { return raw.Context }, d)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	return newPD(d, l, raw, nil), nil
}

func newPD(d *Device, l *life, raw *ibv.PD, destroy func() error) *PD {
	pd := &PD{raw: raw, l: l, dev: d}
	if destroy == nil {
		l.expose()
	}
	live(l, pd, "", destroy, nil)
	return pd
}

// Device is the device that it is of.
func (pd *PD) Device() *Device { return pd.dev }

// Raw is C's object, valid until Close. Checked mode accuses no lkey of being no
// region's from then on, in this protection domain, for a region may have been
// registered with C's object. So does AdoptRegion. Call it also where C's protection
// domain comes from another C object, such as a queue pair.
func (pd *PD) Raw() *ibv.PD { pd.l.expose(); return pd.raw }

// Close frees the protection domain: see [Object].
func (pd *PD) Close() error { return pd.lifetime().close() }

// CloseAll closes the protection domain and everything made in it: see [Object].
func (pd *PD) CloseAll() error { return pd.lifetime().closeAll() }

// String is the kind and the device.
func (pd *PD) String() string { return pd.lifetime().text() }

func (pd *PD) lifetime() *life {
	if pd == nil {
		return nil
	}
	return pd.l
}
