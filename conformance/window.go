package conformance

import (
	"errors"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var windowScenarios = []Scenario{
	{"window", "opens a part of a region", "ibv_bind_mw(3); IBTA 10.6.7.1", window1},
	{"window", "bound to one region after the other", "ibv_bind_mw(3); IBTA 10.6.7.1", window1Moved},
	{"window", "bounds", "ibv_bind_mw(3); IBTA 10.6.7.1", window1Bounds},
	{"window", "no more than it says", "ibv_bind_mw(3); IBTA 10.6.3.1", window1Access},
	{"window", "its old key opens nothing", "ibv_bind_mw(3); IBTA 10.6.7.1", window1OldKey},
	{"window", "closed by a binding to nothing", "ibv_bind_mw(3)", window1Unbound},
	{"window", "gone with its key", "ibv_dealloc_mw(3)", window1Gone},
	{"window", "a region that is not for windows", "ibv_bind_mw(3); ibv_reg_mr(3)", window1NotBindable},
	{"window", "a region is busy while windows are bound to it", "ibv_dereg_mr(3)", window1Busy},
	{"window", "wrong types", "ibv_bind_mw(3)", windowTypes},
	{"window", "type 2 opens a part of a region", "ibv_post_send(3), ibv_inc_rkey(3)", window2},
	{"window", "type 2 closed by its owner", "ibv_post_send(3); IBTA 10.6.7.2", window2Invalidated},
	{"window", "type 2 closed by its user", "ibv_post_send(3); IBTA 9.4.1.1", window2InvalidatedByPeer},
	{"window", "type 2 is its queue pair's", "IBTA 10.6.7.2.1", window2OtherQueuePair},
	{"window", "type 2 gone with its key", "ibv_dealloc_mw(3)", window2Gone},
}

// bindable is memory that windows can be bound to.
func bindable(t *T, size int) *rdma.Region { return t.Region(size, t.All()|ibv.AccessMWBind) }

// binding binds windows of type 1: b owns the memory, a uses it.
type binding struct {
	t      *T
	a, b   *End
	window *rdma.Window
	region *rdma.Region
}

func newBinding(t *T) *binding {
	t.Needs(Windows1)
	w := &binding{t: t, region: bindable(t, 256)}
	w.a, w.b = t.Pair(PairOptions{})
	var err error
	w.window, err = t.PD().AllocWindow(ibv.MWType1)
	require.NoError(t, err)
	Fill(w.a.Slot(0, 64), 3)
	return w
}

// bind binds the window to a part of a region, which has completed on return.
func (w *binding) bind(region *rdma.Region, offset, length int, access ibv.AccessFlags) {
	require.NoError(w.t, w.window.Bind(w.b.QP, rdma.WindowBinding{
		Region: region, Offset: offset, Length: length, Access: access, WRID: 77, Flags: ibv.SendSignaled,
	}))
	wc := w.t.Done(w.b.SendCQ, 1)[0]
	require.Equal(w.t, ibv.WCBindMW, wc.Opcode)
	require.EqualValues(w.t, 77, wc.WRID)
}

func window1(t *T) {
	w := newBinding(t)
	before := w.window.RKey()
	w.bind(w.region, 100, 50, ibv.AccessRemoteWrite)
	require.NotEqual(t, before, w.window.RKey(), "a binding has a key of its own")
	require.NotEqual(t, w.region.RKey(), w.window.RKey())
	writes(t, w.a, w.b, 50, w.region.SGE(100, 50).Addr, w.window.RKey())
	require.Equal(t, w.a.Slot(0, 64)[:50], w.region.Bytes()[100:150])
	require.Equal(t, make([]byte, 100), w.region.Bytes()[:100])
}

func window1Moved(t *T) {
	w := newBinding(t)
	other := bindable(t, 256)
	for _, region := range []*rdma.Region{w.region, other, w.region, w.region} {
		w.bind(region, 8, 16, ibv.AccessRemoteWrite)
		clear(region.Bytes())
		writes(t, w.a, w.b, 16, region.SGE(8, 16).Addr, w.window.RKey())
		require.Equal(t, w.a.Slot(0, 64)[:16], region.Bytes()[8:24])
	}
	require.NoError(t, other.Close(), "it is bound to the other one")
}

func window1Bounds(t *T) {
	w := newBinding(t)
	w.bind(w.region, 100, 50, ibv.AccessRemoteWrite)
	if t.Differs(WindowBounds) {
		writes(t, w.a, w.b, 51, w.region.SGE(100, 50).Addr, w.window.RKey())
		return
	}
	refused(t, w.a, w.b, 51, w.region.SGE(100, 50).Addr, w.window.RKey(), w.region.Bytes())
}

func window1Access(t *T) {
	w := newBinding(t)
	w.bind(w.region, 0, 64, ibv.AccessRemoteRead)
	refused(t, w.a, w.b, 8, w.region.SGE(0, 8).Addr, w.window.RKey(), w.region.Bytes())
}

func window1OldKey(t *T) {
	w := newBinding(t)
	w.bind(w.region, 0, 64, ibv.AccessRemoteWrite)
	old := w.window.RKey()
	w.bind(w.region, 0, 64, ibv.AccessRemoteWrite)
	refused(t, w.a, w.b, 8, w.region.SGE(0, 8).Addr, old, w.region.Bytes())
}

func window1Unbound(t *T) {
	w := newBinding(t)
	w.bind(w.region, 0, 64, ibv.AccessRemoteWrite)
	bound := w.window.RKey()
	require.NoError(t, w.window.Unbind(w.b.QP, 1, ibv.SendSignaled))
	t.Done(w.b.SendCQ, 1)
	refused(t, w.a, w.b, 8, w.region.SGE(0, 8).Addr, bound, w.region.Bytes())
	require.NoError(t, w.region.Close(), "no window is bound to it")
}

func window1Gone(t *T) {
	w := newBinding(t)
	w.bind(w.region, 0, 64, ibv.AccessRemoteWrite)
	bound := w.window.RKey()
	require.NoError(t, w.window.Close())
	require.ErrorIs(t, w.window.Close(), rdma.ErrClosed)
	refused(t, w.a, w.b, 8, w.region.SGE(0, 8).Addr, bound, w.region.Bytes())
}

// A region without the right to bind windows to it refuses them when they are bound.
func window1NotBindable(t *T) {
	w := newBinding(t)
	plain := t.Region(64, 0)
	err := w.window.Bind(w.b.QP, rdma.WindowBinding{Region: plain, Length: 8, Access: ibv.AccessRemoteWrite, Flags: ibv.SendSignaled})
	if err != nil { // a device may see it at once
		require.ErrorIs(t, err, syscall.EINVAL)
		return
	}
	require.Equal(t, t.Status(OwnStatus, ibv.WCMWBindErr), t.Poll(w.b.SendCQ, 1)[0].Status)
}

func window1Busy(t *T) {
	w := newBinding(t)
	w.bind(w.region, 0, 64, ibv.AccessRemoteWrite)
	require.Error(t, w.region.Raw().Close())
	var children *rdma.ChildrenError
	require.ErrorAs(t, w.region.Close(), &children)
	require.Equal(t, []string{w.window.String()}, children.Children)
	require.NoError(t, w.window.Close())
	require.NoError(t, w.region.Close())
}

func windowTypes(t *T) {
	t.Needs(Windows1, Windows2)
	_, err := t.PD().AllocWindow(3)
	require.Error(t, err, "there are two types")
	_, b := t.Pair(PairOptions{})
	second, err := t.PD().AllocWindow(ibv.MWType2)
	require.NoError(t, err)
	require.ErrorIs(t, second.Bind(b.QP, rdma.WindowBinding{Region: bindable(t, 64), Length: 8, Access: ibv.AccessRemoteWrite}), syscall.EINVAL)
}

// binding2 binds windows of type 2.
type binding2 struct {
	t      *T
	a, b   *End
	mw     *ibv.MW
	window *rdma.Window
	region *rdma.Region
	rkey   uint32
}

// newBinding2 has a window bound to the start of the region.
func newBinding2(t *T) *binding2 {
	t.Needs(Windows2)
	w := &binding2{t: t, region: bindable(t, 256)}
	w.a, w.b = t.Pair(PairOptions{})
	var err error
	w.window, err = t.PD().AllocWindow(ibv.MWType2)
	require.NoError(t, err)
	t.Cleanup(func() { // before its queue pair: rxe waits 50 s for the other order
		if err := w.window.Close(); !errors.Is(err, rdma.ErrClosed) {
			require.NoError(t, err)
		}
	})
	w.mw = w.window.Raw()
	w.rkey = ibv.IncRKey(w.mw.RKey)
	chain := t.Sends(1, 0)
	require.NoError(t, chain.Set(0, 5, ibv.WRBindMW, ibv.SendSignaled))
	*chain.WR(0).BindMW() = ibv.SendWRBindMW{MW: ibv.ToPtr(w.mw), RKey: w.rkey, BindInfo: ibv.MWBindInfo{
		MR: ibv.ToPtr(w.region.Raw()), Addr: w.region.SGE(0, 0).Addr, Length: 64, MWAccessFlags: ibv.AccessRemoteWrite,
	}}
	w.b.Post(chain)
	wc := t.Done(w.b.SendCQ, 1)[0]
	require.Equal(t, ibv.WCBindMW, wc.Opcode)
	require.EqualValues(t, 5, wc.WRID)
	Fill(w.a.Slot(0, 64), 4)
	return w
}

// works requires that the window opens its memory, and refuses requires the contrary.
func (w *binding2) works() {
	writes(w.t, w.a, w.b, 64, w.region.SGE(0, 64).Addr, w.rkey)
	require.Equal(w.t, w.a.Slot(0, 64), w.region.Bytes()[:64])
}

func (w *binding2) refuses() {
	Fill(w.a.Slot(0, 64), 5)
	refused(w.t, w.a, w.b, 8, w.region.SGE(0, 8).Addr, w.rkey, w.region.Bytes())
}

func window2(t *T) {
	w := newBinding2(t)
	w.works()
	Fill(w.a.Slot(0, 128), 5)
	if t.Differs(WindowBounds) {
		writes(t, w.a, w.b, 65, w.region.SGE(0, 64).Addr, w.rkey)
		return
	}
	refused(t, w.a, w.b, 65, w.region.SGE(0, 64).Addr, w.rkey, w.region.Bytes())
}

func window2Invalidated(t *T) {
	w := newBinding2(t)
	w.works()
	chain := t.Sends(1, 0)
	require.NoError(t, chain.Set(0, 6, ibv.WRLocalInv, ibv.SendSignaled))
	chain.WR(0).SetInvalidateRKey(w.rkey)
	w.b.Post(chain)
	wc := t.Done(w.b.SendCQ, 1)[0]
	require.Equal(t, ibv.WCLocalInv, wc.Opcode)
	require.EqualValues(t, 6, wc.WRID)
	w.refuses()
}

// A peer that does not need the window any more closes it with its message.
func window2InvalidatedByPeer(t *T) {
	w := newBinding2(t)
	w.works()
	w.b.Buffers(1, 64)
	chain := t.Sends(1, 1)
	require.NoError(t, chain.SetSGE(0, 7, ibv.WRSendWithInv, ibv.SendSignaled, w.a.Memory.SGE(0, 8)))
	chain.WR(0).SetInvalidateRKey(w.rkey)
	w.a.Post(chain)
	t.Done(w.a.SendCQ, 1)
	wc := t.Done(w.b.RecvCQ, 1)[0]
	flag := ibv.WCWithInv
	if t.Differs(InvalidatedFlag) {
		flag = ibv.WCIPCsumOk
	}
	require.NotZero(t, wc.WCFlags&flag)
	require.Equal(t, w.rkey, wc.InvalidatedRKey())
	w.refuses()
}

func window2OtherQueuePair(t *T) {
	w := newBinding2(t)
	w.works()
	w.a, w.b = t.Pair(PairOptions{})
	w.refuses()
}

func window2Gone(t *T) {
	w := newBinding2(t)
	w.works()
	require.NoError(t, w.window.Close())
	w.refuses()
}
