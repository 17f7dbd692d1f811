//go:build device && linux

package device

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// extendedCQ is a completion queue whose completions have what flags say.
func (r *rig) extendedCQ(entries uint32, flags ibv.CreateCQWCFlags) *ibv.CQEx {
	r.t.Helper()
	guest.Needs(r.t, guest.Extended)
	attr := &ibv.CQInitAttrEx{CQE: entries, WCFlags: uint64(flags)}
	cq, err := r.ctx.CreateCQEx(attr)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, cq.Close()) })
	return cq
}

// extendedQP is a queue pair that takes batches of the operations.
func (r *rig) extendedQP(kind ibv.QPType, ops ibv.QPCreateSendOpsFlags, sends, recvs uint32, send, recv *ibv.CQ) *ibv.QPEx {
	r.t.Helper()
	guest.Needs(r.t, guest.Extended)
	attr := &ibv.QPInitAttrEx{
		SendCQ: send, RecvCQ: recv, QPType: kind, CompMask: ibv.QPInitAttrPD | ibv.QPInitAttrSendOpsFlags, PD: r.pd, SendOpsFlags: uint64(ops),
		Cap: ibv.QPCap{MaxSendWR: sends, MaxRecvWR: recvs, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInlineData: 64},
	}
	qp, err := r.ctx.CreateQPEx(attr)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, qp.Close()) })
	ex, err := qp.Ex()
	require.NoError(r.t, err)
	return ex
}

// rxeOps is what the installed library's Soft-RoCE can post in a batch on RC.
func rxeOps(t *testing.T) ibv.QPCreateSendOpsFlags {
	t.Helper()
	ops := ibv.QPExWithRDMAWrite | ibv.QPExWithRDMAWriteWithImm | ibv.QPExWithSend | ibv.QPExWithSendWithImm | ibv.QPExWithRDMARead |
		ibv.QPExWithAtomicCmpAndSwp | ibv.QPExWithAtomicFetchAndAdd | ibv.QPExWithLocalInv | ibv.QPExWithBindMW | ibv.QPExWithSendWithInv
	if guest.Release(t) >= 44 {
		ops |= ibv.QPExWithAtomicWrite
	}
	if guest.Release(t) >= 45 {
		ops |= ibv.QPExWithFlush
	}
	return ops
}

// rxeFields is what Soft-RoCE can tell of a completion.
const rxeFlags = ibv.WCExWithByteLen | ibv.WCExWithImm | ibv.WCExWithQPNum | ibv.WCExWithSrcQP | ibv.WCExWithSLID | ibv.WCExWithSL | ibv.WCExWithDLIDPathBits

const rxeFields = ibv.WCFields(rxeFlags) | ibv.WCFieldOpcode | ibv.WCFieldWCFlags

// extendedSide is a queue pair with extended completion queues of its own, and
// polls of them.
type extendedSide struct {
	*ibv.QPEx
	send, recv         *ibv.CQEx
	pollSend, pollRecv *ibv.ExtendedPoll
}

func (r *rig) extendedSide(kind ibv.QPType, ops ibv.QPCreateSendOpsFlags, sends, recvs uint32) extendedSide {
	r.t.Helper()
	s := extendedSide{send: r.extendedCQ(2*(sends+1), rxeFlags), recv: r.extendedCQ(2*(recvs+1), rxeFlags)}
	s.QPEx = r.extendedQP(kind, ops, sends, recvs, s.send.CQ(), s.recv.CQ())
	var err error
	s.pollSend, err = ibv.NewExtendedPoll(s.send, rxeFields)
	require.NoError(r.t, err)
	s.pollRecv, err = ibv.NewExtendedPoll(s.recv, rxeFields)
	require.NoError(r.t, err)
	return s
}

// take takes exactly n completions.
func (r *rig) take(p *ibv.ExtendedPoll, n int) []ibv.ExtendedWC {
	r.t.Helper()
	wcs := make([]ibv.ExtendedWC, n)
	deadline := time.Now().Add(patience)
	for got := 0; got < n; {
		k, err := p.Poll(wcs[got:])
		require.NoError(r.t, err)
		if got += k; k == 0 {
			require.True(r.t, time.Now().Before(deadline), "%d of %d completions after %v", got, n, patience)
		}
	}
	return wcs
}

// takeGood is take for successes.
func (r *rig) takeGood(p *ibv.ExtendedPoll, n int) []ibv.ExtendedWC {
	r.t.Helper()
	wcs := r.take(p, n)
	for i := range wcs {
		require.NoError(r.t, wcs[i].Err())
	}
	return wcs
}

// none checks that a queue stays empty.
func (r *rig) none(p *ibv.ExtendedPoll) {
	r.t.Helper()
	wcs := make([]ibv.ExtendedWC, 2)
	for range 100 {
		n, err := p.Poll(wcs)
		require.NoError(r.t, err)
		require.Zero(r.t, n, "a completion that nobody expects: %v", &wcs[0])
	}
}
