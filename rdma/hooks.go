package rdma

import (
	"slices"
	"sync"
)

// hook has something that uses a handle stop, when that is being closed, until it is
// taken back. It returns nil when there is nothing left to stop.
type hook func() (back func())

// hooks are those of a handle.
type hooks struct {
	mu  sync.Mutex
	all []hook
}

func (h *hooks) add(one hook) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, one)
}

// stop runs them, and forgets those that have nothing to stop.
func (h *hooks) stop() (back func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var backs []func()
	h.all = slices.DeleteFunc(h.all, func(one hook) bool {
		b := one()
		if b != nil {
			backs = append(backs, b)
		}
		return b == nil
	})
	return func() {
		for _, b := range backs {
			b()
		}
	}
}
