package rdma

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// channel is what reads the events of a completion channel and tells the waiters of
// their queues. It knows no handles: those can be lost.
type channel struct {
	raw    *ibv.CompChannel
	source eventSource
	signal signal
	ended  chan struct{} // closed when nobody reads any more
	armed  atomic.Int64  // how many queues an event is outstanding for

	mu      sync.Mutex // held while an event is got and counted
	closed  bool
	failed  error                // why no more events come
	numbers map[uintptr]*waiters // our queues, by what C has as their context
	adopted map[*ibv.CQ]*waiters // those whose context is somebody else's
}

// eventSource is what a channel needs of C. That of C's channel is source.
type eventSource interface {
	// get gets the next event, of a queue with a number as its context. The error is
	// syscall.EAGAIN if there is none now.
	get() (cq *ibv.CQ, number uintptr, err error)
	// ack acknowledges n events of the queue.
	ack(cq *ibv.CQ, n uint32)
}

// createChannel makes C's channel and reads it.
func createChannel(ctx *ibv.Context, device string) (*channel, error) {
	raw, err := ctx.CreateCompChannel()
	if err != nil {
		return nil, err
	}
	c, err := readChannel(raw, device)
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return c, nil
}

// readChannel begins to read C's channel.
func readChannel(raw *ibv.CompChannel, device string) (*channel, error) {
	if err := raw.SetNonblock(true); err != nil {
		return nil, err
	}
	events, err := sourceOf(raw)
	if err != nil {
		return nil, err
	}
	// Safe: it is only looked at.
	signal, err := signalOf(unsafe.Pointer(raw), raw.FD, "completion channel of "+device)
	if err != nil {
		return nil, err
	}
	return readEvents(raw, signal, events), nil
}

// readEvents begins to read events of the source whenever there may be some.
func readEvents(raw *ibv.CompChannel, signal signal, events eventSource) *channel {
	c := &channel{
		raw: raw, source: events, signal: signal, ended: make(chan struct{}),
		numbers: map[uintptr]*waiters{}, adopted: map[*ibv.CQ]*waiters{},
	}
	go c.read()
	return c
}

// read tells of events until the channel is closed, or fails.
func (c *channel) read() {
	defer close(c.ended)
	err := c.signal.wait(func() bool {
		for {
			if more, ended := c.next(); !more {
				return ended
			}
		}
	})
	if err != nil {
		c.fail(err)
	}
}

// next gets an event and tells of it. more says that there may be another one,
// ended that there never will be.
func (c *channel) next() (more, ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false, true
	}
	cq, number, err := c.source.get()
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return false, false
	case errors.Is(err, syscall.EINTR):
		return true, false
	case err != nil:
		c.failLocked(err)
		return false, true
	}
	w := c.numbers[number]
	if w == nil || w.cq != cq {
		w = c.adopted[cq]
	}
	if w == nil { // it is somebody else's, or closed
		c.source.ack(cq, 1)
		return true, false
	}
	w.unacked++
	if w.settled || w.unacked >= batch {
		c.acknowledge(w)
	}
	if !w.event() {
		return true, false
	}
	// Each request causes one event. Where none is outstanding, asking the system once
	// more would be for nothing: the event of a later request makes the file readable
	// anew, and one that nobody waits for can stay.
	return c.armed.Load() > 0, false
}

// batch is how many events are acknowledged at once: C takes a lock for it.
const batch = 64

// acknowledge acknowledges the events of a queue that are counted. The caller has
// the lock.
func (c *channel) acknowledge(w *waiters) {
	if n := w.unacked; n > 0 {
		w.unacked = 0
		c.source.ack(w.cq, n)
	}
}

// fail has all waiters know that no more events come.
func (c *channel) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failLocked(err)
}

func (c *channel) failLocked(err error) {
	if c.closed || c.failed != nil {
		return
	}
	c.failed = err
	for _, w := range c.numbers {
		w.fail(err)
	}
	for _, w := range c.adopted {
		w.fail(err)
	}
}

// add begins to tell a queue's waiters of its events. It is false if those of another
// handle of the queue are told of them.
func (c *channel) add(w *waiters) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if own := c.numbers[w.cq.CQContext]; w.adopted && (c.adopted[w.cq] != nil || own != nil && own.cq == w.cq) {
		return false
	}
	w.armedToo = &c.armed
	if w.adopted {
		c.adopted[w.cq] = w
	} else {
		c.numbers[uintptr(w.l.number)] = w
	}
	if c.failed != nil {
		w.fail(c.failed)
	}
	return true
}

// settle acknowledges what is counted of a queue, and every later event at once: C
// waits for that before it destroys the queue.
func (c *channel) settle(w *waiters) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.settled = true
	c.acknowledge(w)
}

// goOn takes that back.
func (c *channel) goOn(w *waiters) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.settled = false
}

// remove ends what add began, once the queue is destroyed.
func (c *channel) remove(w *waiters) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !w.adopted {
		delete(c.numbers, uintptr(w.l.number))
	} else if c.adopted[w.cq] == w { // another queue may have the address already
		delete(c.adopted, w.cq)
	}
	w.forget()
}

// destroy destroys C's channel and ends the reading. Where that fails, the reading
// goes on.
func (c *channel) destroy() error { return c.end(c.raw.Close) }

// release ends the reading of a channel that is somebody else's.
func (c *channel) release() error { return c.end(func() error { return nil }) }

func (c *channel) end(destroy func() error) error {
	c.mu.Lock() // nobody is in C meanwhile: it does not wait
	if err := destroy(); err != nil {
		c.mu.Unlock()
		return err
	}
	c.closed = true
	c.mu.Unlock()
	c.signal.close() // which wakes the reader
	<-c.ended
	return nil
}

// comp is C's channel, or nil.
func (c *channel) comp() *ibv.CompChannel {
	if c == nil {
		return nil
	}
	return c.raw
}
