package rdma

import (
	"github.com/goverbs/goverbs/ibv"
)

// checkedRegion is what is known of a memory region.
type checkedRegion struct {
	l      *life
	pd     *life
	raw    *ibv.MR // while it is open
	lkey   uint32
	start  uint64
	length uint64
	access ibv.AccessFlags
	plain  bool // start and length are addresses of the process, and access is known
}

// checkRegion has checked mode know of a region that is about to live, and what is
// under it, which is nil where that is somebody else's. It returns what destroys the
// region.
func checkRegion(l, pd *life, raw *ibv.MR, under *registration, destroy func() error) func() error {
	if !checked {
		return destroy
	}
	r := &checkedRegion{l: l, pd: pd, raw: raw, lkey: raw.LKey, start: uint64(raw.Addr), length: uint64(raw.Length)}
	switch {
	case under == nil:
		l.expose(pd)
	case under.plain != nil && *under.plain&ibv.AccessZeroBased == 0:
		r.plain, r.access = true, *under.plain
	}
	checks.Lock()
	defer checks.Unlock()
	if checks.regions == nil {
		checks.regions = map[uint32][]*checkedRegion{}
	}
	checks.regions[r.lkey] = append(checks.regions[r.lkey], r)
	return func() error {
		r.close(true)
		if destroy != nil {
			if err := destroy(); err != nil {
				r.close(false)
				return err
			}
		}
		return nil
	}
}

// close moves the region to those that are closed, or back.
func (r *checkedRegion) close(gone bool) {
	checks.Lock()
	defer checks.Unlock()
	if !gone {
		checks.gone.remove(r.lkey, r)
		checks.regions[r.lkey] = append(checks.regions[r.lkey], r)
		return
	}
	same := checks.regions[r.lkey]
	for i := range same {
		if same[i] == r {
			checks.regions[r.lkey] = append(same[:i:i], same[i+1:]...)
		}
	}
	if len(checks.regions[r.lkey]) == 0 {
		delete(checks.regions, r.lkey)
	}
	checks.gone.add(r.lkey, r)
}

// regionOf is the open region of a device with an lkey.
func (c *checker) regionOf(device *life, lkey uint32) *checkedRegion {
	for _, r := range c.regions[lkey] {
		if r.l.device == device && r.raw.LKey == lkey {
			return r
		}
	}
	// Who has C's object can register it anew, with another lkey.
	for _, others := range c.regions {
		for _, r := range others {
			if r.l.device == device && r.l.exposed.Load() && r.raw.LKey == lkey {
				return r
			}
		}
	}
	return nil
}

// closedEntry is the mistake of an entry that a region made after its Close. It is
// looked for first, because the entry has a length that is no message's.
func (r *request) closedEntry() *mistake {
	for k := range r.sges {
		if r.sges[k].LKey == gone.lkey && r.sges[k].Length == gone.gone {
			return r.wrong("has entry %d of a region that was closed before the entry was made", k)
		}
	}
	return nil
}

// entry checks scatter/gather entry k of a work request in a protection domain, and
// returns the use that it is. written says that the device writes to it.
func (c *checker) entry(pd *life, r *request, k int, written bool) (*use, *mistake) {
	sge := &r.sges[k]
	if sge.Length == 0 {
		return nil, nil
	}
	region := c.regionOf(pd.device, sge.LKey)
	if region == nil {
		return nil, c.noRegion(pd, r, k)
	}
	exposed := region.l.exposed.Load()
	switch {
	case region.pd != pd && !exposed && !region.pd.exposed.Load() && !pd.exposed.Load():
		return nil, r.wrong("has entry %d of %s, which is in another protection domain", k, region.l.text()).with(region.l)
	case !region.plain:
		return nil, nil
	}
	start, length := region.start, region.length
	if exposed {
		start, length = uint64(region.raw.Addr), uint64(region.raw.Length)
	}
	if offset := sge.Addr - start; sge.Addr < start || offset > length || uint64(sge.Length) > length-offset {
		return nil, r.wrong("has entry %d with %d bytes at %#x, outside %s, which has %d at %#x", k, sge.Length, sge.Addr, region.l.text(), length, start).with(region.l)
	}
	if written && !exposed && region.access&ibv.AccessLocalWrite == 0 {
		return nil, r.wrong("has entry %d, which is written to, of %s, which was registered without local write access (%v)", k, region.l.text(), region.access).with(region.l)
	}
	return &use{start: sge.Addr, end: sge.Addr + uint64(sge.Length)}, nil
}

// noRegion is the mistake of an entry whose lkey is that of no open region, unless
// there may be regions that are not known.
func (c *checker) noRegion(pd *life, r *request, k int) *mistake {
	if pd.exposed.Load() {
		return nil
	}
	lkey := r.sges[k].LKey
	for _, other := range c.regions[lkey] {
		if other.l.device == pd.device {
			continue // it has another lkey now
		}
		return r.wrong("has entry %d of %s, which is another device", k, other.l.text()).with(other.l)
	}
	if gone := c.gone.by[lkey]; gone != nil && gone.l.device == pd.device {
		return r.wrong("has entry %d with lkey %#x of %s, which was closed", k, lkey, gone.l.text()).with(gone.l)
	}
	return r.wrong("has entry %d with lkey %#x, which is that of no memory region", k, lkey)
}
