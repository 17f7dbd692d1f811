//go:build device

package device

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// A peer whose queue pair is gone, or answers no more, ends a send in finite
// time, and what was posted behind it is flushed.
func TestPeerThatDies(t *testing.T) {
	const n = 3 // sends to each
	r := newRig(t)
	mr := r.memory(n)
	send := func(from side) {
		_, err := r.sendChain(n, mr, func(int) int { return 100 }).Post(from.QP)
		require.NoError(t, err)
	}
	const waited = "destroyed while it has no receive posted"
	// They die together, because each death takes seconds to be noticed.
	deaths := map[string]func(peer *ibv.QP){
		"moved to RESET": func(peer *ibv.QP) { require.NoError(t, peer.ToReset()) },
		"moved to ERR":   func(peer *ibv.QP) { require.NoError(t, peer.ToErr()) },
		"back in INIT": func(peer *ibv.QP) {
			require.NoError(t, peer.ToReset())
			require.NoError(t, peer.ToInit(port, access))
		},
		"destroyed": nil,
		waited:      nil,
	}
	senders := map[string]side{}
	for name, die := range deaths {
		sender, peer := r.side(ibv.QPTRC, n, 1, nil), r.doomed()
		senders[name] = sender
		r.connect(sender.QP, peer)
		if name == waited {
			send(sender)
			r.stayQuiet(sender.send, time.Second)
		}
		if die == nil {
			require.NoError(t, peer.Close())
			continue
		}
		die(peer)
		t.Cleanup(func() { require.NoError(t, peer.Close()) })
	}
	never := r.side(ibv.QPTRC, n, 1, nil)
	senders["never there"] = never
	require.NoError(t, never.ToInit(port, access))
	require.NoError(t, never.ToRTR(ibv.Path{Port: port, GIDIndex: r.gid.GIDIndex, MTU: r.mtu}, ibv.Peer{QPNum: 0xfffff0, GID: r.gid.GID}))
	require.NoError(t, never.ToRTS(0))

	for name, sender := range senders {
		if name != waited {
			send(sender)
		}
	}
	for name, sender := range senders {
		wcs := r.pollAny(sender.send, n)
		require.Equal(t, ibv.WCRetryExcErr, wcs[0].Status, "%s: %v", name, wcs[0])
		require.ErrorContains(t, wcs[0].Err(), "the peer did not answer")
		for i := range wcs[1:] {
			require.Equal(t, ibv.WCWRFlushErr, wcs[i+1].Status, name)
		}
	}
}

// doomed is a queue pair that the test closes itself.
func (r *rig) doomed() *ibv.QP {
	r.t.Helper()
	cq := r.cq(4)
	qp, err := r.pd.CreateQP(&ibv.QPInitAttr{
		SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC,
		Cap: ibv.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	require.NoError(r.t, err)
	return qp
}

// stayQuiet checks that the queue stays empty for a time.
func (r *rig) stayQuiet(cq *ibv.CQ, duration time.Duration) {
	r.t.Helper()
	for end := time.Now().Add(duration); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		r.quiet(cq)
	}
}

// A peer that lives and has no receive posted is waited for, longer than any
// number of attempts would take.
func TestPeerThatIsLate(t *testing.T) {
	r := newRig(t)
	sender, receiver := r.pair(4, 4)
	_, err := r.sendChain(1, r.memory(1), func(int) int { return 100 }).Post(sender.QP)
	require.NoError(t, err)
	r.stayQuiet(sender.send, time.Second)
	_, err = r.recvChain(1, r.memory(1)).Post(receiver.QP)
	require.NoError(t, err)
	r.poll(sender.send, 1)
	r.poll(receiver.recv, 1)
}

// What a queue pair is connected with is what the documentation says, by the
// device's own account.
func TestConnectedWith(t *testing.T) {
	r := newRig(t)
	a, b := r.pair(1, 1)
	attr, _, err := a.Query(ibv.QPAttrMaskTimeout | ibv.QPAttrMaskRetryCnt | ibv.QPAttrMaskRNRRetry | ibv.QPAttrMaskMinRNRTimer |
		ibv.QPAttrMaskMaxQPRdAtomic | ibv.QPAttrMaskMaxDestRdAtomic | ibv.QPAttrMaskAV | ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskPathMTU)
	require.NoError(t, err)
	require.Equal(t, b.QPNum, attr.DestQPNum)
	require.EqualValues(t, 17, attr.Timeout, "0.54 s, and 0 would be for ever")
	require.EqualValues(t, 6, attr.RetryCnt, "7 is for ever on this device")
	require.EqualValues(t, 7, attr.RNRRetry, "for ever")
	require.EqualValues(t, 12, attr.MinRNRTimer, "0.64 ms, and 0 would be 655")
	require.EqualValues(t, 1, attr.MaxRdAtomic)
	require.EqualValues(t, 1, attr.MaxDestRdAtomic)
	require.EqualValues(t, 64, attr.AHAttr.GRH.HopLimit, "0 and 1 would keep packets in their subnet")
	require.EqualValues(t, r.gid.GIDIndex, attr.AHAttr.GRH.SGIDIndex)
	require.Equal(t, r.gid.GID, attr.AHAttr.GRH.DGID)
	require.Zero(t, attr.PKeyIndex)
	require.Equal(t, r.mtu, attr.PathMTU)
}

// UC connects in the same way, and does without acknowledgements.
func TestUC(t *testing.T) {
	r := newRig(t)
	sender, receiver := r.side(ibv.QPTUC, 4, 1, nil), r.side(ibv.QPTUC, 1, 4, nil)
	r.connect(sender.QP, receiver.QP)
	from, to := r.memory(1), r.memory(1)
	fill(bytesOf(from, 0)[:100], 5)
	_, err := r.recvChain(1, to).Post(receiver.QP)
	require.NoError(t, err)
	_, err = r.sendChain(1, from, func(int) int { return 100 }).Post(sender.QP)
	require.NoError(t, err)
	r.poll(sender.send, 1)
	require.EqualValues(t, 100, r.poll(receiver.recv, 1)[0].ByteLen)
	requireFilled(t, bytesOf(to, 0), 100, 5, 0)

	require.NoError(t, receiver.ToReset())
	_, err = r.sendChain(1, from, func(int) int { return 100 }).Post(sender.QP)
	require.NoError(t, err)
	r.poll(sender.send, 1) // a dead peer is not noticed
}
