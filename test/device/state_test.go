//go:build device && linux

package device

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// A change of state that is refused says what is wrong with it.
func TestWrongMoves(t *testing.T) {
	r := newRig(t)
	fresh := func(typ ibv.QPType) *ibv.QP { return r.side(typ, 1, 1, nil).QP }
	inInit := func(typ ibv.QPType) *ibv.QP {
		qp := fresh(typ)
		require.NoError(t, qp.ToInit(port, access))
		return qp
	}
	linkLocal := ibv.GIDEntry{GIDIndex: 99}
	gids, err := r.ctx.GIDs(port)
	require.NoError(t, err)
	for _, e := range gids {
		if e.GID.Addr().IsLinkLocalUnicast() {
			linkLocal = e
		}
	}
	require.NotEqual(t, uint32(99), linkLocal.GIDIndex)
	path := ibv.Path{Port: port, GIDIndex: r.gid.GIDIndex, MTU: r.mtu}
	peer := ibv.Peer{QPNum: 17, GID: r.gid.GID}
	with := func(change func(*ibv.Path, *ibv.Peer)) func() error {
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
		{with(func(path *ibv.Path, _ *ibv.Peer) { path.Port = 3 }), syscall.EINVAL, "the device has no port 3"},
		{with(func(path *ibv.Path, _ *ibv.Peer) { path.Port = 0 }), syscall.EINVAL, "there is no port 0"},
		{with(func(path *ibv.Path, _ *ibv.Peer) { path.MTU = 1024 }), syscall.EINVAL, "ActiveMTU"},
		{with(func(path *ibv.Path, _ *ibv.Peer) { path.GIDIndex = linkLocal.GIDIndex }), syscall.EINVAL, linkLocal.GID.String() + ", which does not reach " + r.gid.GID.String()},
		{with(func(path *ibv.Path, _ *ibv.Peer) { path.GIDIndex = 99 }), syscall.ENODATA, "GID index 99 of port 1 has no entry: see Context.GIDs"},
		{with(func(path *ibv.Path, _ *ibv.Peer) { path.GIDIndex = 256 }), syscall.EINVAL, "the path's GID index is 256: it has 8 bits"},
		{with(func(_ *ibv.Path, peer *ibv.Peer) { peer.GID = ibv.GID{} }), syscall.EINVAL, "RoCE needs the peer's GID"},
		{with(func(_ *ibv.Path, peer *ibv.Peer) { peer.QPNum = 1 << 24 }), syscall.EINVAL, "the peer's queue pair number is 0x1000000: it has 24 bits"},
		{with(func(_ *ibv.Path, peer *ibv.Peer) { peer.PSN = 1 << 24 }), syscall.EINVAL, "the peer's packet sequence number is 0x1000000"},
		{func() error { return inInit(ibv.QPTRC).ToRTS(1 << 24) }, syscall.EINVAL, "the packet sequence number is 0x1000000: it has 24 bits"},
		{func() error {
			return fresh(ibv.QPTRC).Modify(&ibv.QPAttr{QPState: ibv.QPSInit, PortNum: port}, ibv.QPAttrMaskState|ibv.QPAttrMaskPort)
		}, syscall.EINVAL, "from IBV_QPS_RESET to IBV_QPS_INIT a queue pair of type IBV_QPT_RC also needs IBV_QP_ACCESS_FLAGS|IBV_QP_PKEY_INDEX"},
		{func() error {
			return fresh(ibv.QPTUD).Modify(&ibv.QPAttr{QPState: ibv.QPSInit, PortNum: port}, ibv.QPAttrMaskState|ibv.QPAttrMaskPort|ibv.QPAttrMaskPKeyIndex|ibv.QPAttrMaskQKey|ibv.QPAttrMaskSQPSN)
		}, syscall.EINVAL, "from IBV_QPS_RESET to IBV_QPS_INIT a queue pair of type IBV_QPT_UD does not take IBV_QP_SQ_PSN"},
		{func() error {
			connected, _ := r.pair(1, 1)
			return connected.Modify(&ibv.QPAttr{QPState: ibv.QPSRTS, CurQPState: ibv.QPSInit}, ibv.QPAttrMaskState|ibv.QPAttrMaskCurState)
		}, syscall.EINVAL, "CurQPState says IBV_QPS_INIT, and the queue pair is in IBV_QPS_RTS"},
		{func() error { return fresh(ibv.QPTRC).Modify(nil, 0) }, syscall.EINVAL, "attributes are missing"},
		{func() error { _, err := r.pd.CreateAHTo(port, linkLocal.GIDIndex, r.gid.GID); return err }, syscall.EINVAL, "which does not reach"},
		{func() error { _, err := r.pd.CreateAHTo(port, 99, r.gid.GID); return err }, syscall.ENODATA, "GID index 99 of port 1 has no entry"},
		{func() error { _, err := r.pd.CreateAHTo(port, 256, r.gid.GID); return err }, syscall.EINVAL, "the GID index is 256: it has 8 bits"},
		{func() error { _, err := r.pd.CreateAHTo(2, r.gid.GIDIndex, r.gid.GID); return err }, syscall.EINVAL, "the device has no port 2"},
		{func() error { _, err := r.pd.CreateAHTo(0, r.gid.GIDIndex, r.gid.GID); return err }, syscall.EINVAL, "there is no port 0"},
		{func() error { _, err := r.pd.CreateAH(&ibv.AHAttr{PortNum: port}); return err }, syscall.EINVAL, "RoCE needs the peer's GID"},
		{func() error { _, err := r.ctx.QueryPort(0); return err }, syscall.EINVAL, "there is no port 0"},
		{func() error { _, err := r.ctx.QueryPort(257); return err }, syscall.EINVAL, "there is no port 257"},
		{func() error { _, err := r.ctx.QueryGID(257, 0); return err }, syscall.EINVAL, "there is no port 257"},
		{func() error { _, err := r.ctx.QueryGIDEntry(port, 1<<31); return err }, syscall.EINVAL, "GIDTblLen"},
	} {
		err := tt.do()
		require.ErrorIs(t, err, tt.errno)
		require.ErrorContains(t, err, tt.text)
	}
}

