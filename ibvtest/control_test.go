//go:build !freebsd

package ibvtest_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// opened is a device of a fabric, opened as package ibv does it.
func opened(t *testing.T, opts ...ibvtest.Option) *ibv.Context {
	t.Helper()
	ctx, err := ibv.Open(ibvtest.New(t, opts...).Names()[0])
	require.NoError(t, err)
	return ctx
}

// What has children stays open, as the kernel has it, and what is closed with its context is gone from the device.
func TestBusy(t *testing.T) {
	ctx := opened(t, ibvtest.Limits(func(l *ibv.DeviceAttr) { l.MaxQP, l.MaxSRQ, l.MaxAH, l.MaxPD = 1, 1, 1, 1 }))
	for range 2 { // the second time with what the first left open
		pd, err := ctx.AllocPD()
		require.NoError(t, err)
		_, err = ctx.AllocPD()
		require.ErrorIs(t, err, syscall.ENOMEM)
		cq, err := ctx.CreateCQ(8)
		require.NoError(t, err)
		srq, err := pd.CreateSRQ(&ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: 4, MaxSGE: 1}})
		require.NoError(t, err)
		_, err = pd.CreateSRQ(&ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: 4, MaxSGE: 1}})
		require.ErrorIs(t, err, syscall.ENOMEM)
		attr := &ibv.QPInitAttr{SendCQ: cq, RecvCQ: cq, SRQ: srq, QPType: ibv.QPTUD, Cap: ibv.QPCap{MaxSendWR: 4, MaxSendSGE: 1}}
		qp, err := pd.CreateQP(attr)
		require.NoError(t, err)
		_, err = pd.CreateQP(attr)
		require.ErrorIs(t, err, syscall.ENOMEM)
		gid, err := ctx.BestGID(1)
		require.NoError(t, err)
		ah, err := pd.CreateAHTo(1, gid.GIDIndex, gid.GID)
		require.NoError(t, err)
		_, err = pd.CreateAHTo(1, gid.GIDIndex, gid.GID)
		require.ErrorIs(t, err, syscall.ENOMEM)
		parent, err := ctx.AllocParentDomain(&ibv.ParentDomainInitAttr{PD: pd})
		require.NoError(t, err)
		for _, closes := range []func() error{pd.Close, cq.Close, srq.Close} {
			require.ErrorIs(t, closes(), syscall.EBUSY)
		}
		group := ibv.GIDOf(gid.GID.Addr())
		group.Raw()[12] = 224
		require.NoError(t, qp.AttachMcast(group, 0))
		require.ErrorIs(t, qp.Close(), syscall.EBUSY)
		require.NoError(t, qp.DetachMcast(group, 0))
		require.ErrorIs(t, qp.DetachMcast(group, 0), syscall.EINVAL)
		number := qp.QPNum
		require.NoError(t, qp.Close())
		qp, err = pd.CreateQP(attr)
		require.NoError(t, err)
		require.NotEqual(t, number, qp.QPNum)
		_, _ = ah, parent
		device := ctx.Device
		require.NoError(t, ctx.Close())
		ctx, err = device.Open()
		require.NoError(t, err)
	}
	require.NoError(t, ctx.Close())
}

// states are all there are.
var states = []ibv.QPState{ibv.QPSReset, ibv.QPSInit, ibv.QPSRTR, ibv.QPSRTS, ibv.QPSSQD, ibv.QPSSQE, ibv.QPSErr}

// Each attribute that a move needs is missed, and a queue pair stays where it is when one is.
func TestModifyNeeds(t *testing.T) {
	ctx := opened(t)
	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	cq, err := ctx.CreateCQ(8)
	require.NoError(t, err)
	gid, err := ctx.BestGID(1)
	require.NoError(t, err)
	moves := 0
	for _, typ := range []ibv.QPType{ibv.QPTRC, ibv.QPTUC, ibv.QPTUD} {
		qp, err := pd.CreateQP(&ibv.QPInitAttr{SendCQ: cq, RecvCQ: cq, QPType: typ})
		require.NoError(t, err)
		for _, next := range states[1:4] {
			attr := &ibv.QPAttr{
				QPState: next, PortNum: 1, PathMTU: ibv.MTU1024, DestQPNum: 1, Timeout: 14, RetryCnt: 7, RNRRetry: 7, MaxRdAtomic: 1, MaxDestRdAtomic: 1,
				AHAttr: ibv.AHAttr{PortNum: 1, IsGlobal: 1, GRH: ibv.GlobalRoute{DGID: gid.GID, SGIDIndex: uint8(gid.GIDIndex), HopLimit: 1}},
			}
			needs := typ.Needs(qp.State, next)
			for bit := ibv.QPAttrMask(2); bit <= needs; bit <<= 1 {
				if needs&bit == 0 {
					continue
				}
				moves++
				before := qp.State
				require.ErrorIs(t, qp.Modify(attr, needs&^bit), syscall.EINVAL, "%v to %v without %v", typ, next, bit)
				now, _, err := qp.Query(ibv.QPAttrMaskState)
				require.NoError(t, err)
				require.Equal(t, before, now.QPState)
			}
			require.ErrorIs(t, qp.Modify(attr, needs|ibv.QPAttrMaskCap), syscall.EINVAL, "an attribute too many")
			require.NoError(t, qp.Modify(attr, needs), "%v to %v", typ, next)
			require.Equal(t, next, qp.State)
		}
		require.NoError(t, qp.Close())
	}
	require.Equal(t, 3+6+5+3+4+1+3+0+1, moves, "of RC, UC and UD, on the way to INIT, RTR and RTS")
}

