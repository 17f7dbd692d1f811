//go:build !freebsd

package ibvtest

import (
	"slices"
	"sync"
	"syscall"
)

// eventQueue is events that a program gets one by one: those of a completion channel, or of a context. The fabric's lock
// guards it.
type eventQueue[E any] struct {
	events  []E
	file    eventFile     // readable while there are events
	come    sync.Cond     // of the fabric's lock: an event, or the end
	waiting int           // for that
	ready   chan struct{} // has a token while there may be events; closed at the end
	in      bubble        // where that was made
	over    bool          // there is nothing more to come
}

// open makes the queue ready.
func (q *eventQueue[E]) open(f *Fabric) syscall.Errno {
	q.come.L = &f.mu
	q.ready, q.in = make(chan struct{}, 1), bubbleHere()
	return q.file.open()
}

func (q *eventQueue[E]) add(event E) {
	if q.over {
		return
	}
	q.events = append(q.events, event)
	q.changed()
	q.come.Signal()
}

// changed tells of how many there are now.
func (q *eventQueue[E]) changed() {
	q.file.show(len(q.events))
	if len(q.events) > 0 && !q.over && q.in.open() {
		select {
		case q.ready <- struct{}{}:
		default: // there is one
		}
	}
}

// get takes the oldest event, and waits for it unless the file does not block.
func (q *eventQueue[E]) get() (event E, errno syscall.Errno) {
	for len(q.events) == 0 {
		switch {
		case q.over:
			return event, syscall.EIO
		case !q.file.blocks():
			return event, syscall.EAGAIN
		}
		q.waiting++
		q.come.Wait()
		q.waiting--
	}
	event = q.events[0]
	q.events = slices.Delete(q.events, 0, 1)
	q.changed()
	return event, 0
}

// drop takes out what nobody needs to know any more.
func (q *eventQueue[E]) drop(which func(event E) bool) {
	q.events = slices.DeleteFunc(q.events, which)
	q.changed()
}

// end says that there are no more events to come. Whoever waits, and whoever gets events once those that are there are
// got, has EIO.
func (q *eventQueue[E]) end() {
	if q.over {
		return
	}
	q.over = true
	if q.in.open() {
		close(q.ready)
	}
	q.come.Broadcast()
}
