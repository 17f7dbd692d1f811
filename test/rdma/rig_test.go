//go:build device

// Package rdma tests package rdma on a real RDMA device: rxe0, the Soft-RoCE device
// of the guest that test/softroce starts.
package rdma

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

const (
	deviceName = "rxe0"
	// patience is how long anything may take: the guest may be emulated, and its
	// host is busy.
	patience = 60 * time.Second
	access   = ibv.AccessLocalWrite | ibv.AccessRemoteWrite | ibv.AccessRemoteRead | ibv.AccessRemoteAtomic
)

// rig is an open device with what every test needs. All of it is closed at the end
// of the test.
type rig struct {
	t   *testing.T
	dev *rdma.Device
	pd  *rdma.PD
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOn(t, deviceName)
}

func newRigOn(t *testing.T, name string) *rig {
	t.Helper()
	dev, err := rdma.Open(name, rdma.DeviceOptions{})
	require.NoError(t, err, "these tests need the device %s: run them in a guest, make test-vm or make test-uml", name)
	r := &rig{t: t, dev: dev}
	t.Cleanup(func() { require.NoError(t, dev.CloseAll()) })
	r.pd, err = dev.AllocPD()
	require.NoError(t, err)
	return r
}

// cq is a completion queue.
func (r *rig) cq(entries int) *rdma.CQ {
	r.t.Helper()
	cq, err := r.dev.CreateCQ(entries, rdma.CQOptions{})
	require.NoError(r.t, err)
	return cq
}

// region is n bytes of registered memory.
func (r *rig) region(n int) *rdma.Region {
	r.t.Helper()
	region, err := r.pd.Register(make([]byte, n), access)
	require.NoError(r.t, err)
	return region
}

// poll takes exactly n completions off the queue, all successes.
func (r *rig) poll(cq *rdma.CQ, n int) []ibv.WC {
	r.t.Helper()
	wcs := make([]ibv.WC, n)
	deadline := time.Now().Add(patience)
	for got := 0; got < n; {
		k, err := cq.Poll(wcs[got:])
		require.NoError(r.t, err)
		got += k
		if k == 0 {
			require.True(r.t, time.Now().Before(deadline), "%d of %d completions after %v", got, n, patience)
		}
	}
	for i := range wcs {
		require.NoError(r.t, wcs[i].Err())
	}
	return wcs
}