// So does an object that is refused.
func TestWrongObjects(t *testing.T) {
	r := newRig(t)
	other := newRig(t)
	cq, foreign := r.cq(1), other.cq(1)
	foreignSRQ := other.srq(1)
	one := ibv.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}
	create := func(attr ibv.QPInitAttr) func() error {
		return func() error { _, err := r.pd.CreateQP(&attr); return err }
	}
	for _, tt := range []struct {
		do    func() error
		errno syscall.Errno
		text  string
	}{
		{create(ibv.QPInitAttr{SendCQ: cq, RecvCQ: cq, Cap: one}), syscall.EINVAL, "QPType is missing"},
		{create(ibv.QPInitAttr{QPType: ibv.QPTRC, SendCQ: cq, Cap: one}), syscall.EINVAL, "SendCQ and RecvCQ are both needed"},
		{create(ibv.QPInitAttr{QPType: ibv.QPTDriver, Cap: one}), syscall.EINVAL, "SendCQ and RecvCQ are both needed"},
		{create(ibv.QPInitAttr{QPType: 77, RecvCQ: cq, Cap: one}), syscall.EINVAL, "SendCQ and RecvCQ are both needed"},
		{create(ibv.QPInitAttr{QPType: ibv.QPTXRCSend, Cap: one}), syscall.EINVAL, "SendCQ is needed"},
		{create(ibv.QPInitAttr{QPType: ibv.QPTXRCRecv, Cap: one}), syscall.EINVAL, "Context.CreateQPEx makes it"},
		{create(ibv.QPInitAttr{QPType: ibv.QPTXRCSend, SendCQ: cq, Cap: one}), syscall.EOPNOTSUPP, "create queue pair"},
		{create(ibv.QPInitAttr{QPType: ibv.QPTRC, SendCQ: cq, RecvCQ: foreign, Cap: one}), syscall.EINVAL, "different contexts"},
		{create(ibv.QPInitAttr{QPType: ibv.QPTRC, SendCQ: foreign, RecvCQ: cq, Cap: one}), syscall.EINVAL, "different contexts"},
		{create(ibv.QPInitAttr{QPType: ibv.QPTRC, SendCQ: cq, RecvCQ: cq, SRQ: foreignSRQ, Cap: one}), syscall.EINVAL, "different contexts"},
		{create(ibv.QPInitAttr{QPType: ibv.QPTRC, SendCQ: cq, RecvCQ: cq, Cap: ibv.QPCap{MaxSendWR: 1 << 30, MaxSendSGE: 99}}), syscall.EINVAL, "Cap.MaxSendWR is 1073741824: the device can do 1048576; Cap.MaxSendSGE is 99: the device can do 32"},
		{func() error { _, err := r.pd.CreateQP(nil); return err }, syscall.EINVAL, "attributes are missing"},
		{func() error { _, err := r.ctx.CreateCQ(1 << 30); return err }, syscall.EINVAL, "the number of entries is 1073741824: the device can do 32767"},
		{func() error { _, err := r.ctx.CreateCQ(0); return err }, syscall.EINVAL, "it cannot have 0 entries"},
		{func() error {
			_, err := r.pd.CreateSRQ(&ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: 1 << 30, MaxSGE: 1}})
			return err
		}, syscall.EINVAL, "Attr.MaxWR is 1073741824: the device can do 1048576"},
		{func() error { _, err := r.pd.CreateSRQ(nil); return err }, syscall.EINVAL, "attributes are missing"},
		{func() error { _, err := r.pd.CreateAH(nil); return err }, syscall.EINVAL, "attributes are missing"},
	} {
		err := tt.do()
		require.ErrorIs(t, err, tt.errno)
		require.ErrorContains(t, err, tt.text)
	}
}