// Values that are out of range are refused, one by one.
func TestModifyValues(t *testing.T) {
	ctx := opened(t)
	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	cq, err := ctx.CreateCQ(8)
	require.NoError(t, err)
	gid, err := ctx.BestGID(1)
	require.NoError(t, err)
	qp, err := pd.CreateQP(&ibv.QPInitAttr{SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC})
	require.NoError(t, err)
	good := ibv.QPAttr{
		PortNum: 1, PathMTU: ibv.MTU1024, DestQPNum: 0xabcdef, Timeout: 31, RetryCnt: 7, RNRRetry: 6, MaxRdAtomic: 128, MaxDestRdAtomic: 127, MinRNRTimer: 31,
		RQPSN: 0xff123456, SQPSN: 0x654321, QPAccessFlags: ibv.AccessRemoteRead, PKeyIndex: 3,
		AHAttr: ibv.AHAttr{PortNum: 1, IsGlobal: 1, GRH: ibv.GlobalRoute{DGID: gid.GID, SGIDIndex: uint8(gid.GIDIndex), HopLimit: 1, FlowLabel: 5, TrafficClass: 6}, SL: 7},
	}
	for _, step := range []struct {
		to    ibv.QPState
		wrong map[string]func(*ibv.QPAttr)
	}{
		{ibv.QPSInit, map[string]func(*ibv.QPAttr){
			"no port":      func(a *ibv.QPAttr) { a.PortNum = 0 },
			"another port": func(a *ibv.QPAttr) { a.PortNum = 2 },
			"P_Key":        func(a *ibv.QPAttr) { a.PKeyIndex = 4 },
		}},
		{ibv.QPSRTR, map[string]func(*ibv.QPAttr){
			"no MTU":          func(a *ibv.QPAttr) { a.PathMTU = 0 },
			"MTU":             func(a *ibv.QPAttr) { a.PathMTU = ibv.MTU4096 + 1 },
			"peer":            func(a *ibv.QPAttr) { a.DestQPNum = 1 << 24 },
			"answers":         func(a *ibv.QPAttr) { a.MaxDestRdAtomic = 129 },
			"RNR timer":       func(a *ibv.QPAttr) { a.MinRNRTimer = 32 },
			"port of the way": func(a *ibv.QPAttr) { a.AHAttr.PortNum = 2 },
			"no GRH":          func(a *ibv.QPAttr) { a.AHAttr.IsGlobal = 0 },
			"no GID":          func(a *ibv.QPAttr) { a.AHAttr.GRH.DGID = ibv.GID{} },
			"GID index":       func(a *ibv.QPAttr) { a.AHAttr.GRH.SGIDIndex = 16 },
			"GID's kind":      func(a *ibv.QPAttr) { a.AHAttr.GRH.SGIDIndex = 0 },
			"flow":            func(a *ibv.QPAttr) { a.AHAttr.GRH.FlowLabel = 1 << 20 },
			"service level":   func(a *ibv.QPAttr) { a.AHAttr.SL = 16 },
		}},
		{ibv.QPSRTS, map[string]func(*ibv.QPAttr){
			"timeout":     func(a *ibv.QPAttr) { a.Timeout = 32 },
			"retries":     func(a *ibv.QPAttr) { a.RetryCnt = 8 },
			"RNR retries": func(a *ibv.QPAttr) { a.RNRRetry = 8 },
			"questions":   func(a *ibv.QPAttr) { a.MaxRdAtomic = 129 },
		}},
	} {
		mask := ibv.QPTRC.Needs(qp.State, step.to)
		for name, wrong := range step.wrong {
			attr := good
			attr.QPState = step.to
			wrong(&attr)
			require.ErrorIs(t, qp.Modify(&attr, mask), syscall.EINVAL, name)
		}
		if step.to == ibv.QPSRTR {
			attr := good
			attr.QPState, attr.AHAttr.GRH.SGIDIndex = step.to, 5
			require.ErrorIs(t, qp.Modify(&attr, mask), ibvtest.NoData, "an empty entry")
		}
		attr := good
		attr.QPState = step.to
		require.NoError(t, qp.Modify(&attr, mask))
	}
	got, _, err := qp.Query(ibv.QPAttrMaskState)
	require.NoError(t, err)
	want := good
	want.QPState, want.CurQPState, want.RQPSN = ibv.QPSRTS, ibv.QPSRTS, 0x123456
	require.Equal(t, want, got)
	for _, assumed := range states {
		attr := &ibv.QPAttr{QPState: ibv.QPSRTS, CurQPState: assumed}
		err := qp.Modify(attr, ibv.QPAttrMaskState|ibv.QPAttrMaskCurState)
		if assumed == ibv.QPSRTS {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, syscall.EINVAL, "%v", assumed)
		}
	}
	require.NoError(t, qp.Modify(&ibv.QPAttr{QPState: ibv.QPSReset}, ibv.QPAttrMaskState))
	got, _, err = qp.Query(ibv.QPAttrMaskState)
	require.NoError(t, err)
	require.Equal(t, ibv.QPAttr{}, got, "RESET forgets")
}

