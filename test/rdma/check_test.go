//go:build device && linux

package rdma

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/mistakes"
	"github.com/goverbs/goverbs/internal/scripted"
	"github.com/goverbs/goverbs/rdma"
)

// inCheckedMode runs the test in a process with checked mode, and returns false in
// this one, if it is another.
func inCheckedMode(t *testing.T) bool {
	t.Helper()
	if rdma.Checked() {
		return true
	}
	scripted.Again(t, "^"+t.Name()+"$", "GOVERBS_CHECK=1")
	return false
}

// Each mistake is refused on a device, with the error that says so.
func TestMistakes(t *testing.T) {
	if !inCheckedMode(t) {
		return
	}
	for _, m := range mistakes.All() {
		t.Run(m.Name, func(t *testing.T) {
			m.Require(t, m.Make(newRig(t).forMistakes()))
		})
	}
}

// What is right is posted.
func TestInnocents(t *testing.T) {
	if !inCheckedMode(t) {
		return
	}
	for _, i := range mistakes.Innocents() {
		t.Run(i.Name, func(t *testing.T) { require.NoError(t, i.Do(newRig(t).forMistakes())) })
	}
}

func (r *rig) forMistakes() *mistakes.Rig {
	r.t.Helper()
	attr, err := r.dev.Raw().QueryPort(port)
	require.NoError(r.t, err)
	return &mistakes.Rig{
		T: r.t, Device: r.dev, PD: r.pd, QP: r.inState, From: r.gid,
		Entries: func(asked int) int { return r.cq(asked).Entries() },
		Receives: func(asked int) int {
			attr := ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: uint32(asked), MaxSGE: 1}}
			srq, err := r.pd.Raw().CreateSRQ(&attr)
			require.NoError(r.t, err)
			require.NoError(r.t, srq.Close())
			return int(attr.Attr.MaxWR)
		},
		Longest: int(attr.MaxMsgSz), LongestUD: 128 << attr.ActiveMTU,
	}
}

// inState makes a queue pair that is its own peer, in RESET, INIT or RTS.
func (r *rig) inState(pd *rdma.PD, opts rdma.QPOptions, state ibv.QPState) *rdma.QP {
	r.t.Helper()
	opts.Reset, opts.Access = true, access
	qp, err := pd.CreateQP(opts)
	require.NoError(r.t, err)
	switch {
	case state == ibv.QPSReset:
	case qp.Type() == ibv.QPTUD:
		require.NoError(r.t, qp.ToInitUD(port, 17))
		require.NoError(r.t, qp.ToRTRUD())
		require.NoError(r.t, qp.ToRTSUD(0))
	default:
		require.NoError(r.t, qp.ToInit(port, access))
		if state == ibv.QPSRTS {
			require.NoError(r.t, qp.ToRTR(rdma.Path{Port: port, GIDIndex: r.gid.GIDIndex, MTU: r.mtu}, rdma.Peer{QPNum: qp.Number(), GID: r.gid.GID}))
			require.NoError(r.t, qp.ToRTS(0))
		}
	}
	return qp
}
