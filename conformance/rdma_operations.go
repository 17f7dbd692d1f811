package conformance

import (
	"encoding/binary"
	"math"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

var rdmaOperations = []Scenario{
	{"rdma", "a write changes what it names and nothing else", "ibv_post_send(3); IBTA 9.4.3, RFC 5040 5.1", write(ibv.QPTRC)},
	{"rdma", "a write changes what it names on UC", "ibv_post_send(3); IBTA 9.4.3, 9.8", write(ibv.QPTUC)},
	{"rdma", "a write gathers", "ibv_post_send(3); IBTA 10.2.7", writeGathers},
	{"rdma", "a write with immediate data uses up a receive", "ibv_post_send(3), ibv_poll_cq(3); IBTA 9.4.3", writeImmediate},
	{"rdma", "a send is behind the writes before it", "IBTA 9.5, RFC 5040 5.5", writeThenSend},
	{"rdma", "a read fetches what it names", "ibv_post_send(3); IBTA 9.4.4, RFC 5040 5.2", read},
	{"rdma", "a read scatters", "ibv_post_send(3); IBTA 10.2.7", readScatters},
	{"rdma", "a read of many packets", "IBTA 9.4.4, 9.7.3", readManyPackets},
	{"rdma", "more reads than may be outstanding", "ibv_modify_qp(3): max_rd_atomic; IBTA 9.7.3.1", manyReads},
	{"rdma", "a fenced send waits for the read before it", "ibv_post_send(3): IBV_SEND_FENCE; IBTA 10.8.3.3", fence},
	{"rdma", "empty writes and reads succeed whatever they name", "IBTA 9.7.4.1.5, 9.4.3", emptyOperations},
	{"rdma", "an inline write", "ibv_post_send(3): IBV_SEND_INLINE", inlineWrite},
	{"rdma", "an empty write has immediate data", "ibv_post_send(3); IBTA 9.4.3", emptyWriteImmediate},
	{"rdma", "a write with immediate data on UC", "ibv_post_send(3); IBTA 9.4.3, 9.8", writeImmediateUC},
	{"rdma", "many reads outstanding come in order", "ibv_modify_qp(3): max_rd_atomic, max_dest_rd_atomic; IBTA 9.7.3.1", readsOutstanding},
	{"rdma", "who answers no reads refuses them", "ibv_modify_qp(3): max_dest_rd_atomic; IBTA 9.7.4.1", noReads},
	{"rdma", "UC has no reads", "IBTA 9.8, table 38", readOnUC},
	{"rdma", "fetch and add adds, and wraps around", "ibv_post_send(3); IBTA 9.4.5", fetchAdd},
	{"rdma", "compare and swap swaps what is equal only", "ibv_post_send(3); IBTA 9.4.5", compareSwap},
	{"rdma", "additions of many queue pairs add up", "IBTA 9.4.5: atomicity", addUp},
	{"rdma", "an atomic operation wants an aligned address", "ibv_post_send(3); IBTA 9.4.5", atomicUnaligned},
}

func write(typ ibv.QPType) func(t *T) {
	return func(t *T) {
		t.Needs(typeProperty(typ)...)
		a, b := t.Pair(PairOptions{Type: typ})
		const at, size = 1001, 7001
		Fill(a.Slot(0, size), 1)
		recvs := t.Recvs(1, 1)
		require.NoError(t, recvs.Set(0, 0, t.Region(1, 0).SGE(0, 1)))
		b.Expect(recvs)
		a.RDMA(7, ibv.WRRDMAWrite, ibv.SendSignaled, b.Remote(at, size), a.Memory.SGE(0, size))
		wc := t.Done(a.SendCQ, 1)[0]
		require.Equal(t, ibv.WCRDMAWrite, wc.Opcode)
		require.Equal(t, uint64(7), wc.WRID)
		t.Quiet(b.RecvCQ)
		// A completion of UC, and iWARP's, does not say that it is there. A message behind it does.
		a.Send(8, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 1))
		t.Done(b.RecvCQ, 1)
		t.Done(a.SendCQ, 1)
		all := b.Memory.Bytes()
		t.Same(make([]byte, at), all[:at])
		t.Same(a.Slot(0, size), all[at:at+size])
		t.Same(make([]byte, len(all)-at-size), all[at+size:])
	}
}

