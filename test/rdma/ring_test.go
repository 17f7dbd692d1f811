//go:build device && linux

package rdma

import (
	"encoding/binary"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// room is a queue pair's options for so many sends and receives.
func room(sends, recvs uint32) rdma.QPOptions {
	return rdma.QPOptions{Cap: ibv.QPCap{MaxSendWR: sends, MaxRecvWR: recvs, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInlineData: 64}}
}

// oneWay is a connected sender and receiver.
func (r *rig) oneWay(sends, recvs uint32) (sender, receiver end) {
	r.t.Helper()
	sender, receiver = r.end(room(sends, 1)), r.end(room(1, recvs))
	r.connect(sender.QP, receiver.QP)
	return sender, receiver
}

func TestRings(t *testing.T) {
	const (
		messages = 5000
		buffers  = 16
		size     = 64
	)
	for _, shared := range []bool{false, true} {
		t.Run(map[bool]string{false: "queue pair", true: "shared receive queue"}[shared], func(t *testing.T) {
			r := newRig(t)
			var srq *rdma.SRQ
			if shared {
				var err error
				srq, err = r.pd.CreateSRQ(buffers, rdma.SRQOptions{})
				require.NoError(t, err)
			}
			from := r.region(4096)
			var recvs *rdma.RecvRing
			opts := room(1, buffers)
			opts.SRQ = srq
			sender, receiver := r.end(room(buffers, 1)), r.end(opts)
			r.connect(sender.QP, receiver.QP)
			var err error
			if shared {
				_, err = rdma.NewRecvRing(receiver.QP, rdma.RecvRingOptions{Buffers: buffers, Size: size})
				require.ErrorIs(t, err, ibv.ErrSRQAttached)
				recvs, err = rdma.NewSRQRecvRing(srq, receiver.recv, rdma.RecvRingOptions{Buffers: buffers, Size: size})
			} else {
				recvs, err = rdma.NewRecvRing(receiver.QP, rdma.RecvRingOptions{Buffers: buffers, Size: size})
			}
			require.NoError(t, err)
			sends, err := rdma.NewSendRing(sender.QP, rdma.SendRingOptions{Requests: 8, MaxSGE: 1, SignalEvery: 4})
			require.NoError(t, err)

			deadline := time.Now().Add(patience)
			in := make([]rdma.Received, buffers)
			sent, received, last := uint64(0), uint64(0), uint64(0)
			for received < messages {
				require.True(t, time.Now().Before(deadline), "%d of %d messages", received, messages)
				// Never more on the way than there are buffers to receive into.
				for sent < messages && sent-received < buffers {
					at := int(sent%8) * size
					flags := ibv.SendFlags(0)
					if sent == messages-1 {
						flags = ibv.SendSignaled
					}
					wr, err := sends.Add(ibv.WRSend, flags, from.SGE(at, size))
					if err != nil {
						require.ErrorIs(t, err, rdma.ErrRingFull)
						require.ErrorIs(t, err, syscall.EAGAIN)
						break
					}
					last = wr.WRID
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
			require.ErrorIs(t, recvs.Release(rdma.Received{}), syscall.EINVAL)
			for !sends.Done(last) {
				require.True(t, time.Now().Before(deadline))
				_, err := sends.Poll()
				require.NoError(t, err)
			}
		})
	}
}

// Without a poll, a send ring gets full and no further; with one, it goes on.
func TestSendRingNeverFillsUpForGood(t *testing.T) {
	const n = 8
	r := newRig(t)
	remote, local := r.region(4096), r.region(4096)
	to, err := remote.Remote(0, 8)
	require.NoError(t, err)
	for every := 1; every <= n; every++ {
		sender, _ := r.oneWay(n, 1)
		ring, err := rdma.NewSendRing(sender.QP, rdma.SendRingOptions{Requests: n, MaxSGE: 1, SignalEvery: every})
		require.NoError(t, err)
		deadline := time.Now().Add(patience)
		for i := 0; i < 5*n; {
			_, err := ring.AddRDMA(ibv.WRRDMAWrite, 0, to, local.SGE(0, 8))
			if err != nil {
				require.ErrorIs(t, err, rdma.ErrRingFull)
				require.Equal(t, n, ring.Outstanding())
				require.NoError(t, ring.Post())
				_, err := ring.Poll()
				require.NoError(t, err)
				require.True(t, time.Now().Before(deadline), "one in %d signalled: stuck at %d", every, i)
				continue
			}
			i++
		}
	}
	sender, _ := r.oneWay(n, 1)
	_, err = rdma.NewSendRing(sender.QP, rdma.SendRingOptions{Requests: n, MaxSGE: 1, SignalEvery: -1})
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = rdma.NewSendRing(sender.QP, rdma.SendRingOptions{Requests: n, MaxSGE: 1, SignalEvery: n + 1})
	require.ErrorIs(t, err, syscall.EINVAL)
}

// Where all work requests complete, a ring takes each as one of its own.
func TestSendRingWhereAllIsSignalled(t *testing.T) {
	const n, sends = 8, 100
	r := newRig(t)
	from := r.region(8)
	to, err := r.region(8).Remote(0, 8)
	require.NoError(t, err)
	opts := room(n, 1)
	opts.SignalAll = true
	sender, receiver := r.end(opts), r.end(room(1, 1))
	r.connect(sender.QP, receiver.QP)
	ring, err := rdma.NewSendRing(sender.QP, rdma.SendRingOptions{Requests: n, SignalEvery: n})
	require.NoError(t, err)
	ctx, cancel := waiting(t)
	defer cancel()
	for added, done := 0, 0; done < sends; {
		for added < sends && ring.Outstanding() < n {
			_, err := ring.AddRDMA(ibv.WRRDMAWrite, 0, to, from.SGE(0, 8))
			require.NoError(t, err)
			added++
		}
		require.NoError(t, ring.Post())
		k, err := ring.Wait(ctx)
		require.NoError(t, err)
		done += k
		require.Equal(t, added-done, ring.Outstanding())
	}
	r.quiet(sender.send, 50*time.Millisecond)
}

func TestRingLargerThanTheQueue(t *testing.T) {
	r := newRig(t)
	qp := r.end(room(1, 4))
	_, err := rdma.NewRecvRing(qp.QP, rdma.RecvRingOptions{Buffers: 100, Size: 64})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "has room for")
	_, err = rdma.NewRecvRing(qp.QP, rdma.RecvRingOptions{Buffers: -1, Size: 64})
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = rdma.NewSendRing(qp.QP, rdma.SendRingOptions{Requests: 1000, MaxSGE: 1, SignalEvery: 2})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "has room for")
	early := room(1, 4)
	early.Reset = true
	_, err = rdma.NewRecvRing(r.end(early).QP, rdma.RecvRingOptions{Buffers: 4, Size: 64})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "RESET")
	_, err = rdma.NewSendRing(qp.QP, rdma.SendRingOptions{Requests: 1, MaxSGE: 99, SignalEvery: 1})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "99 scatter/gather entries")
}

