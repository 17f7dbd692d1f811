package rdma

import (
	"slices"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// subject is what a life has that asynchronous events can be about. The tree guards
// it.
type subject struct {
	number uintptr    // how the tree finds it
	handle func() any // the handle, or nil if it is lost or not made yet
	inHand []*inHand
}

// inHand is an event that was got and is to be acknowledged.
type inHand struct{ acknowledge func() }

// subjectNumber makes the object one that events are told of, before C makes it: the
// number is for C to keep as the context of the object. That of an adopted one is
// somebody else's, so the number is its address.
func (l *life) subjectNumber(adopted uintptr) (number uintptr) {
	number = adopted
	if adopted == 0 {
		number = uintptr(l.number)
	}
	l.tree.Lock()
	defer l.tree.Unlock()
	l.events.number = number
	if l.tree.subjects == nil {
		l.tree.subjects = map[uintptr]*life{}
	}
	l.tree.subjects[number] = l
	return number
}

// notSubject takes that back. The tree is locked.
func (l *life) notSubject() {
	if l.tree.subjects[l.events.number] == l {
		delete(l.tree.subjects, l.events.number)
	}
	l.events = subject{}
}

// got takes note of an event that was got. The handle of what it is about is nil if
// there is none. ack acknowledges the event, unless Close of the object has done so.
func (t *tree) got(event *ibv.AsyncEvent, acknowledge func(*ibv.AsyncEvent)) (handle any, ack func()) {
	e := &inHand{func() { acknowledge(event) }}
	t.Lock()
	l, handle := t.about(event)
	if l != nil && l.state != closing {
		l.events.inHand = append(l.events.inHand, e)
		t.Unlock()
		return handle, func() { l.acknowledge(e) }
	}
	t.Unlock()
	if l == nil {
		return nil, e.acknowledge
	}
	e.acknowledge() // C waits for it, in Close
	return handle, func() {}
}

// about is what an event is about, and its handle. Both can be nil. The tree is
// locked.
func (t *tree) about(event *ibv.AsyncEvent) (*life, any) {
	number, address := subjectOf(event)
	for _, key := range []uintptr{number, address} {
		l := t.subjects[key]
		if l == nil {
			continue
		}
		var handle any
		if l.events.handle != nil {
			handle = l.events.handle()
		}
		// Somebody else may have given an object the same number.
		if handle == nil || addressOf(handle) == address {
			return l, handle
		}
	}
	return nil, nil
}

// subjectOf is C's context and the address of what an event is about. C's object is
// there until the event is acknowledged.
func subjectOf(event *ibv.AsyncEvent) (number, address uintptr) {
	// Safe: only the numbers are kept.
	if qp := event.QP(); qp != nil {
		return qp.QPContext, uintptr(unsafe.Pointer(qp))
	}
	if cq := event.CQ(); cq != nil {
		return cq.CQContext, uintptr(unsafe.Pointer(cq))
	}
	if srq := event.SRQ(); srq != nil {
		return srq.SRQContext, uintptr(unsafe.Pointer(srq))
	}
	return 0, 0
}

// addressOf is the address of a handle's object.
func addressOf(handle any) uintptr {
	// Safe: only the number is kept.
	switch handle := handle.(type) {
	case *QP:
		return uintptr(unsafe.Pointer(handle.raw))
	case *CQ:
		return uintptr(unsafe.Pointer(handle.raw))
	case *SRQ:
		return uintptr(unsafe.Pointer(handle.raw))
	}
	return 0
}

// acknowledge acknowledges one event of the object, unless that is done.
func (l *life) acknowledge(e *inHand) {
	l.tree.Lock()
	i := slices.Index(l.events.inHand, e)
	if i >= 0 {
		l.events.inHand = slices.Delete(l.events.inHand, i, i+1)
	}
	l.tree.Unlock()
	if i >= 0 {
		e.acknowledge()
	}
}

// acknowledgeAll acknowledges all events of the object, which is closing, so that
// later ones are acknowledged at once: C waits for that before it destroys it.
func (l *life) acknowledgeAll() {
	l.tree.Lock()
	all := l.events.inHand
	l.events.inHand = nil
	l.tree.Unlock()
	for _, e := range all {
		e.acknowledge()
	}
}
