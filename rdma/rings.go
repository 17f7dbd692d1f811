package rdma

import (
	"sync"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// Ring is a *[RecvRing] or a *[SendRing].
type Ring interface {
	Object
	ringTag() uint64
}

func (r *RecvRing) ringTag() uint64 { return r.tag }
func (r *SendRing) ringTag() uint64 { return r.tag }

// Rings tells whose a completion is, on a completion queue that serves many rings: a
// server with many connections needs no completion queue for each. Each ring has a
// value of the program's, such as the connection that it belongs to. Any goroutine may
// use it; the zero value is ready. It keeps its rings, which are removed before they
// are closed.
type Rings[T any] struct {
	mu    sync.RWMutex
	byTag map[uint64]member[T]
}

// member is a ring with its value.
type member[T any] struct {
	ring  Ring
	value T
}

// Add has completions of a ring found, or gives it another value. The error says that
// it is no ring, or closed.
func (all *Rings[T]) Add(r Ring, value T) error {
	if l := lifeOf(r); l == nil {
		return noHandle("add a ring to others,")
	} else if err := l.check("add to other rings"); err != nil {
		return err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byTag == nil {
		all.byTag = map[uint64]member[T]{}
	}
	all.byTag[r.ringTag()] = member[T]{r, value}
	return nil
}

// Remove takes back Add. The error says that the ring is not there.
func (all *Rings[T]) Remove(r Ring) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	if lifeOf(r) == nil || all.byTag[r.ringTag()].ring != r {
		return &Error{Op: "remove a ring from others", Err: syscall.EINVAL, Hint: "it is not one of them"}
	}
	delete(all.byTag, r.ringTag())
	return nil
}

// Of is the ring whose completion it may be, with its value, or nil if it is none of
// them. The ring's Handle knows for certain.
func (all *Rings[T]) Of(wc *ibv.WC) (Ring, T) {
	all.mu.RLock()
	defer all.mu.RUnlock()
	m := all.byTag[wc.WRID&tagMask]
	return m.ring, m.value
}
