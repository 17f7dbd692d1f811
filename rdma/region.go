package rdma

import (
	"fmt"
	"math"

	"github.com/goverbs/goverbs/ibv"
)

// Region is memory that a device may read and write. It owns the memory, or keeps
// it in place, until its Close has succeeded: also when the program has lost the
// handle, for the device has not. Any goroutine may use it; but who closes it sees
// to it that nobody makes entries of it at the same time.
type Region struct {
	_ noCopy

	view
	raw    *ibv.MR
	length int
	l      *life
	pd     *PD
	under  *registration
}

// view is what work requests and programs see of the memory.
type view struct {
	addr       uint64 // where it starts, as the device knows it
	lkey, rkey uint32
	gone       uint32 // 0, and all ones once the memory is gone
	memory     []byte // what of it is in this process
}

// gone is what is seen of memory that is gone: the address is none of a process's,
// the keys are no region's, and no device takes an entry of that length, so that
// it is neither read nor written, nor copied inline.
var gone = view{addr: 1 << 63, lkey: math.MaxUint32, rkey: math.MaxUint32, gone: math.MaxUint32}

// registration is what has to outlive the handle: C's object and the memory under
// it.
type registration struct {
	raw    *ibv.MR
	memory []byte       // of the Go heap, say, which keeps it while this is reachable
	unmap  func() error // of memory that the region owns, or nil
	ended  bool         // C's object is no more
	// plain is what it was registered for, if its addresses are the process's.
	plain *ibv.AccessFlags
}

// release deregisters the memory, and then lets it go. After an error it can be
// called again.
func (reg *registration) release() error {
	if !reg.ended {
		if err := reg.raw.Close(); err != nil {
			return err
		}
		reg.ended, reg.memory = true, nil
	}
	if reg.unmap != nil {
		return reg.unmap()
	}
	return nil
}

// Register registers memory of the Go heap, or any other that the caller leaves in
// place until the region is closed. Memory of the Go heap stays where it is while it
// is registered, whatever else refers to it; several regions may have the same. The
// error is syscall.EFAULT for memory that the process may not write, though access
// says that it is written to. The caller closes the region.
//
// C: ibv_reg_mr(3)
func (pd *PD) Register(memory []byte, access ibv.AccessFlags) (*Region, error) {
	l, err := begin("memory region", pd)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	raw, err := pd.raw.RegMR(memory, access)
	if err != nil {
		return nil, err
	}
	return newRegion(pd, l, raw, uint64(raw.Addr), memory, &registration{raw: raw, memory: memory, plain: &access}), nil
}

// AdoptRegion makes a handle of a region in the protection domain that something
// else has registered, and that it closes, after the handle. The memory stays
// theirs. Entries count from raw's address, or from 0 if it has none.
func (pd *PD) AdoptRegion(raw *ibv.MR) (*Region, error) {
	l, err := beginAdopted("memory region", raw, func(raw *ibv.MR) *ibv.Context { return raw.Context }, pd)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	return newRegion(pd, l, raw, uint64(raw.Addr), raw.Bytes(), nil), nil
}

// newRegion is the handle of C's object, whose memory starts at addr for the device;
// under is what it releases, or nil where that is somebody else's.
func newRegion(pd *PD, l *life, raw *ibv.MR, addr uint64, memory []byte, under *registration) *Region {
	r := &Region{
		view: view{addr: addr, lkey: raw.LKey, rkey: raw.RKey, memory: memory},
		raw:  raw, length: int(min(raw.Length, math.MaxInt)), l: l, pd: pd, under: under,
	}
	var destroy func() error
	if under != nil {
		destroy = under.release
	}
	destroy = checkRegion(l, pd.l, raw, under, destroy)
	live(l, r, fmt.Sprintf("%#x", raw.LKey), destroy, (*Region).retire)
	return r
}

// retire has nothing more be seen of the memory, until it is revived.
func (r *Region) retire() (revive func()) {
	before := r.view
	r.view = gone
	return func() {
		if r.under == nil || !r.under.ended {
			r.view = before
		}
	}
}

// SGE is a scatter/gather entry for length bytes of the region that start at
// offset. It is made on the way to a post, so nothing is checked: an entry that
// leaves the region, or is of a closed one, is refused by the post, or completes
// with an error, ibv.WCLocProtErr on most devices.
func (r *Region) SGE(offset, length int) ibv.SGE {
	return ibv.SGE{Addr: r.addr + uint64(offset), Length: uint32(min(uint(length), math.MaxUint32)) | r.gone, LKey: r.lkey}
}

// RecvChain makes a chain of n receives of size bytes each: buffers one behind the
// other, from the start of the region on. Work request i has i as WRID, and the size
// bytes that begin at i*size; where size is 0, it has no entries. The error says that
// the region is not that long, or closed.
func (r *Region) RecvChain(n, size int) (*ibv.RecvChain, error) {
	if err := r.lifetime().check("make a chain of receives into"); err != nil {
		return nil, err
	}
	seen := ibv.MR{Addr: uintptr(r.addr), Length: uint64(r.length), LKey: r.lkey}
	return seen.RecvChain(n, size)
}

// Bytes is the region's memory. It is nil where that is not in this process, and
// after Close. Memory that the region owns is gone with it: slices of it must not be
// used any more.
func (r *Region) Bytes() []byte { return r.memory }

// Len is the region's size in bytes.
func (r *Region) Len() int { return r.length }

// LKey is the key that entries of work requests have, and is no region's after
// Close.
func (r *Region) LKey() uint32 { return r.lkey }

// RKey is the key that lets a peer reach the region, as far as the access flags
// allow, and is no region's after Close.
func (r *Region) RKey() uint32 { return r.rkey }

// PD is the protection domain that it is in.
func (r *Region) PD() *PD { return r.pd }

// Raw is C's object, valid until Close. Checked mode takes the region from then on for
// what C's object says, in whichever protection domain.
func (r *Region) Raw() *ibv.MR { r.l.expose(); return r.raw }

// Close deregisters the memory, and gives it back if the region owns it: see
// [Object]. No work that names the region may be outstanding, nor may a peer use it.
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
