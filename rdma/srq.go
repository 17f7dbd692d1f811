package rdma

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// SRQ is a shared receive queue: the queue pairs that are made with it receive
// into what is posted to it. Any goroutine may use it.
type SRQ struct {
	_ noCopy

	recv    ibv.RecvPoster
	raw     *ibv.SRQ
	checked *checkedQueue // in checked mode
	l       *life
	pd      *PD
	attr    ibv.SRQAttr

	rings hooks // of rings on it
}

// SRQOptions are what a shared receive queue is made with. The zero value is what most
// programs want.
type SRQOptions struct {
	// MaxSGE is how many scatter/gather entries a receive has at most; 0 is 1.
	MaxSGE int
}

// CreateSRQ makes a shared receive queue with room for at least entries receives. The
// caller closes it.
//
// C: ibv_create_srq(3)
func (pd *PD) CreateSRQ(entries int, opts SRQOptions) (*SRQ, error) {
	l, err := begin("shared receive queue", pd)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	attr := ibv.SRQInitAttr{SRQContext: l.subjectNumber(0), Attr: ibv.SRQAttr{MaxWR: number(entries), MaxSGE: number(cmp.Or(opts.MaxSGE, 1))}}
	raw, err := pd.raw.CreateSRQ(&attr)
	if err != nil {
		return nil, err
	}
	return newSRQ(pd, l, raw, attr.Attr, raw.Close), nil
}

// AdoptSRQ makes a handle of a shared receive queue in the protection domain that
// something else has made, and that it closes, after the handle.
func (pd *PD) AdoptSRQ(raw *ibv.SRQ) (*SRQ, error) {
	l, err := beginAdopted("shared receive queue", raw, func(raw *ibv.SRQ) *ibv.Context { return raw.Context }, pd)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	attr, err := raw.Query()
	if errors.Is(err, errors.ErrUnsupported) {
		// Then the queue itself tells how much it takes.
		attr, err = ibv.SRQAttr{MaxWR: math.MaxUint32, MaxSGE: 1}, nil
	}
	if err != nil {
		return nil, err
	}
	l.subjectNumber(uintptr(unsafe.Pointer(raw))) // safe: only the number is kept
	return newSRQ(pd, l, raw, attr, nil), nil
}

func newSRQ(pd *PD, l *life, raw *ibv.SRQ, attr ibv.SRQAttr, destroy func() error) *SRQ {
	srq := &SRQ{raw: raw, l: l, pd: pd, attr: attr}
	srq.recv = raw.RecvPoster()
	destroy = srq.check(destroy)
	live(l, srq, fmt.Sprintf("%#x", raw.Handle), destroy, (*SRQ).retire)
	return srq
}

// retire has the hot calls return ErrClosed, until they are revived.
func (srq *SRQ) retire() (revive func()) {
	before := srq.recv
	l := srq.l
	srq.recv = ibv.NewRecvPoster(func(*ibv.RecvChain, int, int) (int, error) { return 0, l.check("post receives to") })
	back := srq.rings.stop()
	return func() {
		srq.recv = before
		back()
	}
}

// PostRecv posts a chain: see [ibv.RecvChain.PostSRQ].
func (srq *SRQ) PostRecv(c *ibv.RecvChain) (accepted int, err error) { return srq.recv.Whole(c, 0, 0) }

// PostRecvRange posts a part of a chain: see [ibv.RecvChain.PostRange].
func (srq *SRQ) PostRecvRange(c *ibv.RecvChain, first, end int) (accepted int, err error) {
	return srq.recv.Part(c, first, end)
}

// Raw is C's object, valid until Close.
func (srq *SRQ) Raw() *ibv.SRQ { srq.l.expose(); return srq.raw }

// Close destroys the shared receive queue: see [Object].
func (srq *SRQ) Close() error { return srq.lifetime().close() }

// CloseAll closes the shared receive queue and the queue pairs that use it: see
// [Object].
func (srq *SRQ) CloseAll() error { return srq.lifetime().closeAll() }

// String is the kind, the number and the device.
func (srq *SRQ) String() string { return srq.lifetime().text() }

func (srq *SRQ) lifetime() *life {
	if srq == nil {
		return nil
	}
	return srq.l
}

// number is an int as C's, so that what is out of range is more than any device
// has.
func number(n int) uint32 {
	if n < 0 || n > 1<<31-1 {
		return 1<<32 - 1
	}
	return uint32(n)
}
