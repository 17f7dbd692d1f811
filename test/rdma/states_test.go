//go:build device && linux

package rdma

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// A change of state that is refused says what is wrong with it.
func TestWrongMoves(t *testing.T) {
	r := newRig(t)
	fresh := func(typ ibv.QPType) *rdma.QP { return r.end(rdma.QPOptions{Type: typ, Reset: true}).QP }
	inInit := func(typ ibv.QPType) *rdma.QP {
		qp := fresh(typ)
		require.NoError(t, qp.ToInit(port, access))
		return qp
	}
	linkLocal := ibv.GIDEntry{GIDIndex: 99}
	gids, err := r.dev.Raw().GIDs(port)
	require.NoError(t, err)
	for _, e := range gids {
		if e.GID.Addr().IsLinkLocalUnicast() {
			linkLocal = e
		}
	}
	require.NotEqual(t, uint32(99), linkLocal.GIDIndex)
	path := rdma.Path{Port: port, GIDIndex: r.gid.GIDIndex, MTU: r.mtu}
	peer := rdma.Peer{QPNum: 17, GID: r.gid.GID}
	with := func(change func(*rdma.Path, *rdma.Peer)) func() error {
		return func() error {
			path, peer := path, peer
			change(&path, &peer)
			return inInit(ibv.QPTRC).ToRTR(path, peer)
		}
	}
	for _, tt := range []struct {
		do    func() error
		errno syscall.Errno
		text  string
	}{
		{func() error { return fresh(ibv.QPTRC).ToInitUD(port, 1) }, syscall.EINVAL, "it is a queue pair of type IBV_QPT_RC: use ToInit"},
		{func() error { return fresh(ibv.QPTUD).ToInit(port, 0) }, syscall.EINVAL, "it is a queue pair of type IBV_QPT_UD: use ToInitUD"},
		{func() error { return fresh(ibv.QPTUD).ToRTR(path, peer) }, syscall.EINVAL, "use ToRTRUD"},
		{func() error { return fresh(ibv.QPTUD).ToRTS(0) }, syscall.EINVAL, "use ToRTSUD"},
		{func() error { return fresh(ibv.QPTUC).ToRTRUD() }, syscall.EINVAL, "it is a queue pair of type IBV_QPT_UC: use ToRTR"},
		{func() error { return fresh(ibv.QPTUC).ToRTSUD(0) }, syscall.EINVAL, "use ToRTS"},
		{func() error { return fresh(ibv.QPTRC).ToRTR(path, peer) }, syscall.EINVAL, "from IBV_QPS_RESET it can move to IBV_QPS_RESET or IBV_QPS_INIT"},
		{func() error { return inInit(ibv.QPTUC).ToRTS(0) }, syscall.EINVAL, "from IBV_QPS_INIT it can move to IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR or IBV_QPS_ERR"},
		{func() error {
			qp := inInit(ibv.QPTRC)
			require.NoError(t, qp.ToErr())
			return qp.ToInit(port, 0)
		}, syscall.EINVAL, "from IBV_QPS_ERR it can move to IBV_QPS_RESET or IBV_QPS_ERR"},
		{func() error { return fresh(ibv.QPTRC).ToErr() }, syscall.EINVAL, "from IBV_QPS_RESET it can move to"},
		{func() error { return fresh(ibv.QPTRC).ToInit(0, 0) }, syscall.EINVAL, "there is no port 0: ports count from 1"},
		{func() error { return fresh(ibv.QPTUD).ToInitUD(256, 0) }, syscall.EINVAL, "there is no port 256"},
		{func() error { return fresh(ibv.QPTRC).ToInit(2, 0) }, syscall.EINVAL, "PortNum is 2: the device's ports are 1 to 1"},
		{func() error { return fresh(ibv.QPTUD).ToInitUD(255, 0) }, syscall.EINVAL, "PortNum is 255: the device's ports are 1 to 1"},
		{with(func(path *rdma.Path, _ *rdma.Peer) { path.Port = 3 }), syscall.EINVAL, "the device has no port 3"},
		{with(func(path *rdma.Path, _ *rdma.Peer) { path.Port = 0 }), syscall.EINVAL, "there is no port 0"},
		{with(func(path *rdma.Path, _ *rdma.Peer) { path.MTU = 1024 }), syscall.EINVAL, "ActiveMTU"},
		{with(func(path *rdma.Path, _ *rdma.Peer) { path.GIDIndex = linkLocal.GIDIndex }), syscall.EINVAL, linkLocal.GID.String() + ", which does not reach " + r.gid.GID.String()},
		{with(func(path *rdma.Path, _ *rdma.Peer) { path.GIDIndex = 99 }), syscall.ENODATA, "GID index 99 of port 1 has no entry: see Context.GIDs"},
		{with(func(path *rdma.Path, _ *rdma.Peer) { path.GIDIndex = 256 }), syscall.EINVAL, "the path's GID index is 256: it has 8 bits"},
		{with(func(_ *rdma.Path, peer *rdma.Peer) { peer.GID = ibv.GID{} }), syscall.EINVAL, "RoCE needs the peer's GID"},
		{with(func(_ *rdma.Path, peer *rdma.Peer) { peer.QPNum = 1 << 24 }), syscall.EINVAL, "the peer's queue pair number is 0x1000000: it has 24 bits"},
		{with(func(_ *rdma.Path, peer *rdma.Peer) { peer.PSN = 1 << 24 }), syscall.EINVAL, "the peer's packet sequence number is 0x1000000"},
		{func() error { return inInit(ibv.QPTRC).ToRTS(1 << 24) }, syscall.EINVAL, "the packet sequence number is 0x1000000: it has 24 bits"},
	} {
		err := tt.do()
		require.ErrorIs(t, err, tt.errno)
		require.ErrorContains(t, err, tt.text)
	}
}
