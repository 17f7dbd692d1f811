//go:build device && linux

package rdma

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// A region's memory is there until it is closed, and nothing after that looks as if
// it still were.
func TestRegion(t *testing.T) {
	r := newRig(t)
	owned, err := r.pd.AllocRegion(5000, rdma.RegionOptions{Access: access})
	require.NoError(t, err)
	memory := make([]byte, 5000)
	registered, err := r.pd.Register(memory, access)
	require.NoError(t, err)
	require.Equal(t, &memory[0], &registered.Bytes()[0])

	raw, err := r.pd.Raw().RegMR(memory, access)
	require.NoError(t, err)
	adopted, err := r.pd.AdoptRegion(raw)
	require.NoError(t, err)
	require.Equal(t, &memory[0], &adopted.Bytes()[0])

	l := r.loop(4)
	for _, region := range []*rdma.Region{owned, registered, adopted} {
		require.Len(t, region.Bytes(), 5000)
		require.Equal(t, 5000, region.Len())
		require.Equal(t, region.Raw().LKey, region.LKey())
		require.Equal(t, region.Raw().RKey, region.RKey())
		require.Equal(t, region.Raw().SGE(1000, 4000), region.SGE(1000, 4000))
		l.requireCopied(region)

		lkey, start := region.LKey(), region.SGE(0, 1).Addr
		require.NoError(t, region.Close())
		require.ErrorIs(t, region.Close(), rdma.ErrClosed)
		require.Nil(t, region.Bytes())
		require.NotEqual(t, lkey, region.LKey())
		require.NotEqual(t, start, region.SGE(0, 1).Addr)
	}
	require.NoError(t, raw.Close(), "it is not the handle's to close")
}

// requireCopied requires that the device copies one part of the region to another.
func (l *loop) requireCopied(region *rdma.Region) {
	l.t.Helper()
	copy(region.Bytes(), "hello")
	require.NoError(l.t, l.recv(region.SGE(100, 5)))
	require.NoError(l.t, l.send(region.SGE(0, 5), 0))
	l.poll(l.cq, 2)
	require.Equal(l.t, "hello", string(region.Bytes()[100:105]))
}

// An entry of a closed region is refused by the post, or by the device.
func TestEntryOfClosedRegion(t *testing.T) {
	for name, flags := range map[string]ibv.SendFlags{"inline": ibv.SendInline, "not inline": 0} {
		t.Run(name, func(t *testing.T) {
			l := newRig(t).loop(4)
			region := l.region(100)
			require.NoError(t, region.Close())
			require.NoError(t, l.recv(l.region(100).SGE(0, 100)))
			if err := l.send(region.SGE(0, 0), flags); err == nil {
				require.NotEqual(t, ibv.WCSuccess, l.completion().Status)
			}
		})
	}
}

// What cannot be registered says why.
func TestRegionRefused(t *testing.T) {
	r := newRig(t)
	_, err := r.pd.Register(nil, access)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = r.pd.AllocRegion(0, rdma.RegionOptions{})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "allocate a region of 0 bytes in protection domain on rxe0")
	_, err = r.pd.AllocRegion(1<<60, rdma.RegionOptions{})
	require.ErrorIs(t, err, syscall.ENOMEM)
	_, err = r.pd.Register(make([]byte, 1), ibv.AccessRemoteWrite)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.NoError(t, r.pd.Close(), "nothing is left of what was refused")
}
