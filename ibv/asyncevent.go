package ibv

import (
	"fmt"
	"unsafe"
)

// GetAsyncEvent waits for the next asynchronous event of the device: one that is
// about a queue pair, a queue or a port, rather than about a work request. Each
// must be acknowledged, by [AsyncEvent.Ack]: closing the object that it is about
// waits for that.
//
// An event names the object as the kernel knew it when it happened. One that the
// program has closed meanwhile is gone memory, so a program gets and acknowledges
// events in one place, and closes objects where it knows that no event of theirs
// is in somebody's hands.
//
// The goroutine is in a system call while it waits, so it has a thread of the
// system's to itself, and neither other goroutines nor the garbage collector wait
// for it. Only an event ends the waiting: [Context.Close] may leave it waiting for
// ever. It may be called from any goroutine; each event is got once.
//
// C: ibv_get_async_event(3)
func (ctx *Context) GetAsyncEvent() (AsyncEvent, error) {
	// Before the call, for the context may be closed while it waits.
	act := ctx.action("get asynchronous event", eventHints)
	event := new(AsyncEvent)
	if err := cGetAsyncEvent(ctx, event); err != nil {
		return AsyncEvent{}, act.from(err)
	}
	return *event, nil
}

// SetAsyncNonblock says whether [Context.GetAsyncEvent] is to return at once, with
// syscall.EAGAIN, where there is no event. With a file that does not block, a
// program waits for AsyncFD to become readable, with poll(2) say. AsyncFD stays
// the context's: it is closed with it.
func (ctx *Context) SetAsyncNonblock(nonblocking bool) error {
	// Safe: it is only looked at.
	return setNonblock(ctx.action("set blocking of asynchronous events", nil), unsafe.Pointer(ctx), ctx.AsyncFD, nonblocking)
}

// Ack acknowledges the event, once. The object that it is about must not be closed
// yet. It may be called from any goroutine.
//
// C: ibv_ack_async_event(3)
func (s *AsyncEvent) Ack() error {
	event := new(AsyncEvent)
	*event = *s
	act := action{op: "acknowledge " + event.EventType.String()}
	// C counts in the object that it finds there.
	if about := event.EventType.subject(); about != aboutPort && about != aboutDevice && event.Element.QP().Get() == nil {
		return act.invalid("the event is about no object, so it is not one that was got")
	}
	return act.from(cAckAsyncEvent(event))
}

// CQ is the completion queue that the event is about, or nil if it is about
// something else.
func (s *AsyncEvent) CQ() *CQ {
	if s.EventType.subject() != aboutCQ {
		return nil
	}
	return s.Element.CQ().Get()
}

// QP is the queue pair that the event is about, or nil if it is about something
// else.
func (s *AsyncEvent) QP() *QP {
	if s.EventType.subject() != aboutQP {
		return nil
	}
	return s.Element.QP().Get()
}

// SRQ is the shared receive queue that the event is about, or nil if it is about
// something else.
func (s *AsyncEvent) SRQ() *SRQ {
	if s.EventType.subject() != aboutSRQ {
		return nil
	}
	return s.Element.SRQ().Get()
}

// WQ is the work queue that the event is about, or nil if it is about something
// else.
func (s *AsyncEvent) WQ() *WQ {
	if s.EventType.subject() != aboutWQ {
		return nil
	}
	return s.Element.WQ().Get()
}

// Port is the port that the event is about, from 1, or 0 if it is about an object
// or about the whole device. Of an event that this package does not know it is
// what C has there, which is a port too.
func (s *AsyncEvent) Port() uint32 {
	if s.EventType.subject() != aboutPort {
		return 0
	}
	return uint32(s.Element.PortNum())
}

// String is a line about the event. It does not look at the object, which may be
// closed.
func (s AsyncEvent) String() string {
	switch text := "asynchronous event " + s.EventType.String(); s.EventType.subject() {
	case aboutDevice:
		return text
	case aboutPort:
		return fmt.Sprintf("%s of port %d", text, s.Port())
	default:
		return fmt.Sprintf("%s of the object at %v", text, *s.Element.QP())
	}
}

// subject is what an event can be about.
type subject int

const (
	aboutPort subject = iota
	aboutDevice
	aboutCQ
	aboutQP
	aboutSRQ
	aboutWQ
)

// subject is what events of the type are about.
func (v EventType) subject() subject {
	switch v {
	case EventCQErr:
		return aboutCQ
	case EventQPFatal, EventQPReqErr, EventQPAccessErr, EventCommEst, EventSQDrained,
		EventPathMig, EventPathMigErr, EventQPLastWQEReached:
		return aboutQP
	case EventSRQErr, EventSRQLimitReached:
		return aboutSRQ
	case EventWQFatal:
		return aboutWQ
	case EventDeviceFatal:
		return aboutDevice
	default:
		return aboutPort
	}
}
