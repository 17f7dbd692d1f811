package conformance

import (
	"errors"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var closingScenarios = []Scenario{
	{"closing", "a protection domain is busy while anything is in it", "ibv_dealloc_pd(3)", closingPD},
	{"closing", "a protection domain says what is in it", "rdma.ChildrenError", closingPDHandle},
	{"closing", "a second time", "rdma.ErrClosed", closingTwice},
	{"closing", "all at once", "rdma.Object", closingAll},
	{"closing", "a busy parent stays as it was", "ibv_dealloc_pd(3), ibv_destroy_cq(3)", closingRefused},
	{"closing", "what is closed makes room", "ibv_query_device(3)", closingMakesRoom},
}

// inPD is everything that is made in a protection domain, as C's objects.
func inPD(t *T, pd *ibv.PD, cq *ibv.CQ) map[string]func() (interface{ Close() error }, error) {
	in := map[string]func() (interface{ Close() error }, error){
		"memory region": func() (interface{ Close() error }, error) { return pd.RegMR(make([]byte, 8), ibv.AccessLocalWrite) },
		"queue pair": func() (interface{ Close() error }, error) {
			return pd.CreateQP(&ibv.QPInitAttr{SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC, Cap: caps(1, 1)})
		},
		"shared receive queue": func() (interface{ Close() error }, error) {
			return pd.CreateSRQ(&ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: 1, MaxSGE: 1}})
		},
		"window of type 1": func() (interface{ Close() error }, error) { return pd.AllocMW(ibv.MWType1) },
		"window of type 2": func() (interface{ Close() error }, error) { return pd.AllocMW(ibv.MWType2) },
	}
	if !t.provider.IWARP {
		in["address handle"] = func() (interface{ Close() error }, error) {
			return pd.CreateAHTo(t.GID().PortNum, t.GID().GIDIndex, t.GID().GID)
		}
	}
	return in
}

func closingPD(t *T) {
	pd, err := t.Device().Raw().AllocPD()
	require.NoError(t, err)
	cq := t.CQ(4, rdma.CQOptions{}).Raw()
	for what, make := range inPD(t, pd, cq) {
		child, err := make()
		if unsupported(err) {
			continue
		}
		require.NoError(t, err, what)
		require.ErrorIs(t, pd.Close(), syscall.EBUSY, what)
		require.NoError(t, child.Close(), what)
	}
	require.NoError(t, pd.Close())
}

func closingPDHandle(t *T) {
	pd := otherPD(t)
	region, err := pd.Register(make([]byte, 8), ibv.AccessLocalWrite)
	require.NoError(t, err)
	cq := t.CQ(4, rdma.CQOptions{})
	qp, err := pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq})
	require.NoError(t, err)
	var children *rdma.ChildrenError
	require.ErrorAs(t, pd.Close(), &children)
	require.ErrorIs(t, children, syscall.EBUSY)
	require.Equal(t, []string{qp.String(), region.String()}, children.Children)
	require.ErrorAs(t, t.Device().Close(), &children)
	require.NoError(t, qp.Close())
	require.NoError(t, region.Close())
	require.NoError(t, pd.Close())
}

func closingTwice(t *T) {
	pd := otherPD(t)
	region, err := pd.Register(make([]byte, 8), ibv.AccessLocalWrite)
	require.NoError(t, err)
	cq := t.CQ(4, rdma.CQOptions{})
	qp, err := pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq})
	require.NoError(t, err)
	channel, err := t.Device().CreateChannel()
	require.NoError(t, err)
	chain := recvs(t, region, 1, 8)
	for _, object := range []rdma.Object{channel, qp, cq, region, pd} {
		require.NoError(t, object.Close(), "%v", object)
		require.ErrorIs(t, object.Close(), rdma.ErrClosed, "%v", object)
		require.NoError(t, object.CloseAll(), "%v: it is as asked for", object)
	}
	_, err = qp.PostRecv(chain)
	require.ErrorIs(t, err, rdma.ErrClosed)
	require.ErrorIs(t, qp.ToReset(), rdma.ErrClosed)
	_, err = pd.Register(make([]byte, 8), 0)
	require.ErrorIs(t, err, rdma.ErrClosed)
}

// CloseAll closes what needs an object before it, in an order that every device takes.
func closingAll(t *T) {
	a, b := t.Pair(PairOptions{})
	b.Buffers(4, 8)
	a.Post(sends(t, a.Memory, 2, 8))
	pd := t.PD()
	require.NoError(t, pd.CloseAll(), "with messages on their way")
	for _, object := range []rdma.Object{a.QP, b.QP, a.Memory, b.Memory, pd} {
		require.ErrorIs(t, object.Close(), rdma.ErrClosed, "%v", object)
	}
	require.NoError(t, a.SendCQ.Close(), "it is the device's")
	t.pd = nil
}

func closingRefused(t *T) {
	a, b := t.Pair(PairOptions{})
	require.ErrorIs(t, t.PD().Close(), syscall.EBUSY)
	require.ErrorIs(t, t.PD().Raw().Close(), syscall.EBUSY)
	if !t.Differs(BusyQueuesStay) { // which would fault
		require.ErrorIs(t, a.SendCQ.Raw().Close(), syscall.EBUSY)
	}
	require.ErrorIs(t, b.RecvCQ.Close(), syscall.EBUSY)
	b.Buffers(1, 64)
	Fill(a.Slot(0, 64), 4)
	a.Post(sends(t, a.Memory, 1, 64))
	t.Done(a.SendCQ, 1)
	t.Done(b.RecvCQ, 1)
	require.Equal(t, a.Slot(0, 64), b.Slot(0, 64))
}

// What is closed can be made again, for ever.
func closingMakesRoom(t *T) {
	cq := t.CQ(4, rdma.CQOptions{})
	memory := make([]byte, 64)
	for range 200 {
		qp, err := t.PD().CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: caps(1, 1)})
		require.NoError(t, err)
		region, err := t.PD().Register(memory, ibv.AccessLocalWrite)
		require.NoError(t, err)
		require.NoError(t, errors.Join(qp.Close(), region.Close()))
	}
}