// event is the asynchronous event that a context has, of which there is one.
func event(t *testing.T, ctx *ibv.Context) ibv.AsyncEvent {
	t.Helper()
	require.NoError(t, ctx.SetAsyncNonblock(true))
	event, err := ctx.GetAsyncEvent()
	require.NoError(t, err)
	require.NoError(t, event.Ack())
	quiet(t, ctx)
	return event
}

// quiet is that a context has no asynchronous event.
func quiet(t *testing.T, ctx *ibv.Context) {
	t.Helper()
	event, err := ctx.GetAsyncEvent()
	if err == nil {
		require.NoError(t, event.Ack()) // or nothing could be closed
	}
	require.ErrorIs(t, err, syscall.EAGAIN, "%v", event)
}

// Who asks for it hears when a send queue is drained: at once if it has nothing under way, otherwise when that has ended.
func TestSendQueueDrained(t *testing.T) {
	w := wire(t, newRig(t), ibv.QPTRC, nil)
	ctx := w.dev.Raw()
	drain := func() {
		t.Helper()
		require.NoError(t, w.a.Modify(&ibv.QPAttr{QPState: ibv.QPSSQD, EnSQDAsyncNotify: 1}, ibv.QPAttrMaskState|ibv.QPAttrMaskEnSQDAsyncNotify))
	}
	drain()
	require.Equal(t, ibv.EventSQDrained, event(t, ctx).EventType)
	require.NoError(t, w.a.Modify(&ibv.QPAttr{QPState: ibv.QPSRTS}, ibv.QPAttrMaskState))
	w.send(w.a, 1, 8) // for which there is no receive
	drain()
	quiet(t, ctx)
	w.receive(w.b, 2, 8)
	require.Eventually(t, func() bool {
		event, err := ctx.GetAsyncEvent()
		if err != nil {
			return false
		}
		require.NoError(t, event.Ack())
		return event.EventType == ibv.EventSQDrained && event.QP() == w.a.Raw()
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, w.a.Modify(&ibv.QPAttr{QPState: ibv.QPSRTS}, ibv.QPAttrMaskState))
	require.NoError(t, w.a.Modify(&ibv.QPAttr{QPState: ibv.QPSSQD}, ibv.QPAttrMaskState), "and nobody asks")
	quiet(t, ctx)
}

// A port of InfiniBand has a LID, one GID, and an address without a GRH reaches it.
func TestInfiniBand(t *testing.T) {
	r := newRig(t, ibvtest.InfiniBand(), ibvtest.Devices(2))
	ctx := r.dev.Raw()
	port, err := ctx.QueryPort(1)
	require.NoError(t, err)
	require.EqualValues(t, ibv.LinkLayerInfiniband, port.LinkLayer)
	require.NotZero(t, port.LID)
	gids, err := ctx.GIDs(1)
	require.NoError(t, err)
	require.Len(t, gids, 1)
	require.Equal(t, ibv.GIDTypeIB, gids[0].GIDType)
	require.True(t, gids[0].GID.Addr().IsLinkLocalUnicast())
	other := openRig(t, r.f, 1)
	theirs, err := other.dev.Raw().QueryPort(1)
	require.NoError(t, err)
	require.NotEqual(t, port.LID, theirs.LID)

	a, b := r.qp(ibv.QPTRC), other.qp(ibv.QPTRC)
	for i, end := range []struct {
		qp, peer *rdma.QP
		dlid     uint16
	}{{a, b, theirs.LID}, {b, a, port.LID}} {
		noGRH := func(_ int, attr *ibv.QPAttr) {
			attr.AHAttr = ibv.AHAttr{PortNum: 1, DLID: end.dlid}
		}
		[]*rig{r, other}[i].connect(end.qp, end.peer, i, noGRH)
	}
	w := &wired{rig: r, a: a, b: b}
	w.memory, err = r.pd.AllocRegion(1<<16, rdma.RegionOptions{})
	require.NoError(t, err)
	there := &wired{rig: other, a: a, b: b}
	there.memory, err = other.pd.AllocRegion(1<<16, rdma.RegionOptions{})
	require.NoError(t, err)
	there.receive(b, 1, 64)
	w.send(a, 2, 5)
	require.Equal(t, []ended{{2, ibv.WCSuccess}}, w.poll())
	require.Equal(t, []ended{{1, ibv.WCSuccess}}, there.poll())
	_, _, err = ctx.ResolveEthL2(&ibv.AHAttr{PortNum: 1, IsGlobal: 1, GRH: ibv.GlobalRoute{DGID: gids[0].GID}})
	require.ErrorIs(t, err, syscall.EINVAL)
}

// The devices of a fabric have names, GUIDs, numbers and addresses that differ, and can be opened several times.
func TestDevicesDiffer(t *testing.T) {
	f := ibvtest.New(t, ibvtest.Devices(3), ibvtest.Limits(func(l *ibv.DeviceAttr) { l.PhysPortCnt = 2 }))
	seen := map[any]bool{}
	differs := func(v any) {
		t.Helper()
		require.False(t, seen[v], "%v", v)
		seen[v] = true
	}
	for _, name := range f.Names() {
		ctx, err := ibv.Open(name)
		require.NoError(t, err)
		again, err := ibv.Open(name)
		require.NoError(t, err)
		require.NotSame(t, ctx, again)
		require.Same(t, ctx.Device, again.Device)
		require.NoError(t, again.Close())
		guid, err := ctx.Device.GUID()
		require.NoError(t, err)
		attr, err := ctx.QueryDevice()
		require.NoError(t, err)
		require.Equal(t, guid, attr.NodeGUID)
		index, err := ctx.Device.Index()
		require.NoError(t, err)
		differs(name)
		differs(guid)
		differs(index)
		extended, err := ctx.QueryDeviceEx()
		require.NoError(t, err)
		require.Equal(t, attr, extended.OrigAttr)
		for port := range uint32(2) {
			gids, err := ctx.GIDs(port + 1)
			require.NoError(t, err)
			for _, gid := range gids {
				require.Equal(t, port+1, gid.PortNum)
				differs([2]any{gid.GID, gid.GIDType})
				entry, err := ctx.QueryGIDEntry(port+1, gid.GIDIndex)
				require.NoError(t, err)
				require.Equal(t, gid, entry)
				alone, err := ctx.QueryGID(port+1, gid.GIDIndex)
				require.NoError(t, err)
				require.Equal(t, gid.GID, alone)
			}
			require.Len(t, gids, 4)
			mac, vlan, err := ctx.ResolveEthL2(&ibv.AHAttr{PortNum: uint8(port + 1), IsGlobal: 1, GRH: ibv.GlobalRoute{DGID: gids[2].GID, SGIDIndex: 2}})
			require.NoError(t, err)
			require.EqualValues(t, 0xffff, vlan)
			differs(mac)
		}
		_, err = ctx.QueryPort(3)
		require.ErrorIs(t, err, syscall.EINVAL)
		_, err = ctx.QueryGID(1, 16)
		require.ErrorIs(t, err, syscall.EINVAL)
		empty, err := ctx.QueryGID(1, 15)
		require.NoError(t, err)
		require.True(t, empty.IsZero())
		_, err = ctx.QueryGIDTable(make([]ibv.GIDEntry, 7))
		require.ErrorIs(t, err, syscall.EINVAL)
		n, err := ctx.QueryGIDTable(make([]ibv.GIDEntry, 9))
		require.NoError(t, err)
		require.Equal(t, 8, n)
		index16, err := ctx.PKeyIndex(2, ibv.ToBE16(0xffff))
		require.NoError(t, err)
		require.Zero(t, index16)
		speed, err := ctx.QueryPortSpeed(2)
		require.NoError(t, err)
		require.EqualValues(t, 1000, speed, "4 lanes of 25 Gb/s")
		require.NoError(t, ctx.Close())
	}
	_, err := ibv.Open("test")
	require.ErrorIs(t, err, syscall.ENODEV)
}
