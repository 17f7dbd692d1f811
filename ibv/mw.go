package ibv

import (
	"fmt"
	"syscall"
)

// AllocMW makes a memory window: a part of a memory region that peers can reach,
// once it is bound, by the window's own RKey, until it is bound otherwise or
// closed. One of type 1 is bound by [QP.BindMW], one of type 2 by a work request.
// The caller closes it. It may be called from any goroutine.
//
// C: ibv_alloc_mw(3)
func (pd *PD) AllocMW(typ MWType) (*MW, error) {
	act := pd.Context.action(fmt.Sprintf("allocate memory window (%v)", typ), map[syscall.Errno]string{
		syscall.EINVAL: "the device does not have windows of that type, or no more of them: see DeviceCapFlags",
	})
	fn := pd.Context.Ops.AllocMW
	mw, err := callContextOpsAllocMW(fn, pd, typ)
	return mw, act.from(err)
}

// Close unbinds the memory window, and frees it.
//
// C: ibv_dealloc_mw(3)
func (mw *MW) Close() error {
	act := mw.Context.action("deallocate memory window", closeHints)
	fn := mw.Context.Ops.DeallocMW
	return act.from(callContextOpsDeallocMW(fn, mw))
}

// BindMW posts a work request that binds a memory window of type 1 as bind says; a
// length of 0 closes the window, for which Soft-RoCE needs an MR, too. The window has its new RKey on return, and peers
// can use it once the request has completed; if it does not complete well, the old
// one is good again and has to be put back. bind is the caller's again on return.
// It may be called from any goroutine.
//
// C: ibv_bind_mw(3)
func (qp *QP) BindMW(mw *MW, bind *MWBind) error {
	act := qp.Context.action("bind memory window", map[syscall.Errno]string{
		syscall.ENOMEM: postHints[syscall.ENOMEM],
	})
	if mw == nil || bind == nil {
		return act.invalid("the window or what to bind it to is missing")
	}
	if mw.Type != MWType1 {
		return act.invalid("it is of %v: QP.BindMW binds MWType1, and others are bound by a work request", mw.Type)
	}
	if err := checkBind(act, mw, &bind.BindInfo); err != nil {
		return err
	}
	fn := mw.Context.Ops.BindMW
	return act.from(callContextOpsBindMW(fn, qp, mw, bind))
}

// IncRKey is an RKey with the next tag: its lowest 8 bits are the program's own
// and count round. A memory window of type 2 is bound with another tag every time.
//
// C: ibv_inc_rkey(3)
func IncRKey(rkey uint32) uint32 { return rkey&^0xff | (rkey+1)&0xff }
