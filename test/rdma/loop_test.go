//go:build device && linux

package rdma

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// loop is a queue pair that is connected to itself.
type loop struct {
	*rig
	cq *rdma.CQ
	qp *rdma.QP
}

// loop makes one with room for depth sends and receives of one entry each.
func (r *rig) loop(depth int) *loop {
	r.t.Helper()
	cq := r.cq(2 * depth)
	qp, err := r.pd.CreateQP(rdma.QPOptions{
		SendCQ: cq, RecvCQ: cq,
		Cap: ibv.QPCap{MaxSendWR: uint32(depth), MaxRecvWR: uint32(depth), MaxSendSGE: 1, MaxRecvSGE: 1, MaxInlineData: 64},
	})
	require.NoError(r.t, err)
	const port = 1
	gid, err := r.dev.Raw().BestGID(port)
	require.NoError(r.t, err)
	for _, to := range []struct {
		attr ibv.QPAttr
		mask ibv.QPAttrMask
	}{
		{ibv.QPAttr{QPState: ibv.QPSInit, PortNum: port, QPAccessFlags: access},
			ibv.QPAttrMaskState | ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskPort | ibv.QPAttrMaskAccessFlags},
		{ibv.QPAttr{QPState: ibv.QPSRTR, PathMTU: ibv.MTU1024, DestQPNum: qp.Raw().QPNum, MaxDestRdAtomic: 1, MinRNRTimer: 1,
			AHAttr: ibv.AHAttr{PortNum: port, IsGlobal: 1, GRH: ibv.GlobalRoute{DGID: gid.GID, SGIDIndex: uint8(gid.GIDIndex), HopLimit: 64}}},
			ibv.QPAttrMaskState | ibv.QPAttrMaskAV | ibv.QPAttrMaskPathMTU | ibv.QPAttrMaskDestQPN | ibv.QPAttrMaskRQPSN |
				ibv.QPAttrMaskMaxDestRdAtomic | ibv.QPAttrMaskMinRNRTimer},
		{ibv.QPAttr{QPState: ibv.QPSRTS, Timeout: 14, RetryCnt: 6, RNRRetry: 6, MaxRdAtomic: 1},
			ibv.QPAttrMaskState | ibv.QPAttrMaskTimeout | ibv.QPAttrMaskRetryCnt | ibv.QPAttrMaskRNRRetry |
				ibv.QPAttrMaskSQPSN | ibv.QPAttrMaskMaxQPRdAtomic},
	} {
		require.NoError(r.t, qp.Raw().Modify(&to.attr, to.mask))
	}
	return &loop{rig: r, cq: cq, qp: qp}
}

// recv posts a receive.
func (l *loop) recv(sge ibv.SGE) error {
	chain, err := ibv.NewRecvChain(1, 1)
	require.NoError(l.t, err)
	require.NoError(l.t, chain.SetSGE(0, 1, sge))
	_, err = l.qp.PostRecv(chain)
	return err
}

// send posts a send.
func (l *loop) send(sge ibv.SGE, flags ibv.SendFlags) error {
	chain, err := ibv.NewSendChain(1, 1)
	require.NoError(l.t, err)
	require.NoError(l.t, chain.SetSGE(0, 2, ibv.WRSend, ibv.SendSignaled|flags, sge))
	_, err = l.qp.PostSend(chain)
	return err
}

// completion is the next completion, whatever it says.
func (l *loop) completion() ibv.WC {
	l.t.Helper()
	wcs := make([]ibv.WC, 1)
	for deadline := time.Now().Add(patience); ; {
		n, err := l.cq.Poll(wcs)
		require.NoError(l.t, err)
		if n > 0 {
			return wcs[0]
		}
		require.True(l.t, time.Now().Before(deadline), "no completion after %v", patience)
	}
}
