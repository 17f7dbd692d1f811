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
// server with many connections needs no completion queue for each. Any goroutine may
// use it; the zero value is ready. It keeps its rings, which are removed before they
// are closed.
type Rings struct {
	mu    sync.RWMutex
	byTag map[uint64]Ring
}

// Add has completions of a ring found. The error says that it is no ring, or closed.
func (all *Rings) Add(r Ring) error {
	if l := lifeOf(r); l == nil {
		return noHandle("add a ring to others,")
	} else if err := l.check("add to other rings"); err != nil {
		return err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byTag == nil {
		all.byTag = map[uint64]Ring{}
	}
	all.byTag[r.ringTag()] = r
	return nil
}

// Remove takes back Add. The error says that the ring is not there.
func (all *Rings) Remove(r Ring) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	if lifeOf(r) == nil || all.byTag[r.ringTag()] != r {
		return &Error{Op: "remove a ring from others", Err: syscall.EINVAL, Hint: "it is not one of them"}
	}
	delete(all.byTag, r.ringTag())
	return nil
}

// Of is the ring whose completion it may be, or nil if it is none of them. The ring's
// Handle knows for certain.
func (all *Rings) Of(wc *ibv.WC) Ring {
	all.mu.RLock()
	defer all.mu.RUnlock()
	return all.byTag[wc.WRID&tagMask]
}
