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
	linkLocal := ibv.GIDEntry{GIDIndex: 99}
	gids, err := r.ctx.GIDs(port)
	require.NoError(t, err)
	for _, e := range gids {
		if e.GID.Addr().IsLinkLocalUnicast() {
			linkLocal = e
		}
	}
	require.NotEqual(t, uint32(99), linkLocal.GIDIndex)
	for _, tt := range []struct {
		do    func() error
		errno syscall.Errno
		text  string
	}{
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
