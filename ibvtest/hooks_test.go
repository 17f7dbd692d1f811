//go:build !freebsd

package ibvtest_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// A control verb fails when a hook says so, as C has it fail, and not before or after.
func TestOnCall(t *testing.T) {
	r := newRig(t)
	var seen []string
	remove := r.f.OnCall(func(c *ibvtest.Call) {
		seen = append(seen, c.Function)
		if c.Function == "ibv_create_cq" && c.Nth == 2 || c.Function == "ibv_query_gid" || c.Function == "ibv_query_device" {
			c.Fail(syscall.EXDEV)
		}
	})
	create := func() error {
		cq, err := r.dev.CreateCQ(8, rdma.CQOptions{NoChannel: true})
		if err == nil {
			require.NoError(t, cq.Close())
		}
		return err
	}
	require.NoError(t, create())
	require.ErrorIs(t, create(), syscall.EXDEV)
	require.NoError(t, create())
	_, err := r.dev.Raw().QueryGID(1, 0)
	require.ErrorIs(t, err, syscall.EXDEV)
	_, err = r.dev.Raw().QueryDevice()
	require.ErrorIs(t, err, syscall.EXDEV)
	require.Subset(t, seen, []string{"ibv_create_cq", "ibv_query_gid", "ibv_query_device"})
	remove()
	_, err = r.dev.Raw().QueryGID(1, 0)
	require.NoError(t, err)
}

// A poll returns what a hook says, and completions stay.
func TestOnPoll(t *testing.T) {
	r := newRig(t)
	wcs := make([]ibv.WC, 4)
	for _, result := range []int{-1, -int(syscall.EXDEV), 5, 1 << 20} {
		remove := r.f.OnPoll(func(p *ibvtest.Polled) {
			require.Equal(t, len(wcs), p.Room)
			p.Return(result)
		})
		n, err := r.cq.Poll(wcs)
		require.Error(t, err, "%d", result)
		require.Equal(t, min(max(result, 0), len(wcs)), n)
		remove()
	}
	n, err := r.cq.Poll(wcs)
	require.NoError(t, err)
	require.Zero(t, n)
}
