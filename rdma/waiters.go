package rdma

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/goverbs/goverbs/ibv"
)

// waiters is who waits for one completion queue, and what is known of its events. It
// knows no handle: those can be lost.
type waiters struct {
	// Fixed.
	cq       *ibv.CQ
	adopted  bool // so C's context of it, which is l.number otherwise, is somebody else's
	l        *life
	poller   ibv.Poller
	arm      func() error // requests an event; nil if there are none
	noEvents string       // what to do about that
	spin     time.Duration
	armedToo *atomic.Int64 // how many queues of the channel are armed

	// inside is how many goroutines are in calls, and far below 0 if no more may come
	// in. The last one that leaves then, sends to left.
	inside   atomic.Int64
	left     chan struct{}
	spinning atomic.Bool

	mu     sync.Mutex
	parked parking  // the ring of those that are parked, oldest first, and its end
	spare  *parking // those that nobody uses, by their after
	armed  bool     // an event was requested, and none has come since
	failed error    // no events come

	// Guarded by the channel's lock.
	unacked uint32 // events that are to be acknowledged
	settled bool   // each is acknowledged at once
}

// parking is where one goroutine is parked.
type parking struct {
	before, after *parking // in the ring; nil outside of it
	woken         chan struct{}
}

// shut is what is added to inside while nobody may come in.
const shut = -1 << 62

func newWaiters(cq *ibv.CQ, l *life, poller ibv.Poller, spin time.Duration) *waiters {
	w := &waiters{cq: cq, l: l, poller: poller, spin: spin, left: make(chan struct{}, 1)}
	w.parked.before, w.parked.after = &w.parked, &w.parked
	return w
}

// enter begins a call, which ends with leave. It is false if the queue is closed.
func (w *waiters) enter() bool {
	if w.inside.Add(1) > 0 {
		return true
	}
	w.leave()
	return false
}

func (w *waiters) leave() {
	if w.inside.Add(-1) == shut {
		select {
		case w.left <- struct{}{}:
		default: // it knows
		}
	}
}

// leaving reports whether whoever is in a call is to leave it.
func (w *waiters) leaving() bool { return w.inside.Load() < 0 }

// shutOut ends all calls and waits until they have ended.
func (w *waiters) shutOut() {
	select {
	case <-w.left: // of a time before
	default:
	}
	alone := w.inside.Add(shut) == shut
	w.mu.Lock()
	for w.wakeLocked() {
	}
	w.mu.Unlock()
	for !alone {
		<-w.left
		alone = w.inside.Load() == shut
	}
}

// letIn takes that back.
func (w *waiters) letIn() { w.inside.Add(-shut) }

// end ends all calls, and then the queue by destroy. Where that fails, all goes on
// as before.
func (w *waiters) end(c *channel, destroy func() error) error {
	w.shutOut()
	if c == nil {
		c = new(channel) // which has nothing of it
	}
	c.settle(w)
	destroyed := false // not if destroy panics, or ends its goroutine
	defer func() {
		if destroyed {
			c.remove(w)
			return
		}
		c.goOn(w)
		w.letIn()
	}()
	err := destroy()
	destroyed = err == nil
	return err
}

func (w *waiters) closedError() error {
	err := w.l.check("wait on")
	if err == nil { // it has been tried in vain since
		err = w.l.failed("wait on", ErrClosed, "its Close failed: it can be used again")
	}
	return err
}

// queue has the goroutine be woken when its turn comes: it is the last one, or the
// first if it had its turn.
func (w *waiters) queue(first bool) (*parking, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.leaving() {
		return nil, w.closedError()
	}
	if w.failed != nil {
		return nil, w.l.failed("wait on", w.failed, "no more events come: poll, or close it")
	}
	p := w.spare
	if p == nil {
		p = &parking{woken: make(chan struct{}, 1)}
	} else {
		w.spare, p.after = p.after, nil
	}
	p.before, p.after = w.parked.before, &w.parked
	if first {
		p.before, p.after = &w.parked, w.parked.after
	}
	p.before.after, p.after.before = p, p
	return p, nil
}

// unqueue takes that back. If it was woken meanwhile, or if it says so, another one
// is woken instead.
func (w *waiters) unqueue(p *parking, wake bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.after != nil {
		p.remove()
	} else {
		<-p.woken
		wake = true
	}
	if wake {
		w.wakeLocked()
	}
	w.free(p)
}

// free keeps a parking that was woken for another one that parks here: its channel may
// belong to a bubble of testing/synctest, as the queue does then. The caller has mu.
func (w *waiters) free(p *parking) { p.after, w.spare = w.spare, p }

// alone frees the parking, which was woken, and reports whether nobody is parked.
func (w *waiters) alone(p *parking) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free(p)
	return w.parked.after == &w.parked
}

func (p *parking) remove() {
	p.before.after, p.after.before = p.after, p.before
	p.before, p.after = nil, nil
}

// wake wakes the one that is parked for longest.
func (w *waiters) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wakeLocked()
}

// wakeLocked reports whether there was one.
func (w *waiters) wakeLocked() bool {
	p := w.parked.after
	if p == &w.parked {
		return false
	}
	p.remove()
	p.woken <- struct{}{} // which has room
	return true
}

// request requests an event, unless one is outstanding.
func (w *waiters) request() error {
	w.mu.Lock()
	armed := w.armed
	if !armed {
		w.armed = true
		w.armedToo.Add(1) // before there can be an event
	}
	w.mu.Unlock()
	if armed {
		return nil
	}
	err := w.arm()
	if err != nil {
		w.forget()
	}
	return err
}

// disarm reports whether an event was outstanding, and that it is no more.
func (w *waiters) disarm() bool {
	if !w.armed {
		return false
	}
	w.armed = false
	w.armedToo.Add(-1)
	return true
}

// forget ends the waiting for an event.
func (w *waiters) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disarm()
}

// event wakes one that waits. It reports whether the event was requested here.
func (w *waiters) event() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wakeLocked()
	return w.disarm()
}

// fail wakes all, because no more events come.
func (w *waiters) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = err
	for w.wakeLocked() {
	}
}
