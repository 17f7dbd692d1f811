package rdma

import (
	"fmt"

	"github.com/goverbs/goverbs/ibv"
)

// CQ is a completion queue. Any goroutine may use it, and each completion is
// handed out once.
type CQ struct {
	_ noCopy

	poller ibv.Poller
	raw    *ibv.CQ
	l      *life
	dev    *Device
}

// CQOptions are what a completion queue is made with. The zero value is what most
// programs want.
type CQOptions struct {
	// Channel is where its events come, for Wait; nil is the device's own, which all
	// such queues share.
	Channel *Channel
	// Vector is the completion vector, the interrupt, from 0.
	Vector int
}

// CreateCQ makes a completion queue with room for at least entries completions. The
// caller closes it.
func (d *Device) CreateCQ(entries int, opts CQOptions) (*CQ, error) {
	l, err := begin("completion queue", d)
	if err != nil {
		return nil, err
	}
	raw, err := d.raw.CreateCQWithChannel(entries, 0, nil, opts.Vector)
	if err != nil {
		l.abandon()
		return nil, err
	}
	return newCQ(d, l, raw, raw.Close), nil
}

// AdoptCQ makes a handle of a completion queue of the device that something else
// has made, and that it closes, after the handle.
func (d *Device) AdoptCQ(raw *ibv.CQ) (*CQ, error) {
	l, err := beginAdopted("completion queue", raw, func(raw *ibv.CQ) *ibv.Context { return raw.Context }, d)
	if err != nil {
		return nil, err
	}
	return newCQ(d, l, raw, nil), nil
}

func newCQ(d *Device, l *life, raw *ibv.CQ, destroy func() error) *CQ {
	cq := &CQ{raw: raw, l: l, dev: d}
	cq.poller = raw.Poller()
	live(l, cq, fmt.Sprintf("%#x", raw.Handle), destroy, (*CQ).retire)
	return cq
}

// retire has the hot calls return ErrClosed, until they are revived.
func (cq *CQ) retire() (revive func()) {
	before := cq.poller
	l := cq.l
	cq.poller = ibv.NewPoller(func([]ibv.WC) (int, error) { return 0, l.check("poll") })
	return func() { cq.poller = before }
}

// Poll takes up to len(wcs) completions off the queue, oldest first, and returns
// how many. It does not block and does not allocate: see [ibv.CQ.Poll].
func (cq *CQ) Poll(wcs []ibv.WC) (int, error) { return cq.poller.Poll(wcs) }

// Raw is C's object, valid until Close.
func (cq *CQ) Raw() *ibv.CQ { return cq.raw }

// Close destroys the completion queue: see [Object].
func (cq *CQ) Close() error { return cq.lifetime().close() }

// CloseAll closes the completion queue and the queue pairs that use it: see
// [Object].
func (cq *CQ) CloseAll() error { return cq.lifetime().closeAll() }

// String is the kind, the number and the device.
func (cq *CQ) String() string { return cq.lifetime().text() }

func (cq *CQ) lifetime() *life {
	if cq == nil {
		return nil
	}
	return cq.l
}
