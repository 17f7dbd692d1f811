//go:build !freebsd

package inprocess

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// made is one object of each kind that CloseAll may begin with, and more that hang together with them.
type made struct {
	dev     *rdma.Device
	channel *rdma.Channel
	cq      *rdma.CQ
	pd      *rdma.PD
	window  *rdma.Window
	srq     *rdma.SRQ
	region  *rdma.Region
}

// makeAll has completion queues be younger than the protection domain, or older: the newest are closed first.
func makeAll(t *testing.T, f *ibvtest.Fabric, youngerQueues bool) (m made) {
	t.Helper()
	var err error
	m.dev, err = rdma.Open(f.Names()[0], rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.dev.CloseAll()) })
	makeQueue := func() {
		m.channel, err = m.dev.CreateChannel()
		require.NoError(t, err)
		m.cq, err = m.dev.CreateCQ(1024, rdma.CQOptions{Channel: m.channel})
		require.NoError(t, err)
	}
	if !youngerQueues {
		makeQueue()
	}
	m.pd, err = m.dev.AllocPD()
	require.NoError(t, err)
	if youngerQueues {
		makeQueue()
	}
	for _, typ := range []ibv.MWType{ibv.MWType1, ibv.MWType2} {
		m.window, err = m.pd.AllocWindow(typ)
		require.NoError(t, err)
	}
	m.srq, err = m.pd.CreateSRQ(4, rdma.SRQOptions{})
	require.NoError(t, err)
	for _, srq := range []*rdma.SRQ{nil, m.srq} {
		_, err = m.pd.CreateQP(rdma.QPOptions{SendCQ: m.cq, RecvCQ: m.cq, SRQ: srq})
		require.NoError(t, err)
	}
	m.region, err = m.pd.AllocRegion(64, rdma.RegionOptions{Access: ibv.AccessLocalWrite})
	require.NoError(t, err)
	return m
}

// Whatever CloseAll begins with, it closes windows before the queue pairs that they may be bound to, and these before what
// their work requests name.
func TestCloseAllFrom(t *testing.T) {
	const window, queuePair, srq, region = "ibv_dealloc_mw", "ibv_destroy_qp", "ibv_destroy_srq", "ibv_dereg_mr"
	all := []string{window, window, queuePair, queuePair, srq, region}
	for what, from := range map[string]struct {
		of     func(m made) rdma.Object
		closes []string
	}{
		"a device":               {func(m made) rdma.Object { return m.dev }, all},
		"a protection domain":    {func(m made) rdma.Object { return m.pd }, all},
		"a completion channel":   {func(m made) rdma.Object { return m.channel }, []string{queuePair, queuePair}},
		"a completion queue":     {func(m made) rdma.Object { return m.cq }, []string{queuePair, queuePair}},
		"a shared receive queue": {func(m made) rdma.Object { return m.srq }, []string{queuePair, srq}},
		"a memory region":        {func(m made) rdma.Object { return m.region }, []string{region}},
		"a memory window":        {func(m made) rdma.Object { return m.window }, []string{window}},
	} {
		for _, youngerQueues := range []bool{true, false} {
			f := ibvtest.New(t)
			m := makeAll(t, f, youngerQueues)
			var order []string
			remove := f.OnCall(func(c *ibvtest.Call) {
				if slices.Contains(all, c.Function) {
					order = append(order, c.Function)
				}
			})
			require.NoError(t, from.of(m).CloseAll(), what)
			remove()
			require.Equal(t, from.closes, order, what)
		}
	}
}
