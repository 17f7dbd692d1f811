//go:build !freebsd

package ibvtest_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// rig is an opened device of a fabric.
type rig struct {
	t   *testing.T
	f   *ibvtest.Fabric
	dev *rdma.Device
	pd  *rdma.PD
	cq  *rdma.CQ
}

// newRig makes a fabric and opens its first device.
func newRig(t *testing.T, opts ...ibvtest.Option) *rig {
	t.Helper()
	return openRig(t, ibvtest.New(t, opts...), 0)
}

// openRig opens a device of a fabric.
func openRig(t *testing.T, f *ibvtest.Fabric, device int) *rig {
	t.Helper()
	r := &rig{t: t, f: f}
	var err error
	r.dev, err = rdma.Open(f.Names()[device], rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.dev.CloseAll()) })
	r.pd, err = r.dev.AllocPD()
	require.NoError(t, err)
	r.cq, err = r.dev.CreateCQ(1024, rdma.CQOptions{})
	require.NoError(t, err)
	return r
}

// qp is a queue pair of a type, in INIT.
func (r *rig) qp(typ ibv.QPType) *rdma.QP {
	r.t.Helper()
	return r.qpOf(typ, ibv.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 2, MaxRecvSGE: 2})
}

func (r *rig) qpOf(typ ibv.QPType, room ibv.QPCap) *rdma.QP {
	r.t.Helper()
	return r.qpOn(r.cq, typ, room)
}

// qpOn has its completions on another queue.
func (r *rig) qpOn(cq *rdma.CQ, typ ibv.QPType, room ibv.QPCap) *rdma.QP {
	r.t.Helper()
	opts := rdma.QPOptions{Type: typ, SendCQ: cq, RecvCQ: cq, Cap: room}
	if typ == ibv.QPTRC {
		opts.Access = ibv.AccessRemoteWrite | ibv.AccessRemoteRead | ibv.AccessRemoteAtomic
	}
	qp, err := r.pd.CreateQP(opts)
	require.NoError(r.t, err)
	return qp
}

// expectTwo posts two receives for empty messages.
func expectTwo(t *testing.T, qp *rdma.QP) *ibv.RecvChain {
	t.Helper()
	chain, err := ibv.NewRecvChain(2, 0)
	require.NoError(t, err)
	_, err = qp.PostRecv(chain)
	require.NoError(t, err)
	return chain
}

// connect connects two queue pairs with each other.
func connect(t *testing.T, a, b *rdma.QP) {
	t.Helper()
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	failed := make(chan error, 1)
	go func() {
		_, err := b.Connect(t.Context(), there, rdma.ConnectOptions{})
		failed <- err
	}()
	_, err := a.Connect(t.Context(), here, rdma.ConnectOptions{})
	require.NoError(t, err)
	require.NoError(t, <-failed)
}
