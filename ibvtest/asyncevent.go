//go:build !freebsd

package ibvtest

import (
	"syscall"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// asyncEvent is an asynchronous event, about an object, at its address, or about a port, by its number.
type asyncEvent struct {
	kind  ibv.EventType
	about uintptr
}

// asyncEvents are those of a context.
type asyncEvents struct {
	queue eventQueue[asyncEvent]
	told  map[uintptr]uint32 // how many the program got, by what they are about
}

func (e *asyncEvents) open(f *Fabric) syscall.Errno {
	e.told = map[uintptr]uint32{}
	return e.queue.open(f)
}

func init() {
	symbols["ibv_get_async_event"] = getAsyncEvent
	symbols["ibv_ack_async_event"] = ackEventOfObject
}

// event tells the context of an asynchronous event of an object of it: about is its address. The lock is held.
func (c *context) event(kind ibv.EventType, about uintptr) {
	c.async.queue.add(asyncEvent{kind, about})
}

// event tells of an event of the queue pair.
func (qp *queuePair) event(kind ibv.EventType) { qp.ctx.event(kind, address(&qp.raw)) }

// event tells all contexts of an asynchronous event of a port, or, with 0, of the device.
func (d *device) event(kind ibv.EventType, port uint8) {
	for _, c := range d.contexts {
		if !c.died.Load() {
			c.event(kind, uintptr(port))
		}
	}
}

// forgetEvents is the end of an object that events can be about: those that the program has not got are dropped, and it
// waits until those that it got are acknowledged, as completed counts. The lock is held, and let go of meanwhile.
func (c *context) forgetEvents(about uintptr, completed *uint32) {
	c.async.queue.drop(func(e asyncEvent) bool { return e.about == about })
	for *completed != c.async.told[about] && !c.f.closed {
		c.f.acknowledged.Wait()
	}
	delete(c.async.told, about)
}

func getAsyncEvent(a ccall.Args) (uintptr, syscall.Errno) {
	c := contextAt(a[0])
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	e, errno := c.async.queue.get()
	if errno != 0 {
		return failed, errno
	}
	to := of[ibv.AsyncEvent](a[1])
	*to = ibv.AsyncEvent{EventType: e.kind}
	if e.about < ccall.FirstCode {
		to.Element.SetPortNum(int32(e.about))
		return 0, 0
	}
	*to.Element.QP() = ibv.Ptr[ibv.QP](e.about) // which is where all objects are
	c.async.told[e.about]++
	return 0, 0
}

// ackEventOfObject acknowledges an event that is about an object of ours.
func ackEventOfObject(a ccall.Args) (uintptr, syscall.Errno) {
	event := of[ibv.AsyncEvent](a[0])
	var completed *uint32
	var c *context
	if cq := event.CQ(); cq != nil {
		completed, c = &cq.AsyncEventsCompleted, contextOf(cq.Context)
	} else if qp := event.QP(); qp != nil {
		completed, c = &qp.EventsCompleted, contextOf(qp.Context)
	} else if srq := event.SRQ(); srq != nil {
		completed, c = &srq.EventsCompleted, contextOf(srq.Context)
	} else if wq := event.WQ(); wq != nil {
		completed, c = &wq.EventsCompleted, contextOf(wq.Context)
	} else {
		return 0, 0
	}
	defer c.f.lock()()
	*completed++
	c.f.acknowledged.Broadcast()
	return 0, 0
}
