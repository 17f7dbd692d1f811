package rdma_test

import (
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/scripted"
	"github.com/goverbs/goverbs/rdma"
)

// One completion queue serves many rings of both kinds, and whatever else: each
// completion is its ring's, also where a failure leaves nothing but its WRID, its
// status and its queue pair.
func TestRingsShareACompletionQueue(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	p.Call("provider_share_cq")
	p.adopt()
	const n = 8
	var all rdma.Rings[int]
	var sends [3]*rdma.SendRing
	var recvs [3]*rdma.RecvRing
	var posted [3][]sawWR
	for i := range sends {
		sends[i] = sendRing(p, n, 1)
		recvs[i], posted[i] = recvRing(p, n, 16)
		require.NoError(t, all.Add(sends[i], i))
		require.NoError(t, all.Add(recvs[i], i))
	}
	random := rand.New(rand.NewPCG(7, 8))
	for round := range 500 {
		i := random.IntN(len(sends))
		failed := ibv.WC{QPNum: 0x11, Status: ibv.WCWRFlushErr, Opcode: ibv.WCOpcode(random.Uint32()), ByteLen: math.MaxUint32}
		if random.IntN(2) == 0 {
			addSends(t, sends[i], 2)
			p.Play(script{Room: scripted.All})
			require.NoError(t, sends[i].Post())
			wc := sent(sends[i], sends[i].Number(p.took()[1].WRID))
			if random.IntN(2) == 0 {
				failed.WRID = wc.WRID
				wc = failed
			}
			ring, value := all.Of(&wc)
			require.Same(t, sends[i], ring)
			require.Equal(t, i, value)
			for k := range sends {
				_, own := recvs[k].Handle(&wc)
				require.False(t, own)
				require.Equal(t, k == i, sends[k].Handle(&wc), "round %d", round)
			}
			require.Zero(t, sends[i].Outstanding())
			require.True(t, sends[i].Done(wc.WRID))
			require.False(t, sends[i].Handle(&wc), "it is done already")
			continue
		}
		slot := random.IntN(n)
		wc := ibv.WC{WRID: posted[i][slot].WRID, Opcode: ibv.WCRecv, ByteLen: 5, QPNum: 0x11}
		length := 5
		if random.IntN(2) == 0 {
			failed.WRID = wc.WRID
			wc, length = failed, 0
		}
		ring, value := all.Of(&wc)
		require.Same(t, recvs[i], ring)
		require.Equal(t, i, value)
		for k := range recvs {
			require.False(t, sends[k].Handle(&wc))
			m, own := recvs[k].Handle(&wc)
			require.Equal(t, k == i, own)
			if own {
				require.Equal(t, wc, m.WC)
				require.Len(t, m.Data, length)
				require.NoError(t, recvs[k].Release(m))
				_, own := recvs[k].Handle(&wc)
				require.False(t, own, "it was given back")
			}
		}
		require.Equal(t, []int{slot}, flushed(p, recvs[i], posted[i]))
	}
	for _, wrID := range []uint64{0, 1, 1 << 25, math.MaxUint64} {
		wc := sentWR(wrID)
		if r, _ := all.Of(&wc); r != nil {
			require.False(t, r.(*rdma.SendRing).Handle(&wc), "%#x", wrID)
		}
	}
	require.NoError(t, all.Remove(sends[1]))
	requireRefused(t, all.Remove(sends[1]), syscall.EINVAL, "not one of them")
	wc := sentWR(sends[1].Ticket(0))
	ring, value := all.Of(&wc)
	require.Nil(t, ring)
	require.Zero(t, value)
	require.NoError(t, sends[1].Close())
	require.ErrorIs(t, all.Add(sends[1], 1), rdma.ErrClosed)
	require.Error(t, all.Add((*rdma.SendRing)(nil), 1))
}

// Numbers go round, and the ring goes on.
func TestSendRingCountsForEver(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	for _, from := range []uint64{0, 1<<25 - 5, 1<<44 - 5, math.MaxUint64 - 5} {
		ring := sendRing(p, 8, 3)
		ring.CountFrom(from)
		for range 20 {
			addSends(t, ring, 3)
			wrs := p.during(script{Room: all}, func() { require.NoError(t, ring.Post()) })
			for _, wr := range wrs {
				require.False(t, ring.Done(wr.WRID))
			}
			p.complete(sentWR(wrs[2].WRID))
			pollSends(t, ring, 3)
			for _, wr := range wrs {
				require.True(t, ring.Done(wr.WRID))
			}
			require.Zero(t, ring.Outstanding())
		}
	}
}

