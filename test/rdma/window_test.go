//go:build device && linux

package rdma

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// A peer writes through a window while it is bound, and where it is bound.
func TestWindow(t *testing.T) {
	guest.Needs(t, guest.Windows)
	l := newRig(t).loop(8)
	register := func() *rdma.Region {
		region, err := l.pd.AllocRegion(1000, rdma.RegionOptions{Access: access | ibv.AccessMWBind})
		require.NoError(t, err)
		return region
	}
	source, a, b := l.region(5), register(), register()
	copy(source.Bytes(), "hello")
	window, err := l.pd.AllocWindow(ibv.MWType1)
	require.NoError(t, err)
	require.ErrorContains(t, window.Unbind(l.qp, 0, 0), "it is not bound")

	write := func(addr uint64) {
		chain, err := ibv.NewSendChain(1, 1)
		require.NoError(t, err)
		require.NoError(t, chain.SetRDMA(0, 3, ibv.WRRDMAWrite, ibv.SendSignaled, source.SGE(0, 5), addr, window.RKey()))
		_, err = l.qp.PostSend(chain)
		require.NoError(t, err)
	}
	for _, region := range []*rdma.Region{a, b, a, a} {
		before := window.RKey()
		require.NoError(t, window.Bind(l.qp, rdma.WindowBinding{Region: region, Offset: 100, Length: 5, Access: ibv.AccessRemoteWrite, Flags: ibv.SendSignaled}))
		l.poll(l.cq, 1)
		require.NotEqual(t, before, window.RKey())
		clear(region.Bytes())
		write(region.SGE(100, 5).Addr)
		l.poll(l.cq, 1)
		require.Equal(t, "hello", string(region.Bytes()[100:105]))
		require.ErrorContains(t, region.Close(), window.String())
	}
	require.NoError(t, b.Close(), "the window is bound to the other one")
	for _, part := range [][2]int{{-1, 5}, {0, 0}, {0, -1}, {996, 5}, {1000, 1}, {1 << 62, 1 << 62}} {
		err := window.Bind(l.qp, rdma.WindowBinding{Region: a, Offset: part[0], Length: part[1], Access: ibv.AccessRemoteWrite})
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "not within the region")
	}
	require.ErrorIs(t, window.Bind(l.qp, rdma.WindowBinding{Region: b, Length: 5}), rdma.ErrClosed)

	require.NoError(t, window.Unbind(l.qp, 0, ibv.SendSignaled))
	l.poll(l.cq, 1)
	require.NoError(t, a.Close())
	write(1 << 20)
	require.NotEqual(t, ibv.WCSuccess, l.completion().Status)

	key := window.RKey()
	require.NoError(t, window.Close())
	require.NotEqual(t, key, window.RKey())
	require.ErrorIs(t, window.Unbind(l.qp, 0, 0), rdma.ErrClosed)
}
