package model

import "github.com/goverbs/goverbs/ibv"

// window is a memory window of type 2: bound to a queue pair, which alone has peers that
// may use it, or free.
type window struct {
	AllocMW
	Window
	bound bool
	qp    int
	gone  bool
	keys  int  // how many it has had
	open  bool // nobody knows whether it is bound
}

// boundTo tells whether any window is bound that suits.
func (w *world) boundTo(suits func(*window) bool) bool {
	for _, mw := range w.mws {
		if mw.bound && !mw.gone && suits(mw) {
			return true
		}
	}
	return false
}

// windowOf is the window that a send names, or nil.
func (w *world) windowOf(wr *SendWR) *window {
	if wr.Window.MW != 0 {
		return w.mws[wr.Window.MW]
	}
	return w.mws[wr.Remote.MW]
}

// windowTarget tells whether peers of a queue pair may reach the bytes by a window.
func (w *world) windowTarget(b *queuePair, target SGE, access ibv.AccessFlags) bool {
	mw := w.mws[target.MW]
	if mw.open {
		w.leave("whether window %d is bound is not known", target.MW)
	}
	return mw.bound && !mw.gone && !target.WrongKey && mw.qp == b.QP && mw.Access&access == access &&
		target.Offset >= mw.Offset && target.Offset+target.Length <= mw.Offset+mw.Length
}

// rebind binds or invalidates a queue pair's own window.
func (w *world) rebind(a *queuePair, s *send) {
	mw := w.mws[s.Window.MW]
	if mw.gone || mw.open {
		w.leave("window %d is gone, or may be bound or not", s.Window.MW)
		return
	}
	if s.Opcode == ibv.WRLocalInv {
		if w.invalidate(a, mw); w.undefined == "" {
			w.succeed(a, s, -1)
		}
		return
	}
	mr := w.mrs[s.Window.MR]
	writes := s.Window.Access&(ibv.AccessRemoteWrite|ibv.AccessRemoteAtomic) != 0
	if mw.bound || mr.gone || mr.PD != mw.PD || mw.PD != a.PD || mr.Access&ibv.AccessMWBind == 0 || writes && mr.Access&ibv.AccessLocalWrite == 0 ||
		s.Window.Offset < mr.Offset || s.Window.Offset+s.Window.Length > mr.Offset+mr.Length {
		mw.open = true
		w.fail(a, s, w.bindError()...)
		return
	}
	mw.Window, mw.bound, mw.qp = s.Window, true, a.QP
	w.succeed(a, s, -1)
}

// invalidate frees a window that is bound to the queue pair. What comes of invalidating
// another one is not tried.
func (w *world) invalidate(qp *queuePair, mw *window) {
	if mw.gone || mw.open || !mw.bound || mw.qp != qp.QP {
		w.leave("window %d is invalidated, and not bound to queue pair %d", mw.AllocMW.MW, qp.QP)
		return
	}
	mw.bound = false
}
