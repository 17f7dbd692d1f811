package rdma

import (
	"context"
	"iter"
	"runtime"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// Event is an asynchronous event: something has happened to a queue pair, a queue, a
// port or the whole device, rather than to a work request.
type Event struct {
	// Type is what has happened.
	Type ibv.EventType
	// QP, CQ or SRQ is what it has happened to. All are nil if that is something else,
	// or if there is no handle of it, or none any more.
	QP  *QP
	CQ  *CQ
	SRQ *SRQ
	// Port is the port that it has happened to, from 1, or 0.
	Port uint32
	// Raw is C's event, which must not be acknowledged. The object that it names can be
	// looked at until the loop's body ends, or the object's Close begins.
	Raw ibv.AsyncEvent
}

// String is a line about the event, or says of the zero Event, which comes with an
// error, that it is none.
func (e Event) String() string {
	if e == (Event{}) {
		return "no event"
	}
	text := "asynchronous event " + e.Type.String()
	switch {
	case e.QP != nil:
		return text + " of " + e.QP.String()
	case e.CQ != nil:
		return text + " of " + e.CQ.String()
	case e.SRQ != nil:
		return text + " of " + e.SRQ.String()
	default:
		return e.Raw.String()
	}
}

// Events are the device's asynchronous events, as they come:
//
//	for event, err := range device.Events(ctx) {
//		if err != nil {
//			return err // ctx has ended, say
//		}
//		…
//	}
//
// An event is acknowledged after the loop's body, however that ends. Close of the
// QP, CQ or SRQ that it names acknowledges it before, so it can be called in the
// body, or on another goroutine meanwhile. What has no such handle, such as a work
// queue, is closed after the body, for C waits until the event is acknowledged.
//
// The loop ends with an error: by errors.Is, it is ctx.Err() and [context.Cause] of
// it when ctx has ended, [ErrClosed] when the device was closed, and says what has
// failed otherwise. Between events the goroutine is parked, and uses no thread.
// Events that come while there is no loop stay until there is one. Several loops
// share the events: each comes to one of them. The file of the events does not block
// any more once there was a loop.
//
// C: ibv_get_async_event(3), ibv_ack_async_event(3)
func (d *Device) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if d == nil || d.events == nil {
			yield(Event{}, noHandle("wait for events of a device"))
			return
		}
		if ctx == nil {
			yield(Event{}, d.l.failed(waitForEvents, syscall.EINVAL, noContext))
			return
		}
		defer runtime.KeepAlive(d) // who waits has not lost the handle
		loop, err := d.events.listen(ctx, d.l)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer loop.close()
		for {
			raw, err := loop.next()
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !loop.tell(raw, yield) {
				return
			}
		}
	}
}

// tell has the loop's body run, and acknowledges the event.
func (loop *eventLoop) tell(raw ibv.AsyncEvent, yield func(Event, error) bool) bool {
	e := Event{Type: raw.EventType, Port: raw.Port(), Raw: raw}
	about, ack := loop.l.tree.got(&raw, loop.events.source.ack)
	defer ack() // if the body panics, too
	switch handle := about.(type) {
	case *QP:
		e.QP = handle
	case *CQ:
		e.CQ = handle
	case *SRQ:
		e.SRQ = handle
	}
	return yield(e, nil)
}
