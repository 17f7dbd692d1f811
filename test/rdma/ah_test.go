//go:build device && linux

package rdma

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// A datagram goes where its address handle leads, and so does the answer.
func TestAddressHandle(t *testing.T) {
	const qkey, size, grh = 0x1234, 5, 40
	r := newRig(t)
	gid, err := r.dev.Raw().BestGID(1)
	require.NoError(t, err)
	to, err := r.pd.CreateAH(rdma.AHOptions{GID: gid.GID})
	require.NoError(t, err)
	require.Contains(t, to.String(), "address handle")

	cq := r.cq(128)
	qp, err := r.pd.CreateQP(rdma.QPOptions{Type: ibv.QPTUD, SendCQ: cq, RecvCQ: cq})
	require.NoError(t, err)
	for _, attr := range []struct {
		ibv.QPAttr
		mask ibv.QPAttrMask
	}{
		{ibv.QPAttr{QPState: ibv.QPSInit, PortNum: 1, QKey: qkey}, ibv.QPAttrMaskState | ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskPort | ibv.QPAttrMaskQKey},
		{ibv.QPAttr{QPState: ibv.QPSRTR}, ibv.QPAttrMaskState},
		{ibv.QPAttr{QPState: ibv.QPSRTS}, ibv.QPAttrMaskState | ibv.QPAttrMaskSQPSN},
	} {
		require.NoError(t, qp.Raw().Modify(&attr.QPAttr, attr.mask))
	}
	memory := r.region(1000)
	exchange := func(ah *rdma.AH, text string) ibv.WC {
		recv, err := ibv.NewRecvChain(1, 1)
		require.NoError(t, err)
		require.NoError(t, recv.SetSGE(0, 1, memory.SGE(0, grh+size)))
		_, err = qp.PostRecv(recv)
		require.NoError(t, err)
		copy(memory.Bytes()[500:], text)
		send, err := ibv.NewSendChain(1, 1)
		require.NoError(t, err)
		require.NoError(t, send.SetUD(0, 2, ibv.WRSend, ibv.SendSignaled, memory.SGE(500, size), ah.Raw(), qp.Raw().QPNum, qkey))
		_, err = qp.PostSend(send)
		require.NoError(t, err)
		wcs := r.poll(cq, 2)
		require.Equal(t, text, string(memory.Bytes()[grh:grh+size]))
		for _, wc := range wcs {
			if wc.WRID == 1 {
				return wc
			}
		}
		panic("no receive has completed")
	}
	wc := exchange(to, "hello")
	header, ok := wc.UDHeader(memory.Bytes()[:grh])
	require.True(t, ok)
	back, err := r.pd.CreateAHFromWC(&wc, &header, 1)
	require.NoError(t, err)
	exchange(back, "there")

	adopted, err := r.pd.AdoptAH(to.Raw())
	require.NoError(t, err)
	exchange(adopted, "again")
	require.NoError(t, adopted.Close())
	exchange(to, "still")

	require.ErrorContains(t, r.pd.Close(), to.String())
	require.NoError(t, to.Close())
	require.ErrorIs(t, to.Close(), rdma.ErrClosed)
	send, err := ibv.NewSendChain(1, 1)
	require.NoError(t, err)
	require.ErrorIs(t, send.SetUD(0, 2, ibv.WRSend, 0, memory.SGE(0, 1), to.Raw(), 1, 1), syscall.EINVAL)
}

// What leads nowhere says why.
func TestAddressHandleRefused(t *testing.T) {
	r := newRig(t)
	gid, err := r.dev.Raw().BestGID(1)
	require.NoError(t, err)
	for text, to := range map[string]rdma.AHOptions{
		"GID and LID are 0":                          {},
		"index 256 of port 1":                        {GID: gid.GID, From: ibv.GIDEntry{PortNum: 1, GIDIndex: 256}},
		"index 0 of port 300":                        {GID: gid.GID, From: ibv.GIDEntry{PortNum: 300}},
		"the service level is 16":                    {GID: gid.GID, ServiceLevel: 16},
		"the flow label is 0x100000: it has 20 bits": {GID: gid.GID, FlowLabel: 1 << 20},
	} {
		_, err := r.pd.CreateAH(to)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, err, "create an address handle in protection domain on rxe0")
	}
	_, err = r.pd.CreateAH(rdma.AHOptions{GID: gid.GID, From: ibv.GIDEntry{PortNum: 1, GIDIndex: 77}})
	require.Error(t, err, "there is no such entry")
	require.NoError(t, r.pd.Close(), "nothing is left of what was refused")
}