// Where the queue takes a part of a ring, there is a ring and no error, and nothing
// is lost: what is flushed comes back, and goes out again.
func TestRecvRingOfWhichTheQueueTakesAPart(t *testing.T) {
	const buffers = 100
	r := newRig(t)
	qp := r.end(room(1, buffers))
	others := r.recvChain(64, r.region(64*64), 64)
	accepted, err := qp.PostRecv(others)
	require.NoError(t, err)
	require.Equal(t, 64, accepted)
	ring, err := rdma.NewRecvRing(qp.QP, rdma.RecvRingOptions{Buffers: buffers, Size: 64})
	require.NoError(t, err)
	require.ErrorIs(t, ring.Flush(), syscall.ENOMEM)

	// In the error state, all of it completes: that of others first.
	require.NoError(t, qp.ToErr())
	deadline := time.Now().Add(patience)
	wcs := make([]ibv.WC, 64)
	foreign, own := 0, 0
	for foreign+own < 64+buffers {
		require.True(t, time.Now().Before(deadline), "%d of others, %d of the ring", foreign, own)
		n, err := ring.PollWC(wcs)
		if err != nil {
			require.ErrorIs(t, err, syscall.ENOMEM)
		}
		for i := range wcs[:n] {
			require.Equal(t, ibv.WCWRFlushErr, wcs[i].Status)
			if ring.Data(&wcs[i]) == nil {
				require.EqualValues(t, foreign, wcs[i].WRID)
				foreign++
				continue
			}
			require.Empty(t, ring.Data(&wcs[i]))
			own++
		}
		if n > 0 && own < buffers {
			// Soft-RoCE flushes what was posted since at the next change only.
			require.NoError(t, ring.Flush())
			require.NoError(t, qp.ToErr())
		}
	}
	require.Equal(t, 64, foreign)
}

