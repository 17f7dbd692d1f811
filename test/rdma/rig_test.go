//go:build device && linux

// Package rdma tests package rdma on a real RDMA device: rxe0, the Soft-RoCE device
// of the guest that test/softroce starts.
package rdma

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/internal/guest"
)

const (
	deviceName = "rxe0"
	port       = 1
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
	gid ibv.GIDEntry
	mtu ibv.MTU
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOn(t, deviceName)
}

func newRigOn(t *testing.T, name string) *rig {
	t.Helper()
	rdma.NoLeaks(t)
	dev, err := rdma.Open(name, rdma.DeviceOptions{})
	require.NoError(t, err, "these tests need the device %s: run them in a guest, make test-vm or make test-uml", name)
	r := &rig{t: t, dev: dev}
	t.Cleanup(func() { require.NoError(t, dev.CloseAll()) })
	r.pd, err = dev.AllocPD()
	require.NoError(t, err)
	r.gid, err = dev.Raw().BestGID(port)
	require.NoError(t, err)
	attr, err := dev.Raw().QueryPort(port)
	require.NoError(t, err)
	r.mtu = attr.ActiveMTU
	return r
}

// end is a queue pair with completion queues of its own.
type end struct {
	*rdma.QP
	send, recv *rdma.CQ
}

// end makes a queue pair, with completion queues for what it has room for.
func (r *rig) end(opts rdma.QPOptions) end {
	r.t.Helper()
	if opts.SendOps != 0 {
		guest.Needs(r.t, guest.Extended)
	}
	if opts.Cap == (ibv.QPCap{}) {
		opts.Cap = ibv.QPCap{MaxSendWR: 64, MaxRecvWR: 64, MaxSendSGE: 1, MaxRecvSGE: 1}
	}
	// A queue may take twice what was asked for, and a little more.
	e := end{send: r.cq(2 * int(opts.Cap.MaxSendWR+1)), recv: r.cq(2 * int(opts.Cap.MaxRecvWR+1))}
	opts.SendCQ, opts.RecvCQ = e.send, e.recv
	if opts.Access == 0 {
		opts.Access = access
	}
	var err error
	e.QP, err = r.pd.CreateQP(opts)
	require.NoError(r.t, err)
	return e
}

// pair is two queue pairs in RTS, each the other's peer.
func (r *rig) pair(opts rdma.QPOptions) (a, b end) {
	r.t.Helper()
	a, b = r.end(opts), r.end(opts)
	r.connect(a.QP, b.QP)
	return a, b
}

// connect connects two queue pairs with each other.
func (r *rig) connect(a, b *rdma.QP) (atA, atB *rdma.Connection) {
	r.t.Helper()
	return r.connectWith(a, b, rdma.ConnectOptions{}, rdma.ConnectOptions{})
}

// connectWith is connect with each end's options.
func (r *rig) connectWith(a, b *rdma.QP, optsA, optsB rdma.ConnectOptions) (atA, atB *rdma.Connection) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	toB, toA := net.Pipe()
	defer toA.Close()
	defer toB.Close()
	failed := make(chan error, 1)
	go func() {
		var err error
		atB, err = b.Connect(ctx, toA, optsB)
		failed <- err
	}()
	atA, err := a.Connect(ctx, toB, optsA)
	require.NoError(r.t, err)
	require.NoError(r.t, <-failed)
	return atA, atB
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

// sendChain is a chain of n signalled sends of size bytes each, from the start of
// the region.
func (r *rig) sendChain(n int, from *rdma.Region, size int) *ibv.SendChain {
	r.t.Helper()
	chain, err := ibv.NewSendChain(n, 1)
	require.NoError(r.t, err)
	for i := range n {
		require.NoError(r.t, chain.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, from.SGE(i*size, size)))
	}
	return chain
}

// recvChain is a chain of n receives of size bytes each, into the start of the
// region.
func (r *rig) recvChain(n int, into *rdma.Region, size int) *ibv.RecvChain {
	r.t.Helper()
	chain, err := into.RecvChain(n, size)
	require.NoError(r.t, err)
	return chain
}

// poll takes exactly n completions off the queue, all successes.
func (r *rig) poll(cq *rdma.CQ, n int) []ibv.WC {
	r.t.Helper()
	wcs := r.pollAny(cq, n)
	for i := range wcs {
		require.NoError(r.t, wcs[i].Err())
	}
	return wcs
}

// pollAny takes exactly n completions off the queue.
func (r *rig) pollAny(cq *rdma.CQ, n int) []ibv.WC {
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
	return wcs
}

// quiet checks that the queue stays empty for a time.
func (r *rig) quiet(cq *rdma.CQ, duration time.Duration) {
	r.t.Helper()
	wcs := make([]ibv.WC, 1)
	for end := time.Now().Add(duration); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		n, err := cq.Poll(wcs)
		require.NoError(r.t, err)
		require.Zero(r.t, n, "a completion that nobody expects: %v", wcs[0])
	}
}