func writeGathers(t *T) {
	a, b := t.Pair(PairOptions{})
	Fill(a.Memory.Bytes(), 2)
	b.Buffers(1, 8)
	a.RDMA(7, ibv.WRRDMAWrite, 0, b.Remote(100, 300), a.Memory.SGE(5000, 100), a.Memory.SGE(0, 1), a.Memory.SGE(77, 199))
	a.Send(8, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8)) // which comes behind it
	t.Done(b.RecvCQ, 1)
	from, to := a.Memory.Bytes(), b.Memory.Bytes()
	t.Same(from[5000:5100], to[100:200])
	t.Same(from[:1], to[200:201])
	t.Same(from[77:276], to[201:400])
	require.Zero(t, to[99])
	require.Zero(t, to[400])
	t.Done(a.SendCQ, 1)
}

func writeImmediate(t *T) {
	t.Needs(ImmediateData)
	a, b := t.Pair(PairOptions{})
	const size = 100
	recvs := t.Recvs(1, 1)
	require.NoError(t, recvs.Set(0, 33, b.Memory.SGE(0, 50))) // which nothing is put into
	b.Expect(recvs)
	Fill(a.Slot(0, size), 1)
	sends := t.Sends(1, 1)
	to := b.Remote(1000, size)
	require.NoError(t, sends.SetRDMA(0, 4, ibv.WRRDMAWriteWithImm, ibv.SendSignaled, a.Memory.SGE(0, size), to.Addr, to.RKey))
	sends.WR(0).SetImmData(ibv.ToBE32(0xf0000001))
	a.Post(sends)
	wc := t.Done(b.RecvCQ, 1)[0]
	require.Equal(t, uint64(33), wc.WRID)
	require.Equal(t, ibv.WCRecvRDMAWithImm, wc.Opcode)
	require.NotZero(t, wc.WCFlags&ibv.WCWithImm)
	require.Equal(t, uint32(0xf0000001), wc.ImmData().Host())
	require.EqualValues(t, size, wc.ByteLen, "what was written")
	t.Same(make([]byte, 1000), b.Memory.Bytes()[:1000])
	t.Same(a.Slot(0, size), b.Memory.Bytes()[1000:1000+size])
	require.Equal(t, ibv.WCRDMAWrite, t.Done(a.SendCQ, 1)[0].Opcode)
}

