package conformance

import (
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var lifetimes = []Scenario{
	{"lifetimes", "a queue pair with work in flight can be closed", "ibv_destroy_qp(3); IBTA 10.2.4.4", closeInFlight},
	{"lifetimes", "closing one queue pair leaves another on its queues alone", "ibv_destroy_qp(3)", closeOne},
	{"lifetimes", "a new queue pair hears nothing of the one before", "ibv_destroy_qp(3), ibv_create_qp(3)", nothingOld},
	{"lifetimes", "queue pairs of two contexts are peers", "ibv_open_device(3), ibv_modify_qp(3)", twoContexts},
	{"lifetimes", "many queue pairs come and go", "ibv_create_qp(3), ibv_destroy_qp(3)", comeAndGo},
}

func closeInFlight(t *T) {
	a, b := t.Pair(PairOptions{})
	a.Buffers(5, 64)
	b.Buffers(2, 64)
	for i := range 2 {
		a.Send(uint64(i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 64))
		a.RDMA(uint64(i), ibv.WRRDMAWrite, ibv.SendSignaled, b.Remote(4096, 4096), a.Memory.SGE(4096, 4096))
	}
	require.NoError(t, a.Close())
	require.NoError(t, a.Memory.Close())
	require.NoError(t, b.Close())
	// What had been done may be there, and is right.
	var wcs [8]ibv.WC
	for _, cq := range []*rdma.CQ{a.SendCQ, a.RecvCQ, b.RecvCQ} {
		n, err := cq.Poll(wcs[:])
		require.NoError(t, err)
		require.LessOrEqual(t, n, 5)
		require.NoError(t, cq.Close())
	}
}

func closeOne(t *T) {
	cq := t.CQ(64, rdma.CQOptions{NoChannel: true})
	onOne := PairOptions{Make: func(_ int, opts *rdma.QPOptions) { opts.SendCQ, opts.RecvCQ = cq, cq }}
	a, b := t.Pair(onOne)
	c, d := t.Pair(onOne)
	b.Buffers(3, 64)
	d.Buffers(3, 64)
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	var wcs [16]ibv.WC
	_, err := cq.Poll(wcs[:]) // what iWARP flushed
	require.NoError(t, err)
	Fill(c.Slot(0, 64), 1)
	c.Send(9, ibv.WRSend, ibv.SendSignaled, c.Memory.SGE(0, 64))
	for _, wc := range t.Done(cq, 2) {
		require.Contains(t, []uint32{c.Number(), d.Number()}, wc.QPNum)
	}
	t.Same(c.Slot(0, 64), d.Slot(0, 64))
	t.Quiet(cq)
}

func nothingOld(t *T) {
	for i := range 4 {
		a, b := t.Pair(PairOptions{})
		b.Buffers(3, 64)
		Fill(a.Slot(0, 64), i)
		a.Send(uint64(i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 64))
		require.Zero(t, t.Done(b.RecvCQ, 1)[0].WRID)
		require.EqualValues(t, i, t.Done(a.SendCQ, 1)[0].WRID)
		t.Same(a.Slot(0, 64), b.Slot(0, 64))
		require.NoError(t, a.Close())
		require.NoError(t, b.Close())
	}
}

func comeAndGo(t *T) {
	cq := t.CQ(64, rdma.CQOptions{NoChannel: true})
	seen := map[uint32]bool{}
	var open []*rdma.QP
	for range 30 {
		qp, err := t.PD().CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: ibv.QPCap{MaxSendWR: 4, MaxRecvWR: 4}})
		require.NoError(t, err)
		require.False(t, seen[qp.Number()], "two open queue pairs have the number %#x", qp.Number())
		seen[qp.Number()] = true
		if open = append(open, qp); len(open) > 5 {
			delete(seen, open[0].Number())
			require.NoError(t, open[0].Close())
			open = open[1:]
		}
	}
	t.Quiet(cq)
}

func twoContexts(t *T) {
	t.Needs(Moves)
	other, err := rdma.Open(t.name, rdma.DeviceOptions{})
	require.NoError(t, err)
	pd, err := other.AllocPD()
	require.NoError(t, err)
	cq, err := other.CreateCQ(64, rdma.CQOptions{NoChannel: true})
	require.NoError(t, err)
	qp, err := pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Access: t.All(), Port: t.GID().PortNum})
	require.NoError(t, err)
	memory, err := pd.AllocRegion(4096, rdma.RegionOptions{Access: t.All()})
	require.NoError(t, err)
	a, _ := t.Unconnected(PairOptions{})
	b := &End{QP: qp, SendCQ: cq, RecvCQ: cq, Memory: memory, t: t}
	t.Connect(a, b, PairOptions{})
	b.Buffers(1, 64)
	Fill(a.Slot(0, 64), 1)
	a.Send(1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 64))
	t.Done(cq, 1)
	t.Same(a.Slot(0, 64), b.Slot(0, 64))
	t.Done(a.SendCQ, 1)
	a.RDMA(2, ibv.WRRDMARead, ibv.SendSignaled, b.Remote(0, 64), a.Memory.SGE(1024, 64))
	t.Done(a.SendCQ, 1)
	t.Same(b.Slot(0, 64), a.Memory.Bytes()[1024:1088])
	require.NoError(t, other.CloseAll())
	require.Equal(t, ibv.QPSRTS, a.Raw().State)
}
