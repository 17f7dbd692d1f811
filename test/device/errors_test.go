//go:build device

package device

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// A queue pair in RESET takes no sends, and since release 40 of rxe no receives;
// earlier ones take them. Either way the completions bear the answer out.
func TestPostInReset(t *testing.T) {
	const n = 3
	r := newRig(t)
	from, to := r.memory(n), r.memory(n)
	sender, receiver := r.side(ibv.QPTRC, n, 1, nil), r.side(ibv.QPTRC, 1, 2*n, nil)
	require.Equal(t, ibv.QPSReset, receiver.State)
	recvs := r.recvChain(n, to)
	accepted, err := recvs.Post(receiver.QP)
	first := uint64(0) // of the receives that messages go into
	if guest.Release(t) < 40 {
		require.NoError(t, err)
		require.Equal(t, n, accepted)
	} else {
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorIs(t, err, ibv.ErrAcceptedUnknown, "this device does not say which")
		require.Equal(t, -1, accepted)
		first = n
	}
	r.connect(sender.QP, receiver.QP)
	for i := range n {
		recvs.WR(i).WRID += n
	}
	_, err = recvs.Post(receiver.QP)
	require.NoError(t, err)
	_, err = r.sendChain(n, from, func(int) int { return 8 }).Post(sender.QP)
	require.NoError(t, err)
	for i, wc := range r.poll(receiver.recv, n) {
		require.Equal(t, first+uint64(i), wc.WRID)
	}

	qp := r.side(ibv.QPTRC, n, 1, nil)
	sends, err := ibv.NewSendChain(n, 1)
	require.NoError(t, err)
	accepted, err = sends.Post(qp.QP)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Equal(t, -1, accepted)
}

func TestTooManyEntries(t *testing.T) {
	r := newRig(t)
	qp := r.side(ibv.QPTRC, 4, 4, nil)
	require.NoError(t, toInit(qp.QP, access))
	n := int(qp.cap.MaxRecvSGE) + 1
	mr := r.memory(1)
	recvs, err := ibv.NewRecvChain(3, n)
	require.NoError(t, err)
	require.NoError(t, recvs.Set(1, 1, make([]ibv.SGE, n)...))
	require.NoError(t, recvs.Set(0, 0, mr.SGE(0, 8)))
	accepted, err := recvs.Post(qp.QP)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.Equal(t, 1, accepted, "the one before it is posted")
}

func TestOpen(t *testing.T) {
	_, err := ibv.Open("nosuch0")
	require.ErrorIs(t, err, syscall.ENODEV)
	require.ErrorContains(t, err, "nosuch0")
	require.ErrorContains(t, err, deviceName)
	ctx, err := ibv.Open("")
	require.NoError(t, err)
	defer func() { require.NoError(t, ctx.Close()) }()
	require.Equal(t, deviceName, ctx.Device.String())
	list, err := ibv.Devices()
	require.NoError(t, err)
	var names []string
	for _, d := range list.All() {
		names = append(names, d.String())
	}
	require.Contains(t, names, deviceName)
	require.NoError(t, list.Close())
	require.NoError(t, list.Close())
}

func TestQueries(t *testing.T) {
	r := newRig(t)
	attr, err := r.ctx.QueryDevice()
	require.NoError(t, err)
	require.Equal(t, uint8(1), attr.PhysPortCnt)
	require.Positive(t, attr.MaxQPWR)
	p, err := r.ctx.QueryPort(port)
	require.NoError(t, err)
	require.Equal(t, ibv.PortActive, p.State)
	require.EqualValues(t, ibv.LinkLayerEthernet, p.LinkLayer)
	_, err = r.ctx.QueryPort(2)
	require.ErrorIs(t, err, syscall.EINVAL)
	gids, err := r.ctx.GIDs(port)
	require.NoError(t, err)
	require.NotEmpty(t, gids)
	for i := range gids {
		gid, err := r.ctx.QueryGID(port, gids[i].GIDIndex)
		require.NoError(t, err)
		require.Equal(t, gids[i].GID, gid)
	}
	_, err = r.ctx.QueryGIDEntry(port, uint32(p.GIDTblLen))
	require.Error(t, err)
	require.EqualValues(t, ibv.GIDTypeRoCEV2, r.gid.GIDType)
}

func TestClosedInTheWrongOrder(t *testing.T) {
	r := newRig(t)
	qp := r.side(ibv.QPTRC, 4, 4, nil)
	err := qp.recv.Close()
	require.ErrorIs(t, err, syscall.EBUSY)
	require.ErrorContains(t, err, deviceName)
}

func TestStates(t *testing.T) {
	r := newRig(t)
	a, b := r.pair(4, 4)
	attr, init, err := b.Query(ibv.QPAttrMaskState | ibv.QPAttrMaskDestQPN)
	require.NoError(t, err)
	require.Equal(t, ibv.QPSRTS, attr.QPState)
	require.Equal(t, a.QPNum, attr.DestQPNum)
	require.Equal(t, ibv.QPTRC, init.QPType)
	err = toInit(a.QP, access)
	require.ErrorIs(t, err, syscall.EINVAL, "RTS to INIT is not allowed")
	require.ErrorContains(t, err, "IBV_QPS_INIT")
	recvs, err := ibv.NewRecvChain(3, 0)
	require.NoError(t, err)
	_, err = recvs.Post(b.QP)
	require.NoError(t, err)
	require.NoError(t, toErr(b.QP))
	for i, wc := range r.pollAny(b.recv, 3) {
		require.Equal(t, uint64(i), wc.WRID)
		require.Equal(t, ibv.WCWRFlushErr, wc.Status)
		var failed *ibv.CompletionError
		require.ErrorAs(t, wc.Err(), &failed)
		require.Equal(t, uint64(i), failed.WRID)
	}
	require.NoError(t, toReset(b.QP))
	require.NoError(t, toInit(b.QP, access))
}

func TestRegMR(t *testing.T) {
	r := newRig(t)
	_, err := r.pd.RegMR(nil, access)
	require.ErrorIs(t, err, syscall.EINVAL)
	heap := make([]byte, 1000)
	mr, err := r.pd.RegMR(heap, access)
	require.NoError(t, err)
	require.Same(t, &heap[0], &mr.Bytes()[0])
	require.Len(t, mr.Bytes(), len(heap))
	require.NoError(t, mr.Close())
	_, err = r.pd.RegMR(heap, ibv.AccessRemoteWrite)
	require.ErrorIs(t, err, syscall.EINVAL, "remote write needs local write")
}