// What a peer may send is what was really posted, whatever was given back.
func TestRecvRingPosted(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring, posted := recvRing(p, 4, 8)
	require.EqualValues(t, 4, ring.Posted())
	for _, wr := range posted[:3] {
		p.receive(wr, 1, 0)
	}
	in := pollRing(t, ring, 3)
	require.NoError(t, ring.Release(in[0]))
	require.EqualValues(t, 4, ring.Posted(), "given back is not posted")
	require.NoError(t, ring.ReleaseWC(in[1].WC))
	require.EqualValues(t, 4, ring.Posted())
	require.Error(t, ring.Release(in[0], in[2], in[1]))
	require.EqualValues(t, 4, ring.Posted())
	p.Play(full(1))
	require.Error(t, ring.Flush())
	require.EqualValues(t, 5, ring.Posted(), "the queue has taken one of three")
	p.Play(silent(1))
	require.ErrorIs(t, ring.Flush(), ibv.ErrAcceptedUnknown)
	require.EqualValues(t, 5, ring.Posted(), "nobody knows how many")
	p.Play(script{Room: all})
	require.NoError(t, ring.Flush())
	require.EqualValues(t, 5, ring.Posted())
	p.receive(posted[3], 1, 0)
	require.NoError(t, ring.Release(pollRing(t, ring, 1)...))
	pollRing(t, ring, 0)
	require.EqualValues(t, 6, ring.Posted(), "a poll posts too")

	none := p.during(silent(0), func() {
		var err error
		ring, err = rdma.NewRecvRing(p.qp, rdma.RecvRingOptions{Buffers: 3, Size: 8})
		require.NoError(t, err)
	})
	require.Empty(t, none)
	require.Zero(t, ring.Posted())

	p.Play(script{Room: all})
	ring, posted = recvRing(p, 4, 8)
	p.receive(posted[0], 1, 0)
	require.NoError(t, ring.Release(pollRing(t, ring, 1)...))
	require.NoError(t, p.qp.Close())
	require.EqualValues(t, 4, ring.Posted(), "what was not posted before the end never is")
}

// A limit is on what uses up receives, and is not taken back.
func TestSendRingCredits(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring := sendRing(p, 8, 1)
	remote := rdma.Remote{Addr: 8, RKey: 1, Length: 8}
	add := func(opcode ibv.WROpcode) (err error) {
		switch opcode {
		case ibv.WRRDMAWrite, ibv.WRRDMAWriteWithImm, ibv.WRRDMARead:
			_, err = ring.AddRDMA(opcode, 0, remote, ibv.SGE{Length: 8})
		case ibv.WRAtomicFetchAndAdd:
			_, err = ring.AddAtomic(opcode, 0, remote, ibv.SGE{Length: 8}, 1, 0)
		default:
			_, err = ring.Add(opcode, 0)
		}
		return err
	}
	require.Equal(t, uint64(math.MaxUint64), ring.Credit())
	require.NoError(t, add(ibv.WRSend))
	ring.SetLimit(0)
	require.Zero(t, ring.Credit())
	for _, opcode := range []ibv.WROpcode{ibv.WRSend, ibv.WRSendWithImm, ibv.WRSendWithInv, ibv.WRRDMAWriteWithImm} {
		err := add(opcode)
		require.ErrorIs(t, err, rdma.ErrNoCredit)
		require.ErrorIs(t, err, syscall.EAGAIN)
		require.NotErrorIs(t, err, rdma.ErrRingFull)
	}
	for _, opcode := range []ibv.WROpcode{ibv.WRRDMAWrite, ibv.WRRDMARead, ibv.WRAtomicFetchAndAdd} {
		require.NoError(t, add(opcode))
	}
	ring.SetLimit(3)
	ring.SetLimit(2)
	require.EqualValues(t, 2, ring.Credit())
	require.NoError(t, add(ibv.WRSend))
	require.NoError(t, add(ibv.WRRDMAWriteWithImm))
	require.ErrorIs(t, add(ibv.WRSend), rdma.ErrNoCredit)
	require.Equal(t, 6, ring.Outstanding(), "what is refused is not added")
	ring.SetLimit(10)
	require.NoError(t, add(ibv.WRSend))
	require.NoError(t, add(ibv.WRSend))
	require.ErrorIs(t, add(ibv.WRSend), rdma.ErrRingFull)
	ring.SetLimit(math.MaxUint64)
	ring.SetLimit(11)
	require.EqualValues(t, uint64(math.MaxUint64)-5, ring.Credit(), "that no limit is left is not taken back either")
}
