//go:build !freebsd

package ibvtest

import "github.com/goverbs/goverbs/ibv"

// keyTable is a device's keys of memory. A key is the number of a region or window above a byte that changes with what the
// number is given for. Numbers look random, so that what a program mixed up or made up is the key of nothing, and so do
// the bytes, so that an lkey is not an rkey. No number is used again before all were.
type keyTable struct {
	regions map[uint32]*region   // by lkey
	remote  map[uint32]openToAll // by rkey
	used    map[uint32]bool      // numbers
	made    uint32
	salt    uint32
	// What is at the addresses that work requests name.
	regionsAt map[uintptr]*region
	windowsAt map[uintptr]*window
}

// openToAll is what an rkey is of: a region, or else a window.
type openToAll struct {
	mr *region
	mw *window
}

const (
	keyNumbers = 1 << 24 // how many numbers there are
	// oddStep takes one number to the next, and comes by all of them, as it is odd.
	oddStep = 0x9e3779
)

func newKeyTable(salt uint32) keyTable {
	return keyTable{
		regions: map[uint32]*region{}, remote: map[uint32]openToAll{}, used: map[uint32]bool{}, salt: salt,
		regionsAt: map[uintptr]*region{}, windowsAt: map[uintptr]*window{},
	}
}

// number takes a number, as the upper bits of keys.
func (t *keyTable) number() uint32 {
	for {
		t.made++
		n := (t.made*oddStep + t.salt) % keyNumbers
		if n != 0 && n != keyNumbers-1 && !t.used[n] { // of which programs make keys by accident
			t.used[n] = true
			return n << 8
		}
	}
}

// free gives the number of a key back.
func (t *keyTable) free(key uint32) { delete(t.used, key>>8) }

// bytes are the lower bits for an lkey and an rkey of the same number, which differ.
func (t *keyTable) bytes() (local, remote uint32) {
	local = (t.made*0x9e3779b1 ^ t.salt) >> 24
	return local, local ^ 0x55
}

// open gives a region its keys.
func (t *keyTable) open(mr *region) {
	number := t.number()
	local, remote := t.bytes()
	mr.raw.LKey, mr.raw.RKey = number|local, number|remote
	t.regions[mr.raw.LKey] = mr
	if !mr.null {
		t.remote[mr.raw.RKey] = openToAll{mr: mr}
	}
	t.regionsAt[address(&mr.raw)] = mr
}

// change gives a region other keys of its number.
func (t *keyTable) change(mr *region) {
	delete(t.regions, mr.raw.LKey)
	delete(t.remote, mr.raw.RKey)
	mr.raw.LKey, mr.raw.RKey = ibv.IncRKey(mr.raw.LKey), ibv.IncRKey(mr.raw.RKey)
	t.regions[mr.raw.LKey], t.remote[mr.raw.RKey] = mr, openToAll{mr: mr}
}

// close has the keys of a region be of nothing.
func (t *keyTable) close(mr *region) {
	delete(t.regions, mr.raw.LKey)
	delete(t.remote, mr.raw.RKey)
	delete(t.regionsAt, address(&mr.raw))
	t.free(mr.raw.LKey)
}