// PollWC leaves completions in the caller's memory, with all that they say.
func TestRingWithCompletionsInPlace(t *testing.T) {
	const messages, buffers, size = 1000, 7, 64
	r := newRig(t)
	from := r.region(4096)
	sender, receiver := r.oneWay(buffers, buffers)
	ring, err := rdma.NewRecvRing(receiver.QP, rdma.RecvRingOptions{Buffers: buffers, Size: size})
	require.NoError(t, err)
	sends := r.sendChain(buffers, from, 8)
	for i := range buffers {
		require.NoError(t, sends.Set(i, 0, ibv.WRSend, ibv.SendSignaled, from.SGE(i*8, 8)))
	}
	wcs := make([]ibv.WC, buffers)
	deadline := time.Now().Add(patience)
	for received := uint64(0); received < messages; {
		k := 1 + int(received)%buffers
		for i := range k {
			binary.LittleEndian.PutUint64(from.Bytes()[i*8:], received+uint64(i))
		}
		require.NoError(t, ring.Flush())
		_, err := sender.PostSendRange(sends, 0, k)
		require.NoError(t, err)
		for got := 0; got < k; {
			require.True(t, time.Now().Before(deadline))
			n, err := ring.PollWC(wcs)
			require.NoError(t, err)
			for i := range wcs[:n] {
				require.NoError(t, wcs[i].Err())
				require.Equal(t, receiver.Raw().QPNum, wcs[i].QPNum)
				data := ring.Data(&wcs[i])
				require.Len(t, data, 8)
				require.Equal(t, size, cap(data))
				require.Equal(t, received, binary.LittleEndian.Uint64(data))
				received++
			}
			require.NoError(t, ring.ReleaseWC(wcs[:n]...))
			if n > 0 {
				require.Nil(t, ring.Data(&wcs[0]), "given back")
				require.ErrorIs(t, ring.ReleaseWC(wcs[0]), syscall.EINVAL)
			}
			got += n
		}
		r.poll(sender.send, k)
	}
}

// A completion of something else than the ring's receives is told, not handed
// out as a message.
func TestRingOnACompletionQueueThatIsNotItsOwn(t *testing.T) {
	r := newRig(t)
	from, to := r.region(4*64), r.region(4*64)
	sender, receiver := r.oneWay(4, 4)
	other := r.recvChain(1, to, 64)
	_, err := receiver.PostRecv(other)
	require.NoError(t, err)
	ring, err := rdma.NewRecvRing(receiver.QP, rdma.RecvRingOptions{Buffers: 3, Size: 64})
	require.NoError(t, err)
	_, err = sender.PostSend(r.sendChain(2, from, 8))
	require.NoError(t, err)
	r.poll(sender.send, 2)
	in := make([]rdma.Received, 4)
	n, err := ring.Poll(in)
	var foreign *rdma.ForeignError
	require.ErrorAs(t, err, &foreign)
	require.Len(t, foreign.WCs, 1)
	require.Equal(t, ibv.WCSuccess, foreign.WCs[0].Status)
	require.EqualValues(t, 8, foreign.WCs[0].ByteLen)
	require.Equal(t, receiver.Raw().QPNum, foreign.WCs[0].QPNum)
	require.Equal(t, 1, n, "the ring's own is handed out all the same")
}

func TestSendRingTellsOfFailures(t *testing.T) {
	r := newRig(t)
	local, remote := r.region(4096), r.region(4096)
	sender, _ := r.oneWay(8, 1)
	ring, err := rdma.NewSendRing(sender.QP, rdma.SendRingOptions{Requests: 8, MaxSGE: 1, SignalEvery: 8})
	require.NoError(t, err)
	to, err := remote.Remote(0, 8)
	require.NoError(t, err)
	add := func(rkey uint32) uint64 {
		to := to
		to.RKey = rkey
		wr, err := ring.AddRDMA(ibv.WRRDMAWrite, 0, to, local.SGE(0, 8))
		require.NoError(t, err)
		return wr.WRID
	}
	add(remote.RKey())
	bad := add(remote.RKey() + 1)
	last := add(remote.RKey())
	require.NoError(t, ring.Post())
	deadline := time.Now().Add(patience)
	var failed *ibv.CompletionError
	for failed == nil {
		require.True(t, time.Now().Before(deadline))
		if _, err := ring.Poll(); err != nil {
			require.ErrorAs(t, err, &failed)
		}
	}
	require.Equal(t, bad, failed.WRID)
	require.Equal(t, ibv.WCRemAccessErr, failed.Status)
	for !ring.Done(last) {
		require.True(t, time.Now().Before(deadline))
		_, _ = ring.Poll() // flushed
	}
	require.Zero(t, ring.Outstanding())
}

