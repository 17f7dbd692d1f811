//go:build device && linux

package rdma

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// gone watches a handle, so that it is known when the collector has taken it.
func gone[T any](handle *T) func() bool {
	w := weak.Make(handle)
	return func() bool { return w.Value() == nil }
}

// Every kind of handle that is lost is collected, because nothing of the library
// holds it: no hot call, no reader of events, no lifetime. Each is reported, what the
// kernel has stays, and CloseAll of the device closes it.
func TestLeaks(t *testing.T) {
	rdma.NoLeaks(t)
	base := kernelHas(t, deviceName)
	var mu sync.Mutex
	var leaks []string
	dev, err := rdma.Open(deviceName, rdma.DeviceOptions{OnLeak: func(leak rdma.Leak) {
		mu.Lock()
		defer mu.Unlock()
		leaks = append(leaks, leak.Object)
	}})
	require.NoError(t, err)
	collected, names := loseAll(t, dev)
	for i, isGone := range collected {
		require.Eventually(t, func() bool { runtime.GC(); return isGone() }, patience, time.Millisecond, "something holds %s", names[i])
	}
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(leaks) >= len(names)
	}, patience, time.Millisecond)
	require.ElementsMatch(t, names, leaks)
	require.Equal(t, resources{PD: 1, CQ: 1, QP: 1, MR: 2, Ctx: 1, SRQ: 1}, kernelHas(t, deviceName).minus(base))
	lost := 0
	for _, o := range rdma.Alive() {
		if o.Lost && strings.Contains(o.Object, deviceName) {
			lost++
		}
	}
	require.Equal(t, len(names), lost)
	require.ErrorContains(t, dev.Close(), "lost")
	require.NoError(t, dev.CloseAll())
	require.Equal(t, base, kernelHas(t, deviceName))
}

// loseAll makes one object of each kind, uses those that can be used, and drops all
// handles.
//
//go:noinline
func loseAll(t *testing.T, dev *rdma.Device) (collected []func() bool, names []string) {
	pd, err := dev.AllocPD()
	require.NoError(t, err)
	channel, err := dev.CreateChannel()
	require.NoError(t, err)
	cq, err := dev.CreateCQ(128, rdma.CQOptions{Channel: channel})
	require.NoError(t, err)
	_, err = cq.Poll(make([]ibv.WC, 1))
	require.NoError(t, err)
	srq, err := pd.CreateSRQ(4, rdma.SRQOptions{})
	require.NoError(t, err)
	qp, err := pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, SRQ: srq})
	require.NoError(t, err)
	_, err = qp.State()
	require.NoError(t, err)
	region, err := pd.Register(make([]byte, 4096), access)
	require.NoError(t, err)
	memory, err := pd.AllocRegion(4096, rdma.RegionOptions{Access: access})
	require.NoError(t, err)
	gid, err := dev.Raw().BestGID(1)
	require.NoError(t, err)
	ah, err := pd.CreateAH(rdma.AHOptions{GID: gid.GID, From: gid})
	require.NoError(t, err)
	objects := []rdma.Object{pd, channel, cq, srq, qp, region, memory, ah}
	collected = []func() bool{gone(pd), gone(channel), gone(cq), gone(srq), gone(qp), gone(region), gone(memory), gone(ah)}
	if guest.Release(t) >= guest.Windows {
		window, err := rdma.Own("memory window", func() (*ibv.MW, error) { return pd.Raw().AllocMW(ibv.MWType1) }, pd)
		require.NoError(t, err)
		objects, collected = append(objects, window), append(collected, gone(window))
	}
	for _, o := range objects {
		names = append(names, o.String())
	}
	return collected, names
}
