package rdma

import (
	"sync"
	"syscall"
)

// usage is the calls that are under way on a handle, so that a Close at the same
// time is seen.
type usage struct {
	mu      sync.Mutex
	calls   int
	last    stack // what made the last call that began
	closing bool
}

// begin is before a call. It is a mistake while the object is being closed, or
// afterwards.
func (u *usage) begin(l *life, at stack) *mistake {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closing {
		return (&mistake{errno: syscall.EBUSY, text: "another goroutine closes it at the same time: see to it that nobody uses what is being closed"}).with(l)
	}
	u.calls++
	u.last = at
	return nil
}

func (u *usage) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls--
}

// closed returns what destroys an object, which is a mistake while calls are under
// way. then is done when it is destroyed.
func (u *usage) closed(l *life, destroy func() error, then func()) func() error {
	return func() error {
		if m := u.close(); m != nil {
			return m.error("close", l)
		}
		if destroy != nil {
			if err := destroy(); err != nil {
				u.reopen()
				return err
			}
		}
		then()
		return nil
	}
}

func (u *usage) close() *mistake {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls > 0 {
		return (&mistake{errno: syscall.EBUSY, text: "another goroutine uses it at the same time: see to it that nobody uses what is being closed"}).doneAt("used", u.last)
	}
	u.closing = true
	return nil
}

func (u *usage) reopen() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closing = false
}

// posting is the chains and batches that are being posted.
var posting lists

type lists struct {
	sync.Mutex
	by map[any]stack
}

// begin is before a post of a chain or batch, which one goroutine at a time may use.
func (p *lists) begin(list any, at stack) *mistake {
	p.Lock()
	defer p.Unlock()
	if other, ok := p.by[list]; ok {
		return (&mistake{errno: syscall.EBUSY, text: "another goroutine posts the same work requests at the same time: one at a time may use a chain or a batch; nothing was posted"}).doneAt("posted", other)
	}
	if p.by == nil {
		p.by = map[any]stack{}
	}
	p.by[list] = at
	return nil
}

func (p *lists) end(list any) {
	p.Lock()
	defer p.Unlock()
	delete(p.by, list)
}
