//go:build device

package device

import (
	"encoding/binary"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

func TestRings(t *testing.T) {
	const (
		messages = 5000
		buffers  = 16
		size     = 64
	)
	for _, shared := range []bool{false, true} {
		t.Run(map[bool]string{false: "queue pair", true: "shared receive queue"}[shared], func(t *testing.T) {
			r := newRig(t)
			var srq *ibv.SRQ
			if shared {
				srq = r.srq(buffers)
			}
			from := r.memory(1)
			// The ring is made before its queue pair is closed, and closed after it.
			var recvs *ibv.RecvRing
			t.Cleanup(func() { require.NoError(t, recvs.Close()) })
			sender, receiver := r.side(ibv.QPTRC, buffers, 1, nil), r.side(ibv.QPTRC, 1, buffers, srq)
			r.connect(sender.QP, receiver.QP)
			var err error
			if shared {
				_, err = ibv.NewRecvRing(receiver.QP, buffers, size)
				require.ErrorIs(t, err, ibv.ErrSRQAttached)
				recvs, err = ibv.NewSRQRecvRing(srq, receiver.recv, buffers, size)
			} else {
				recvs, err = ibv.NewRecvRing(receiver.QP, buffers, size)
			}
			require.NoError(t, err)
			sends, err := ibv.NewSendRing(sender.QP, 8, 1, 4)
			require.NoError(t, err)

			deadline := time.Now().Add(patience)
			in := make([]ibv.Received, buffers)
			sent, received := uint64(0), uint64(0)
			for received < messages {
				require.True(t, time.Now().Before(deadline), "%d of %d messages", received, messages)
				// Never more on the way than there are buffers to receive into.
				for sent < messages && sent-received < buffers {
					at := int(sent%8) * size
					wr, err := sends.Add(ibv.WRSend, 0, from.SGE(at, size))
					if err != nil {
						require.ErrorIs(t, err, ibv.ErrRingFull)
						require.ErrorIs(t, err, syscall.EAGAIN)
						break
					}
					require.Equal(t, sent, wr.WRID)
					binary.LittleEndian.PutUint64(from.Bytes()[at:], sent)
					sent++
				}
				require.NoError(t, sends.Post())
				_, err := sends.Poll()
				require.NoError(t, err)
				n, err := recvs.Poll(in)
				require.NoError(t, err)
				for i := range in[:n] {
					require.NoError(t, in[i].WC.Err())
					require.Len(t, in[i].Data, size)
					require.Equal(t, received, binary.LittleEndian.Uint64(in[i].Data))
					received++
				}
				require.NoError(t, recvs.Release(in[:n]...))
				if n > 0 {
					require.ErrorIs(t, recvs.Release(in[0]), syscall.EINVAL, "given back twice")
				}
			}
			require.ErrorIs(t, recvs.Release(ibv.Received{}), syscall.EINVAL)
			require.True(t, sends.Done(messages-9))
		})
	}
}

// Without a poll, a send ring gets full and no further; with one, it goes on.
func TestSendRingNeverFillsUpForGood(t *testing.T) {
	const n = 8
	r := newRig(t)
	remote, local := r.memory(1), r.memory(1)
	for every := 1; every <= n; every++ {
		sender, _ := r.pair(n, 1)
		ring, err := ibv.NewSendRing(sender.QP, n, 1, every)
		require.NoError(t, err)
		deadline := time.Now().Add(patience)
		for i := 0; i < 5*n; {
			wr, err := ring.Add(ibv.WRRDMAWrite, 0, local.SGE(0, 8))
			if err != nil {
				require.ErrorIs(t, err, ibv.ErrRingFull)
				require.Equal(t, n, ring.Outstanding())
				require.NoError(t, ring.Post())
				_, err := ring.Poll()
				require.NoError(t, err)
				require.True(t, time.Now().Before(deadline), "one in %d signalled: stuck at %d", every, i)
				continue
			}
			*wr.WR.RDMA() = ibv.SendWRWRRDMA{RemoteAddr: uint64(remote.Addr), RKey: remote.RKey}
			i++
		}
	}
	sender, _ := r.pair(n, 1)
	_, err := ibv.NewSendRing(sender.QP, n, 1, 0)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = ibv.NewSendRing(sender.QP, n, 1, n+1)
	require.ErrorIs(t, err, syscall.EINVAL)
}

func TestRingLargerThanTheQueue(t *testing.T) {
	r := newRig(t)
	qp := r.side(ibv.QPTRC, 1, 4, nil)
	require.NoError(t, qp.ToInit(port, access))
	_, err := ibv.NewRecvRing(qp.QP, 100, 64)
	require.ErrorIs(t, err, syscall.ENOMEM)
	_, err = ibv.NewRecvRing(qp.QP, 0, 64)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = ibv.NewSendRing(qp.QP, 1000, 1, 2)
	require.ErrorIs(t, err, syscall.ENOMEM)
	_, err = ibv.NewRecvRing(r.side(ibv.QPTRC, 1, 4, nil).QP, 4, 64)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "RESET")
}

// A completion of something else than the ring's receives is told, not handed
// out as a message.
func TestRingOnACompletionQueueThatIsNotItsOwn(t *testing.T) {
	r := newRig(t)
	from, to := r.memory(4), r.memory(4)
	var ring *ibv.RecvRing
	t.Cleanup(func() { require.NoError(t, ring.Close()) })
	sender, receiver := r.pair(4, 4)
	other := r.recvChain(1, to)
	_, err := other.Post(receiver.QP)
	require.NoError(t, err)
	ring, err = ibv.NewRecvRing(receiver.QP, 3, 64)
	require.NoError(t, err)
	_, err = r.sendChain(2, from, func(int) int { return 8 }).Post(sender.QP)
	require.NoError(t, err)
	r.poll(sender.send, 2)
	in := make([]ibv.Received, 4)
	n, err := ring.Poll(in)
	require.ErrorContains(t, err, "not the ring's")
	require.Equal(t, 1, n, "the ring's own is handed out all the same")
	cq := r.cq(8)
	qp, err := r.pd.CreateQP(&ibv.QPInitAttr{SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC, Cap: ibv.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxRecvSGE: 1, MaxSendSGE: 1}})
	require.NoError(t, err)
	defer func() { require.NoError(t, qp.Close()) }()
	require.NoError(t, qp.ToInit(port, access))
	_, err = ibv.NewRecvRing(qp, 3, 64)
	require.ErrorIs(t, err, syscall.EINVAL)
}

func TestCreateQPWithoutWhatItNeeds(t *testing.T) {
	r := newRig(t)
	cq := r.cq(8)
	for _, attr := range []ibv.QPInitAttr{{SendCQ: cq, RecvCQ: cq}, {SendCQ: cq, QPType: ibv.QPTRC}, {RecvCQ: cq, QPType: ibv.QPTUD}} {
		_, err := r.pd.CreateQP(&attr)
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	_, err := r.pd.CreateQP(nil)
	require.ErrorIs(t, err, syscall.EINVAL)
	ud := r.side(ibv.QPTUD, 1, 1, nil)
	require.ErrorContains(t, ud.ToInit(port, access), "ToInitUD")
	rc := r.side(ibv.QPTRC, 1, 1, nil)
	require.ErrorContains(t, rc.ToRTR(ibv.Path{Port: port, MTU: 1024}, ibv.Peer{}), "ActiveMTU")
}
