package rdma

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// CQ is a completion queue. Any goroutine may use it, and each completion is
// handed out once.
type CQ struct {
	_ noCopy

	poller   ibv.Poller
	extended extendedCQ
	waiters  *waiters
	checked  *checkedCQ // in checked mode
	raw      *ibv.CQ
	l        *life
	dev      *Device
}

// CQOptions are what a completion queue is made with. The zero value is what most
// programs want.
type CQOptions struct {
	// Channel is where its events come, for Wait; nil is the device's own, which all
	// such queues share.
	Channel *Channel
	// NoChannel has its events come nowhere: it can be polled, and Wait fails.
	NoChannel bool
	// Vector is the completion vector, the interrupt, from 0.
	Vector int
	// Spin is for how long Wait polls before it parks. A wake-up takes microseconds,
	// and a spinning goroutine saves them at the price of a processor, which others
	// lack meanwhile: 0, for not at all, is right where nothing comes for long.
	Spin time.Duration
	// Fields makes an extended queue, see [CQ.PollExtended], and says what is read of
	// its completions: it is of type ibv.WCFields, and FreeBSD has nothing of the kind.
	// A device that cannot tell some of it is an error. Whether Poll and Wait work on
	// such a queue depends on the provider. One that is adopted was created with these
	// fields.
	Fields wcFields
}

// CreateCQ makes a completion queue with room for at least entries completions. The
// caller closes it.
//
// C: ibv_create_cq(3), ibv_create_cq_ex(3)
func (d *Device) CreateCQ(entries int, opts CQOptions) (*CQ, error) {
	l, err := begin("completion queue", opts.parents(d)...)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	c, err := opts.channel(d)
	if err != nil {
		return nil, err
	}
	raw, err := opts.create(d.raw, entries, l.subjectNumber(0), c.comp())
	if err != nil {
		return nil, err
	}
	return newCQ(d, l, raw, c, opts, raw.Close)
}

// AdoptCQ makes a handle of a completion queue of the device that something else
// has made, and that it closes, after the handle. Of the options, Vector is the
// queue's own. For Wait, Channel is what [Device.AdoptChannel] has made of the
// queue's channel; then there can be no other handle of the queue that waits.
func (d *Device) AdoptCQ(raw *ibv.CQ, opts CQOptions) (*CQ, error) {
	l, err := beginAdopted("completion queue", raw, func(raw *ibv.CQ) *ibv.Context { return raw.Context }, opts.parents(d)...)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	opts.NoChannel = opts.Channel == nil
	c, err := opts.channel(d)
	if err == nil && c != nil && raw.Channel != c.raw {
		err = l.failed("adopt", syscall.EINVAL, "it is not on "+opts.Channel.String())
	}
	if err != nil {
		return nil, err
	}
	l.subjectNumber(uintptr(unsafe.Pointer(raw))) // safe: only the number is kept
	return newCQ(d, l, raw, c, opts, nil)
}

// parents is what the queue needs, without nil in disguise.
func (opts *CQOptions) parents(d *Device) []Object {
	if opts.Channel == nil {
		return []Object{d}
	}
	return []Object{d, opts.Channel}
}

// channel is where the events are to come, or nil. The queue's life has begun, so
// it stays.
func (opts *CQOptions) channel(d *Device) (*channel, error) {
	switch {
	case opts.Channel == nil && opts.NoChannel:
		return nil, nil
	case opts.Channel == nil:
		return d.own.get(d)
	case opts.NoChannel:
		return nil, d.l.failed("make a completion queue on", syscall.EINVAL, "its options have both Channel and NoChannel")
	default:
		return opts.Channel.c, nil
	}
}

// newCQ makes the handle. Without destroy, the queue is adopted.
func newCQ(d *Device, l *life, raw *ibv.CQ, c *channel, opts CQOptions, destroy func() error) (*CQ, error) {
	cq := &CQ{raw: raw, l: l, dev: d}
	cq.poller, cq.extended = raw.Poller(), newExtendedCQ(raw, l, opts)
	own := destroy != nil
	destroy = cq.check(opts, destroy)
	w := newWaiters(raw, l, cq.poller, opts.Spin) // which keeps this poller after Close: what waits then may poll once more
	cq.waiters = w
	switch {
	case c != nil:
		w.arm = func() error { return raw.ReqNotify(false) }
		w.adopted = !own
		if !c.add(w) {
			return nil, l.failed("adopt", syscall.EBUSY, "another handle of it is told of its events, which come once: close that before, or wait by it")
		}
	case !own:
		w.noEvents = "it was adopted without its channel: see Device.AdoptChannel and CQOptions.Channel"
	default:
		w.noEvents = "it was made with CQOptions.NoChannel, so it can only be polled"
	}
	if destroy == nil {
		destroy = func() error { return nil }
	}
	live(l, cq, fmt.Sprintf("%#x", raw.Handle), func() error { return w.end(c, destroy) }, (*CQ).retire)
	return cq, nil
}

// retire has the hot calls return ErrClosed, until they are revived.
func (cq *CQ) retire() (revive func()) {
	before := cq.poller
	l := cq.l
	cq.poller = ibv.NewPoller(func([]ibv.WC) (int, error) { return 0, l.check("poll") })
	extendedBack := cq.extended.retire(l)
	return func() {
		cq.poller = before
		extendedBack()
	}
}

// Poll takes up to len(wcs) completions off the queue, oldest first, and returns
// how many. It does not block and does not allocate: see [ibv.CQ.Poll].
func (cq *CQ) Poll(wcs []ibv.WC) (n int, err error) {
	// Safe: room for as many completions, which nobody keeps. Named results let the
	// compiler inline this.
	n, err = cq.poller.Into(ccall.NoEscape(uintptr(unsafe.Pointer(unsafe.SliceData(wcs)))), len(wcs), 0)
	return
}

// Raw is C's object, valid until Close.
func (cq *CQ) Raw() *ibv.CQ { cq.l.expose(); return cq.raw }

// Close destroys the completion queue: see [Object]. Whoever waits, gets
// [ErrClosed]. Events that were not acknowledged do not hold it up.
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
