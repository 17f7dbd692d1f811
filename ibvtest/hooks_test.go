//go:build !freebsd

package ibvtest_test

import (
	"runtime"
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

// A hook takes itself away, and one that ends its goroutine, as a test's assertions do, leaves the fabric usable.
func TestHooksEnd(t *testing.T) {
	r := newRig(t)
	var calls int
	var remove func()
	remove = r.f.OnCall(func(*ibvtest.Call) {
		calls++
		remove()
	})
	for range 2 {
		_, err := r.dev.Raw().QueryGID(1, 0)
		require.NoError(t, err)
	}
	require.Equal(t, 1, calls)

	remove = r.f.OnCall(func(*ibvtest.Call) { runtime.Goexit() })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = r.dev.Raw().QueryGID(1, 0)
	}()
	<-ended
	remove()
	_, err := r.dev.Raw().QueryGID(1, 0)
	require.NoError(t, err)
}

// Each function fails in C's way for it, and those that cannot fail do not.
func TestFailingConventions(t *testing.T) {
	r := newRig(t)
	ctx, device := r.dev.Raw(), r.f.Device(0)
	index, err := ctx.Device.Index()
	require.NoError(t, err)
	guid, err := ctx.Device.GUID()
	require.NoError(t, err)
	device.Unplug()
	for name, call := range map[string]func() error{
		"count":     func() error { return second(ctx.QueryGIDTable(make([]ibv.GIDEntry, 64))) },
		"errno":     func() error { return second(ctx.QueryGIDEntry(1, 0)) },
		"-1":        func() error { return second(ctx.PKeyIndex(1, 0xffff)) },
		"object":    func() error { return second(ctx.AllocPD()) },
		"operation": func() error { return second(ctx.QueryDeviceEx()) },
		"way": func() error {
			return second(ctx.InitAHFromWC(1, &ibv.WC{}, &ibv.GRH{}))
		},
	} {
		require.ErrorIs(t, call(), syscall.EIO, name)
	}
	require.Equal(t, device.Name(), ctx.Device.String())
	now, err := ctx.Device.Index()
	require.NoError(t, err)
	require.Equal(t, index, now)
	again, err := ctx.Device.GUID()
	require.NoError(t, err)
	require.Equal(t, guid, again)
}

func second[T any](_ T, err error) error { return err }
