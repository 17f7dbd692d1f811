//go:build device && linux

package rdma

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// A peer whose queue pair is gone, or answers no more, ends a send in finite
// time, and what was posted behind it is flushed.
func TestPeerThatDies(t *testing.T) {
	const n = 3 // sends to each
	r := newRig(t)
	sends := r.sendChain(n, r.region(n*100), 100)
	send := func(from end) {
		_, err := from.PostSend(sends)
		require.NoError(t, err)
	}
	const waited = "destroyed while it has no receive posted"
	// They die together, because each death takes seconds to be noticed.
	deaths := map[string]func(peer *rdma.QP){
		"moved to RESET": func(peer *rdma.QP) { require.NoError(t, peer.ToReset()) },
		"moved to ERR":   func(peer *rdma.QP) { require.NoError(t, peer.ToErr()) },
		"back in INIT": func(peer *rdma.QP) {
			require.NoError(t, peer.ToReset())
			require.NoError(t, peer.ToInit(port, access))
		},
		"destroyed": func(peer *rdma.QP) { require.NoError(t, peer.Close()) },
		waited:      func(peer *rdma.QP) { require.NoError(t, peer.Close()) },
	}
	senders := map[string]end{}
	for name, die := range deaths {
		sender, peer := r.pair(rdma.QPOptions{})
		senders[name] = sender
		if name == waited {
			send(sender)
			r.quiet(sender.send, time.Second)
		}
		die(peer.QP)
	}
	never := r.end(rdma.QPOptions{})
	senders["never there"] = never
	require.NoError(t, never.ToRTR(rdma.Path{Port: port, GIDIndex: r.gid.GIDIndex, MTU: r.mtu}, rdma.Peer{QPNum: 0xfffff0, GID: r.gid.GID}))
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

// A peer that lives and has no receive posted is waited for, longer than any
// number of attempts would take.
func TestPeerThatIsLate(t *testing.T) {
	r := newRig(t)
	sender, receiver := r.pair(rdma.QPOptions{})
	_, err := sender.PostSend(r.sendChain(1, r.region(100), 100))
	require.NoError(t, err)
	r.quiet(sender.send, time.Second)
	_, err = receiver.PostRecv(r.recvChain(1, r.region(100), 100))
	require.NoError(t, err)
	r.poll(sender.send, 1)
	r.poll(receiver.recv, 1)
}

// What a queue pair is connected with is what the documentation says, by the
// device's own account.
func TestConnectedWith(t *testing.T) {
	r := newRig(t)
	a, b := r.pair(rdma.QPOptions{})
	attr, _, err := a.Raw().Query(ibv.QPAttrMaskTimeout | ibv.QPAttrMaskRetryCnt | ibv.QPAttrMaskRNRRetry | ibv.QPAttrMaskMinRNRTimer |
		ibv.QPAttrMaskMaxQPRdAtomic | ibv.QPAttrMaskMaxDestRdAtomic | ibv.QPAttrMaskAV | ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskPathMTU)
	require.NoError(t, err)
	require.Equal(t, b.Raw().QPNum, attr.DestQPNum)
	require.EqualValues(t, 17, attr.Timeout, "0.54 s, and 0 would be for ever")
	require.EqualValues(t, 6, attr.RetryCnt, "7 is for ever on this device")
	require.EqualValues(t, 7, attr.RNRRetry, "for ever")
	require.EqualValues(t, 12, attr.MinRNRTimer, "0.64 ms, and 0 would be 655")
	require.EqualValues(t, 16, attr.MaxRdAtomic)
	require.EqualValues(t, 16, attr.MaxDestRdAtomic)
	require.EqualValues(t, 64, attr.AHAttr.GRH.HopLimit, "0 and 1 would keep packets in their subnet")
	require.EqualValues(t, r.gid.GIDIndex, attr.AHAttr.GRH.SGIDIndex)
	require.Equal(t, r.gid.GID, attr.AHAttr.GRH.DGID)
	require.Zero(t, attr.PKeyIndex)
	require.Equal(t, r.mtu, attr.PathMTU)
}

// UC connects in the same way, and does without acknowledgements.
func TestUC(t *testing.T) {
	const size = 100
	r := newRig(t)
	sender, receiver := r.pair(rdma.QPOptions{Type: ibv.QPTUC})
	from, to := r.region(size), r.region(size)
	copy(from.Raw().Bytes(), "over UC")
	sends := r.sendChain(1, from, size)
	_, err := receiver.PostRecv(r.recvChain(1, to, size))
	require.NoError(t, err)
	_, err = sender.PostSend(sends)
	require.NoError(t, err)
	r.poll(sender.send, 1)
	require.EqualValues(t, size, r.poll(receiver.recv, 1)[0].ByteLen)
	require.Equal(t, from.Raw().Bytes(), to.Raw().Bytes())

	require.NoError(t, receiver.ToReset())
	_, err = sender.PostSend(sends)
	require.NoError(t, err)
	r.poll(sender.send, 1) // a dead peer is not noticed
}
