//go:build device

package device

import (
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

const psn = 0x123456

// move changes the state of a queue pair from one to attr's.
func move(qp *ibv.QP, from ibv.QPState, attr ibv.QPAttr) error {
	return qp.Modify(&attr, qp.QPType.Needs(from, attr.QPState))
}

// toInit moves a queue pair from RESET to INIT.
func toInit(qp *ibv.QP, access ibv.AccessFlags) error {
	return move(qp, ibv.QPSReset, ibv.QPAttr{QPState: ibv.QPSInit, PortNum: port, QPAccessFlags: access})
}

// toRTR moves a connected queue pair from INIT to RTR, where its peer is the queue
// pair of the device with that number.
func (r *rig) toRTR(qp *ibv.QP, peer uint32) error {
	return move(qp, ibv.QPSInit, ibv.QPAttr{
		QPState: ibv.QPSRTR, PathMTU: r.mtu, DestQPNum: peer, RQPSN: psn, MaxDestRdAtomic: 1, MinRNRTimer: 12,
		AHAttr: ibv.AHAttr{
			PortNum: port, IsGlobal: 1,
			GRH: ibv.GlobalRoute{DGID: r.gid.GID, SGIDIndex: uint8(r.gid.GIDIndex), HopLimit: 64},
		},
	})
}

// toRTS moves a connected queue pair from RTR to RTS.
func toRTS(qp *ibv.QP) error {
	return move(qp, ibv.QPSRTR, ibv.QPAttr{QPState: ibv.QPSRTS, SQPSN: psn, Timeout: 17, RetryCnt: 6, RNRRetry: 7, MaxRdAtomic: 1})
}

func toErr(qp *ibv.QP) error   { return move(qp, ibv.QPSRTS, ibv.QPAttr{QPState: ibv.QPSErr}) }
func toReset(qp *ibv.QP) error { return move(qp, ibv.QPSRTS, ibv.QPAttr{QPState: ibv.QPSReset}) }

// connectUD brings a UD queue pair from RESET to RTS.
func (r *rig) connectUD(qp *ibv.QP, qkey uint32) {
	r.t.Helper()
	require.NoError(r.t, move(qp, ibv.QPSReset, ibv.QPAttr{QPState: ibv.QPSInit, PortNum: port, QKey: qkey}))
	require.NoError(r.t, move(qp, ibv.QPSInit, ibv.QPAttr{QPState: ibv.QPSRTR}))
	require.NoError(r.t, move(qp, ibv.QPSRTR, ibv.QPAttr{QPState: ibv.QPSRTS, SQPSN: psn}))
}
