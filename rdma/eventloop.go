package rdma

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// events is where the asynchronous events of a device come from. It knows no handle:
// that can be lost.
type events struct {
	source asyncSource

	mu     sync.Mutex // held while an event is got, so that the device stays
	closed bool
	loops  map[*eventLoop]struct{}
}

// asyncSource is what loops over events need of C. That of a device is asyncEvents.
type asyncSource interface {
	// open begins to watch the file of the events, which does not block from then on.
	open() (signal, error)
	// get gets the next event. The error is syscall.EAGAIN if there is none now.
	get() (ibv.AsyncEvent, error)
	ack(event *ibv.AsyncEvent)
}

// asyncEvents are C's events.
type asyncEvents struct{ ctx *ibv.Context }

func (s asyncEvents) open() (signal, error) {
	if err := s.ctx.SetAsyncNonblock(true); err != nil {
		return nil, err
	}
	// Safe: it is only looked at.
	return signalOf(unsafe.Pointer(s.ctx), s.ctx.AsyncFD, "asynchronous events of "+s.ctx.Device.String())
}

func (s asyncEvents) get() (ibv.AsyncEvent, error) { return s.ctx.GetAsyncEvent() }

// There is no error where an event was got: it says that C has no such function.
func (s asyncEvents) ack(event *ibv.AsyncEvent) { _ = event.Ack() }

func newEvents(source asyncSource) *events {
	return &events{source: source, loops: map[*eventLoop]struct{}{}}
}

// close destroys the device, and ends all loops. Where that fails, they go on.
func (e *events) close(destroy func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := destroy(); err != nil {
		return err
	}
	e.closed = true
	for loop := range e.loops {
		loop.signal.close() // which wakes it
	}
	return nil
}

// eventLoop is a loop over the events of a device.
type eventLoop struct {
	events *events
	l      *life // the device's
	ctx    context.Context
	signal signal      // its own, so that its context ends no other loop
	stop   func() bool // looking at ctx
}

// listen begins a loop, which ends with close.
func (e *events) listen(ctx context.Context, l *life) (*eventLoop, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, l.check(waitForEvents)
	}
	signal, err := e.source.open()
	if err != nil {
		return nil, err
	}
	loop := &eventLoop{events: e, l: l, ctx: ctx, signal: signal}
	loop.stop = context.AfterFunc(ctx, signal.expire)
	e.loops[loop] = struct{}{}
	return loop, nil
}

const waitForEvents = "wait for asynchronous events of"

func (loop *eventLoop) close() {
	loop.stop()
	loop.events.mu.Lock()
	defer loop.events.mu.Unlock()
	delete(loop.events.loops, loop)
	loop.signal.close()
}

// next waits for the next event.
func (loop *eventLoop) next() (event ibv.AsyncEvent, err error) {
	var failed error
	err = loop.signal.wait(func() (done bool) {
		event, failed = loop.get()
		return !errors.Is(failed, syscall.EAGAIN) // false: again when there may be one
	})
	switch {
	case err == nil:
		return event, failed
	case errors.Is(err, os.ErrDeadlineExceeded):
		return event, loop.l.failed(waitForEvents, ended(loop.ctx), "")
	}
	if err := loop.l.check(waitForEvents); err != nil { // so the file is closed
		return event, err
	}
	return event, loop.l.failed(waitForEvents, err, "")
}

// get gets an event, if there is one and the device is still there.
func (loop *eventLoop) get() (ibv.AsyncEvent, error) {
	loop.events.mu.Lock()
	defer loop.events.mu.Unlock()
	for {
		if loop.events.closed {
			return ibv.AsyncEvent{}, loop.l.check(waitForEvents)
		}
		event, err := loop.events.source.get()
		if !errors.Is(err, syscall.EINTR) {
			return event, err
		}
	}
}