// A send queue that is filled by others takes a part of what was added; the rest
// goes out later, and nothing twice.
func TestSendRingGoesOnAfterAShortPost(t *testing.T) {
	r := newRig(t)
	sender := r.end(room(15, 1)) // its own peer, without receives: nothing completes
	require.NoError(t, sender.ToRTR(rdma.Path{Port: port, GIDIndex: r.gid.GIDIndex, MTU: r.mtu}, rdma.Peer{QPNum: sender.Raw().QPNum, GID: r.gid.GID}))
	require.NoError(t, sender.ToRTS(0))
	ring, err := rdma.NewSendRing(sender.QP, rdma.SendRingOptions{Requests: 15, MaxSGE: 1, SignalEvery: 15})
	require.NoError(t, err)
	local := r.region(4096)
	others, err := ibv.NewSendChain(10, 1)
	require.NoError(t, err)
	for i := range others.Len() {
		others.WR(i).SendFlags = 0
	}
	_, err = sender.PostSend(others)
	require.NoError(t, err)
	for range 15 {
		_, err := ring.Add(ibv.WRSend, 0, local.SGE(0, 8))
		require.NoError(t, err)
	}
	require.ErrorIs(t, ring.Post(), syscall.ENOMEM)
	require.ErrorIs(t, ring.Post(), syscall.ENOMEM)
	require.NoError(t, sender.ToErr())
}

func TestReleaseOfWhatIsNotOut(t *testing.T) {
	r := newRig(t)
	from := r.region(4096)
	var rings [2]*rdma.RecvRing
	sender, receiver := r.oneWay(4, 2)
	_, another := r.oneWay(4, 2)
	for i, qp := range []*rdma.QP{receiver.QP, another.QP} {
		var err error
		rings[i], err = rdma.NewRecvRing(qp, rdma.RecvRingOptions{Buffers: 1, Size: 64})
		require.NoError(t, err)
	}
	receive := func() rdma.Received {
		_, err := sender.PostSend(r.sendChain(1, from, 8))
		require.NoError(t, err)
		in := make([]rdma.Received, 1)
		for deadline := time.Now().Add(patience); ; {
			n, err := rings[0].Poll(in)
			require.NoError(t, err)
			if n == 1 {
				return in[0]
			}
			require.True(t, time.Now().Before(deadline))
		}
	}
	old := receive()
	require.ErrorIs(t, rings[1].Release(old), syscall.EINVAL, "another ring's")
	require.NoError(t, rings[0].Release(old))
	now := receive()
	require.ErrorIs(t, rings[0].Release(old), syscall.EINVAL, "the same buffer, a lap before")
	require.NoError(t, rings[0].Release(now))
}

// An RDMA write with immediate data uses up a receive and leaves its buffer alone.
// The sender hears of the end of all that it sent, because it asks for that.
func TestRingsWithWritesWithImmediateData(t *testing.T) {
	const size, written = 64, 32
	r := newRig(t)
	local, remote := r.region(4096), r.region(4096)
	sender, receiver := r.oneWay(8, 2)
	recvs, err := rdma.NewRecvRing(receiver.QP, rdma.RecvRingOptions{Buffers: 2, Size: size})
	require.NoError(t, err)
	sends, err := rdma.NewSendRing(sender.QP, rdma.SendRingOptions{Requests: 8, MaxSGE: 1, SignalEvery: 8})
	require.NoError(t, err)
	deadline := time.Now().Add(patience)
	receive := func() rdma.Received {
		require.NoError(t, sends.Post())
		for in := make([]rdma.Received, 1); ; {
			n, err := recvs.Poll(in)
			require.NoError(t, err)
			if n == 1 {
				require.NoError(t, in[0].WC.Err())
				return in[0]
			}
			require.True(t, time.Now().Before(deadline))
		}
	}
	for i := range uint32(3) {
		for k := range local.Bytes()[:size] {
			local.Bytes()[k] = byte(uint32(k)*31 + i*7 + 1)
		}
		clear(remote.Bytes())
		_, err := sends.Add(ibv.WRSend, 0, local.SGE(0, size))
		require.NoError(t, err)
		m := receive()
		require.Equal(t, local.Bytes()[:size], m.Data)
		require.NoError(t, recvs.Release(m))

		to, err := remote.Remote(0, written)
		require.NoError(t, err)
		wr, err := sends.AddRDMA(ibv.WRRDMAWriteWithImm, ibv.SendSignaled, to, local.SGE(0, written))
		require.NoError(t, err)
		wr.SetImmData(ibv.ToBE32(i + 1))
		m = receive()
		require.Equal(t, ibv.WCRecvRDMAWithImm, m.WC.Opcode)
		require.EqualValues(t, i+1, m.WC.ImmData().Host())
		require.EqualValues(t, written, m.WC.ByteLen)
		require.Empty(t, m.Data, "it is not in the ring's buffer")
		require.Equal(t, local.Bytes()[:written], remote.Bytes()[:written])
		require.NoError(t, recvs.Release(m))
		for sends.Outstanding() > 0 {
			_, err := sends.Poll()
			require.NoError(t, err)
			require.True(t, time.Now().Before(deadline))
		}
	}
}
