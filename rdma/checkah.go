package rdma

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// checkedAH is what is known of an address handle.
type checkedAH struct{ l, pd *life }

// checkAH has checked mode know of an address handle that is about to live. It
// returns what destroys it.
func checkAH(l, pd *life, raw *ibv.AH, destroy func() error) func() error {
	if !checked {
		return destroy
	}
	if destroy == nil {
		l.expose(pd)
	}
	// Safe: an address is compared with others, and not followed.
	ah, address := &checkedAH{l, pd}, uintptr(unsafe.Pointer(raw))
	open := func() {
		checks.Lock()
		defer checks.Unlock()
		if checks.handles == nil {
			checks.handles = map[uintptr]*checkedAH{}
		}
		checks.handles[address] = ah
		checks.goneAHs.remove(address, ah)
	}
	open()
	return func() error {
		checks.Lock()
		if checks.handles[address] == ah {
			delete(checks.handles, address)
		}
		checks.goneAHs.add(address, ah)
		checks.Unlock()
		if destroy != nil {
			if err := destroy(); err != nil {
				open()
				return err
			}
		}
		return nil
	}
}

// addressed checks the address handle of a send on UD, for a queue pair in a
// protection domain.
func (c *checker) addressed(pd *life, r *request) *mistake {
	if r.ah == 0 {
		return r.wrong("has no address handle, which a send on UD needs: use SetUD")
	}
	if pd.exposed.Load() {
		return nil // there may be others
	}
	if ah := c.handles[r.ah]; ah != nil {
		if ah.pd != pd && !ah.pd.exposed.Load() {
			return r.wrong("has %v, which is in another protection domain", ah.l.text()).with(ah.l)
		}
		return nil
	}
	if ah := c.goneAHs.by[r.ah]; ah != nil {
		return r.wrong("has %v, which was closed", ah.l.text()).with(ah.l)
	}
	return r.wrong("has an address handle that is none: it is %#x", r.ah)
}