func writeThenSend(t *T) {
	a, b := t.Pair(PairOptions{})
	const size = 4096
	b.Buffers(1, 8)
	Fill(a.Slot(0, size), 5)
	for i := range 3 {
		a.RDMA(uint64(i), ibv.WRRDMAWrite, 0, b.Remote(size*(1+i), size), a.Memory.SGE(0, size))
	}
	a.Send(3, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	t.Done(b.RecvCQ, 1)
	for i := range 3 {
		t.Same(a.Slot(0, size), b.Slot(1+i, size))
	}
	require.Equal(t, uint64(3), t.Done(a.SendCQ, 1)[0].WRID)
}

func read(t *T) {
	a, b := t.Pair(PairOptions{})
	const size = 500
	Fill(b.Memory.Bytes(), 9)
	a.RDMA(11, ibv.WRRDMARead, ibv.SendSignaled, b.Remote(1234, size), a.Memory.SGE(17, size))
	wc := t.Done(a.SendCQ, 1)[0]
	require.Equal(t, ibv.WCRDMARead, wc.Opcode)
	require.Equal(t, uint64(11), wc.WRID)
	require.EqualValues(t, size, wc.ByteLen)
	got := a.Memory.Bytes()
	t.Same(b.Memory.Bytes()[1234:1234+size], got[17:17+size])
	t.Same(make([]byte, 17), got[:17])
	t.Same(make([]byte, len(got)-17-size), got[17+size:])
	t.Quiet(b.RecvCQ)
}

func readScatters(t *T) {
	t.Needs(ReadsScatter)
	a, b := t.Pair(PairOptions{})
	Fill(b.Memory.Bytes(), 9)
	a.RDMA(11, ibv.WRRDMARead, ibv.SendSignaled, b.Remote(0, 1600), a.Memory.SGE(5000, 100), a.Memory.SGE(0, 1400), a.Memory.SGE(3000, 100))
	require.EqualValues(t, 1600, t.Done(a.SendCQ, 1)[0].ByteLen)
	got, from := a.Memory.Bytes(), b.Memory.Bytes()
	t.Same(from[:100], got[5000:5100])
	t.Same(from[100:1500], got[:1400])
	t.Same(from[1500:1600], got[3000:3100])
	require.Zero(t, got[1400])
}

func readManyPackets(t *T) {
	const size = 5*4096 + 77
	a, b := t.Pair(PairOptions{Memory: size})
	Fill(b.Memory.Bytes(), 2)
	a.RDMA(11, ibv.WRRDMARead, ibv.SendSignaled, b.Remote(0, size), a.Memory.SGE(0, size))
	require.EqualValues(t, size, t.Done(a.SendCQ, 1)[0].ByteLen)
	t.Same(b.Memory.Bytes(), a.Memory.Bytes())
}

func manyReads(t *T) {
	a, b := t.Pair(PairOptions{})
	const n, size = 8, 200
	Fill(b.Memory.Bytes(), 2)
	to := b.Remote(0, n*size)
	sends := t.Sends(n, 1)
	for i := range n {
		require.NoError(t, sends.SetRDMA(i, uint64(i), ibv.WRRDMARead, ibv.SendSignaled, a.Memory.SGE(i*size, size), to.Addr+uint64(i*size), to.RKey))
	}
	a.Post(sends)
	for i, wc := range t.Done(a.SendCQ, n) {
		require.Equal(t, uint64(i), wc.WRID)
	}
	t.Same(b.Memory.Bytes()[:n*size], a.Memory.Bytes()[:n*size])
}

func fence(t *T) {
	a, b := t.Pair(PairOptions{})
	const size = 4000
	b.Buffers(1, size)
	Fill(b.Slot(1, size), 2)
	to := b.Remote(size, size)
	sends := t.Sends(2, 1)
	require.NoError(t, sends.SetRDMA(0, 0, ibv.WRRDMARead, 0, a.Memory.SGE(0, size), to.Addr, to.RKey))
	require.NoError(t, sends.Set(1, 1, ibv.WRSend, ibv.SendSignaled|ibv.SendFence, a.Memory.SGE(0, size))) // what was read
	a.Post(sends)
	t.Done(b.RecvCQ, 1)
	t.Same(b.Slot(1, size), b.Slot(0, size))
	require.Equal(t, uint64(1), t.Done(a.SendCQ, 1)[0].WRID)
}

func emptyOperations(t *T) {
	a, b := t.Pair(PairOptions{})
	Fill(a.Memory.Bytes(), 1)
	Fill(b.Memory.Bytes(), 2)
	atA, atB := append([]byte(nil), a.Memory.Bytes()...), append([]byte(nil), b.Memory.Bytes()...)
	for _, opcode := range []ibv.WROpcode{ibv.WRRDMAWrite, ibv.WRRDMARead} {
		to := b.Remote(0, 0)
		to.RKey ^= 0x5500
		a.RDMA(uint64(opcode), opcode, ibv.SendSignaled, to)
		require.Equal(t, uint64(opcode), t.Done(a.SendCQ, 1)[0].WRID)
	}
	t.Same(atA, a.Memory.Bytes())
	t.Same(atB, b.Memory.Bytes())
}

// atomic does an atomic operation on 8 bytes at an offset of the peer's memory, and
// returns its completion and what was there before.
func (e *End) atomic(peer *End, opcode ibv.WROpcode, offset int, compareAdd, swap uint64) (wc ibv.WC, before uint64) {
	to := peer.Remote(offset, 8)
	sends := e.t.Sends(1, 1)
	require.NoError(e.t, sends.SetAtomic(0, 55, opcode, ibv.SendSignaled, e.Memory.SGE(64, 8), to.Addr, to.RKey, compareAdd, swap))
	e.Post(sends)
	return e.t.Poll(e.SendCQ, 1)[0], binary.NativeEndian.Uint64(e.Memory.Bytes()[64:])
}

func fetchAdd(t *T) {
	t.Needs(Atomics)
	a, b := t.Pair(PairOptions{})
	at := b.Memory.Bytes()[128:]
	binary.NativeEndian.PutUint64(at, math.MaxUint64-5)
	want := uint64(math.MaxUint64 - 5)
	for range 3 {
		wc, before := a.atomic(b, ibv.WRAtomicFetchAndAdd, 128, 4, 99)
		require.NoError(t, wc.Err())
		require.Equal(t, ibv.WCFetchAdd, wc.Opcode)
		require.EqualValues(t, 8, wc.ByteLen)
		require.Equal(t, want, before)
		want += 4
		require.Equal(t, want, binary.NativeEndian.Uint64(at))
	}
	t.Same(make([]byte, 128), b.Memory.Bytes()[:128])
	t.Same(make([]byte, 64), at[8:72])
}

func compareSwap(t *T) {
	t.Needs(Atomics)
	a, b := t.Pair(PairOptions{})
	at := b.Memory.Bytes()[256:]
	binary.NativeEndian.PutUint64(at, 0x0102030405060708)
	wc, before := a.atomic(b, ibv.WRAtomicCmpAndSwp, 256, 0x0102030405060709, 1)
	require.NoError(t, wc.Err())
	require.Equal(t, ibv.WCCompSwap, wc.Opcode)
	require.Equal(t, uint64(0x0102030405060708), before)
	require.Equal(t, uint64(0x0102030405060708), binary.NativeEndian.Uint64(at), "another value was expected")
	wc, before = a.atomic(b, ibv.WRAtomicCmpAndSwp, 256, 0x0102030405060708, 0xf1f2f3f4f5f6f7f8)
	require.NoError(t, wc.Err())
	require.Equal(t, uint64(0x0102030405060708), before)
	require.Equal(t, uint64(0xf1f2f3f4f5f6f7f8), binary.NativeEndian.Uint64(at))
}

func atomicUnaligned(t *T) {
	t.Needs(Atomics)
	a, b := t.Pair(PairOptions{})
	to := b.Remote(132, 8)
	sends := t.Sends(1, 1)
	require.NoError(t, sends.SetAtomic(0, 1, ibv.WRAtomicFetchAndAdd, ibv.SendSignaled, a.Memory.SGE(0, 8), to.Addr, to.RKey, 1, 0))
	// Who sees it first may say so: the provider at the post, or the peer.
	if _, err := a.PostSend(sends); err != nil {
		require.ErrorIs(t, err, syscall.EINVAL)
	} else {
		require.Equal(t, ibv.WCRemInvReqErr, t.Poll(a.SendCQ, 1)[0].Status)
	}
	t.Same(make([]byte, b.Memory.Len()), b.Memory.Bytes())
}

func inlineWrite(t *T) {
	a, b := t.Pair(PairOptions{Cap: ibv.QPCap{MaxInlineData: 32}})
	data := make([]byte, 32)
	Fill(data, 4)
	want := append([]byte(nil), data...)
	to := b.Remote(64, 32)
	sends := t.Sends(1, 1)
	require.NoError(t, sends.SetInline(0, 3, ibv.WRRDMAWrite, ibv.SendSignaled, data))
	*sends.WR(0).WR.RDMA() = ibv.SendWRWRRDMA{RemoteAddr: to.Addr, RKey: to.RKey}
	a.Post(sends)
	clear(data)
	require.Equal(t, ibv.WCRDMAWrite, t.Done(a.SendCQ, 1)[0].Opcode)
	all := b.Memory.Bytes()
	t.Until(func() bool { return b.word(88) == binary.NativeEndian.Uint64(want[24:]) }, "the last word")
	t.Same(want, all[64:96])
	t.Same(make([]byte, 64), all[:64])
}

func emptyWriteImmediate(t *T) {
	t.Needs(ImmediateData)
	a, b := t.Pair(PairOptions{})
	Fill(b.Slot(0, 64), 1)
	want := append([]byte(nil), b.Slot(0, 64)...)
	b.Buffers(1, 64)
	sends := t.Sends(1, 0)
	sends.WR(0).Opcode = ibv.WRRDMAWriteWithImm
	sends.WR(0).SetImmData(ibv.ToBE32(77))
	a.Post(sends)
	wc := t.Done(b.RecvCQ, 1)[0]
	require.Equal(t, ibv.WCRecvRDMAWithImm, wc.Opcode)
	require.Zero(t, wc.ByteLen)
	require.Equal(t, uint32(77), wc.ImmData().Host())
	t.Same(want, b.Slot(0, 64))
	t.Done(a.SendCQ, 1)
}

func writeImmediateUC(t *T) {
	t.Needs(UC, ImmediateData)
	a, b := t.Pair(PairOptions{Type: ibv.QPTUC})
	b.Buffers(1, 64)
	Fill(a.Memory.Bytes(), 1)
	to := b.Remote(4000, 5000)
	sends := t.Sends(1, 1)
	require.NoError(t, sends.SetRDMA(0, 4, ibv.WRRDMAWriteWithImm, ibv.SendSignaled, a.Memory.SGE(0, 5000), to.Addr, to.RKey))
	sends.WR(0).SetImmData(ibv.ToBE32(78))
	a.Post(sends)
	wc := t.Done(b.RecvCQ, 1)[0]
	require.Equal(t, ibv.WCRecvRDMAWithImm, wc.Opcode)
	require.EqualValues(t, 5000, wc.ByteLen)
	require.Equal(t, uint32(78), wc.ImmData().Host())
	t.Same(a.Memory.Bytes()[:5000], b.Memory.Bytes()[4000:9000])
	t.Done(a.SendCQ, 1)
}

func readsOutstanding(t *T) {
	t.Needs(Moves)
	device := t.Attr()
	outstanding := uint8(min(4, device.MaxQPRdAtom, device.MaxQPInitRdAtom))
	a, b := t.Pair(PairOptions{Move: func(_ int, attr *ibv.QPAttr) {
		attr.MaxRdAtomic, attr.MaxDestRdAtomic = outstanding, outstanding
	}})
	const n, size = 12, 1300
	Fill(b.Memory.Bytes(), 1)
	to := b.Remote(0, n*size)
	sends := t.Sends(n, 1)
	for i := range n {
		require.NoError(t, sends.SetRDMA(i, uint64(i), ibv.WRRDMARead, ibv.SendSignaled, a.Memory.SGE((n-1-i)*size, size), to.Addr+uint64(i*size), to.RKey))
	}
	a.Post(sends)
	for i, wc := range t.Done(a.SendCQ, n) {
		require.EqualValues(t, i, wc.WRID)
		t.Same(b.Slot(i, size), a.Slot(n-1-i, size))
	}
}

func readOnUC(t *T) {
	t.Needs(UC)
	a, b := t.Pair(PairOptions{Type: ibv.QPTUC})
	Fill(b.Memory.Bytes(), 1)
	to := b.Remote(0, 64)
	sends := t.Sends(1, 1)
	require.NoError(t, sends.SetRDMA(0, 1, ibv.WRRDMARead, ibv.SendSignaled, a.Memory.SGE(0, 64), to.Addr, to.RKey))
	// The provider says so at the post, or the completion does.
	if _, err := a.PostSend(sends); err == nil {
		require.Equal(t, t.Status(OwnStatus, ibv.WCLocQPOpErr), t.Poll(a.SendCQ, 1)[0].Status)
	}
	t.Same(make([]byte, a.Memory.Len()), a.Memory.Bytes())
}

func addUp(t *T) {
	t.Needs(Atomics)
	const pairs, n = 3, 10
	var into []*End
	shared := t.Region(64, 0)
	to, err := shared.Remote(8, 8)
	require.NoError(t, err)
	for range pairs {
		a, _ := t.Pair(PairOptions{Memory: 256})
		into = append(into, a)
	}
	for k, a := range into {
		sends := t.Sends(n, 1)
		for i := range n {
			require.NoError(t, sends.SetAtomic(i, uint64(i), ibv.WRAtomicFetchAndAdd, ibv.SendSignaled, a.Memory.SGE(8*i, 8), to.Addr, to.RKey, uint64(1)<<(16*k), 0))
		}
		a.Post(sends)
	}
	var want uint64
	for k, a := range into {
		t.Done(a.SendCQ, n)
		want += n << (16 * k)
		for i := range n { // each was there once
			before := binary.NativeEndian.Uint64(a.Memory.Bytes()[8*i:])
			require.EqualValues(t, i, before>>(16*k)&0xffff)
		}
	}
	require.Equal(t, want, binary.NativeEndian.Uint64(shared.Bytes()[8:]))
}

func noReads(t *T) {
	t.Needs(Moves)
	for _, opcode := range []ibv.WROpcode{ibv.WRRDMARead, ibv.WRAtomicFetchAndAdd} {
		if opcode == ibv.WRAtomicFetchAndAdd && t.Attr().AtomicCap == ibv.AtomicNone {
			continue
		}
		a, b := t.Pair(PairOptions{Move: func(end int, attr *ibv.QPAttr) {
			if end == 1 {
				attr.MaxDestRdAtomic = 0
			}
		}})
		Fill(b.Memory.Bytes(), 1)
		want := append([]byte(nil), b.Memory.Bytes()...)
		to := b.Remote(0, 8)
		sends := t.Sends(1, 1)
		require.NoError(t, sends.SetAtomic(0, 1, opcode, ibv.SendSignaled, a.Memory.SGE(0, 8), to.Addr, to.RKey, 1, 0))
		a.Post(sends)
		require.Equal(t, ibv.WCRemInvReqErr, t.Poll(a.SendCQ, 1)[0].Status)
		t.Same(make([]byte, 8), a.Memory.Bytes()[:8])
		t.Same(want, b.Memory.Bytes())
	}
}
