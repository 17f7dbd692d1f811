package rdma

import (
	"fmt"
	"sync"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// Window is a memory window: a part of a region that peers reach by a key of the
// window's own, until it is bound otherwise or closed. Binding one is quicker than
// registering memory. Any goroutine may use it.
type Window struct {
	_ noCopy

	raw *ibv.MW
	l   *life
	pd  *PD

	mu     sync.Mutex // while it is bound
	region *Region    // what it was bound to last, or nil
}

// WindowBinding is what a window of type 1 is bound to, and how that is reported.
type WindowBinding struct {
	// Region is registered with ibv.AccessMWBind.
	Region *Region
	// Offset and Length are the part of the region, in bytes.
	Offset, Length int
	// Access is what peers may do: ibv.AccessRemoteRead, ibv.AccessRemoteWrite and
	// ibv.AccessRemoteAtomic, of which the last two need ibv.AccessLocalWrite of the
	// region.
	Access ibv.AccessFlags
	// WRID and Flags are the work request's: with ibv.SendSignaled it completes.
	WRID  uint64
	Flags ibv.SendFlags
}

// AllocWindow makes a memory window, which is bound to nothing. One of ibv.MWType1 is
// bound by Bind; one of ibv.MWType2 by a work request of an [ibv.Batch], which names
// Raw. The caller closes it, and one of ibv.MWType2 before the queue pair that it is
// bound to, which Soft-RoCE waits 50 s for otherwise.
//
// C: ibv_alloc_mw(3)
func (pd *PD) AllocWindow(typ ibv.MWType) (*Window, error) {
	l, err := begin("memory window", pd)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	raw, err := pd.raw.AllocMW(typ)
	if err != nil {
		return nil, err
	}
	w := &Window{raw: raw, l: l, pd: pd}
	live(l, w, fmt.Sprintf("%#x", raw.RKey), raw.Close, nil)
	return w, nil
}

// Bind posts a work request to a connected queue pair that binds the window, which
// is of ibv.MWType1. On return it has its new RKey, and peers can use that once the
// work request has completed; if that fails, what was bound before still is. The
// region is the window's parent from then on, and the one before no longer.
//
// C: ibv_bind_mw(3)
func (w *Window) Bind(qp *QP, to WindowBinding) error {
	if to.Region == nil || to.Offset < 0 || to.Length <= 0 || to.Offset > to.Region.length-to.Length {
		return w.refuse("bind", "the binding has no region, or its part is empty or not within the region")
	}
	return w.bind("bind", qp, to)
}

// Unbind posts a work request that has peers reach nothing by the window any more,
// once it has completed. wrID and flags are its own. The region is no parent of the
// window any more; until the work request has completed, C may refuse to close it,
// which can be tried again.
//
// C: ibv_bind_mw(3) with a length of 0
func (w *Window) Unbind(qp *QP, wrID uint64, flags ibv.SendFlags) error {
	return w.bind("unbind", qp, WindowBinding{WRID: wrID, Flags: flags})
}

// bind binds the window, to nothing if the length is 0. Soft-RoCE wants the region
// for that too.
func (w *Window) bind(op string, qp *QP, to WindowBinding) error {
	return w.lifetime().during(op, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		before, after := w.region, to.Region
		if to.Length == 0 {
			if before == nil {
				return w.refuse(op, "it is not bound")
			}
			to.Region, to.Access = before, 0
		}
		return qp.lifetime().during("post the binding of a window to", func() error {
			return to.Region.lifetime().during("bind a window to", func() error {
				if after != nil && after != before {
					if err := w.l.adopt(after.l); err != nil {
						return err
					}
				}
				if err := qp.raw.BindMW(w.raw, to.c()); err != nil {
					if after != nil && after != before {
						w.l.leave(after.l)
					}
					return err
				}
				if before != nil && before != after {
					w.l.leave(before.l)
				}
				w.region = after
				return nil
			})
		})
	})
}

// c is C's form of it.
func (to *WindowBinding) c() *ibv.MWBind {
	info := ibv.MWBindInfo{MR: ibv.ToPtr(to.Region.raw), MWAccessFlags: to.Access}
	if to.Length > 0 {
		info.Addr, info.Length = to.Region.addr+uint64(to.Offset), uint64(to.Length)
	}
	return &ibv.MWBind{WRID: to.WRID, SendFlags: to.Flags, BindInfo: info}
}

func (w *Window) refuse(op, why string) error {
	return w.lifetime().during(op, func() error { return w.l.failed(op, syscall.EINVAL, why) })
}

// RKey is the key by which peers reach what the window is bound to. It is another one
// after each Bind, and no window's after Close.
func (w *Window) RKey() uint32 {
	key := gone.rkey
	// The error is that it is closed, which the key says.
	_ = w.lifetime().during("read the rkey of", func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		key = w.raw.RKey
		return nil
	})
	return key
}

// PD is the protection domain that it is in.
func (w *Window) PD() *PD { return w.pd }

// Raw is C's object, valid until Close.
func (w *Window) Raw() *ibv.MW { return w.raw }

// Close unbinds the window, and frees it: see [Object].
func (w *Window) Close() error { return w.lifetime().close() }

// CloseAll is Close, for nothing is made from a window.
func (w *Window) CloseAll() error { return w.lifetime().closeAll() }

// String is the kind, the key that it was made with, and the device.
func (w *Window) String() string { return w.lifetime().text() }

func (w *Window) lifetime() *life {
	if w == nil {
		return nil
	}
	return w.l
}
