package conformance

import (
	"cmp"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var messages = []Scenario{
	{"messages", "RC sends arrive in order", "ibv_post_send(3), ibv_post_recv(3); IBTA 9.7.2", sendsInOrder(ibv.QPTRC)},
	{"messages", "UC sends arrive in order", "ibv_post_send(3), ibv_post_recv(3); IBTA 9.8", sendsInOrder(ibv.QPTUC)},
	{"messages", "both ends send at once", "IBTA 9.7", bothSend},
	{"messages", "immediate data arrives beside a message", "ibv_post_send(3), ibv_poll_cq(3); IBTA 9.2.4", sendImmediate(ibv.QPTRC)},
	{"messages", "immediate data arrives beside a message on UC", "ibv_post_send(3), ibv_poll_cq(3); IBTA 9.2.4", sendImmediate(ibv.QPTUC)},
	{"messages", "a message of many packets stays whole", "IBTA 9.7.2, 9.4.1", manyPackets(ibv.QPTRC)},
	{"messages", "a message of many packets stays whole on UC", "IBTA 9.8.2", manyPackets(ibv.QPTUC)},
	{"messages", "entries are gathered and scattered in order", "ibv_post_send(3), ibv_post_recv(3); IBTA 10.2.7", gatherScatter},
	{"messages", "an empty message uses up a receive", "IBTA 9.4.1, RFC 5040 3.1", emptyMessage},
	{"messages", "receives without entries take empty messages", "ibv_post_recv(3); IBTA 10.8.3", emptyReceive},
	{"messages", "inline data may change after the post", "ibv_post_send(3): IBV_SEND_INLINE", inlineData},
	{"messages", "what is not signalled does not complete", "ibv_post_send(3): IBV_SEND_SIGNALED; IBTA 10.7.3.1", unsignalled},
	{"messages", "sq_sig_all signals all", "ibv_create_qp(3): sq_sig_all", signalAll},
	{"messages", "queues go around many times", "ibv_post_send(3), ibv_post_recv(3)", aroundTheQueue},
	{"messages", "an empty message has immediate data", "ibv_post_send(3); IBTA 9.2.4, 9.4.1", emptyImmediate},
	{"messages", "a message fills its receive to the last byte", "ibv_post_recv(3); IBTA 9.7.4.1.6", exactFit},
	{"messages", "inline data is gathered, whatever its lkeys", "ibv_post_send(3): IBV_SEND_INLINE", inlineGathered},
	{"messages", "what a region may not write it may still send", "ibv_reg_mr(3): local read is always there", sendReadOnly},
	{"messages", "hundreds of messages of many lengths", "ibv_post_send(3), ibv_poll_cq(3); IBTA 9.7.2", stream},
}

func sendsInOrder(typ ibv.QPType) func(t *T) {
	return func(t *T) {
		t.Needs(typeProperty(typ)...)
		a, b := t.Pair(PairOptions{Type: typ})
		const n, size = 8, 512
		b.Buffers(n, size)
		sends := t.Sends(n, 1)
		for i := range n {
			Fill(a.Slot(i, size), i)
			require.NoError(t, sends.Set(i, uint64(100+i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(i*size, size-i)))
		}
		a.Post(sends)
		for i, wc := range t.Done(b.RecvCQ, n) {
			require.Equal(t, uint64(i), wc.WRID)
			require.Equal(t, ibv.WCRecv, wc.Opcode)
			require.EqualValues(t, size-i, wc.ByteLen)
			require.Equal(t, b.Number(), wc.QPNum)
			require.Zero(t, wc.WCFlags&ibv.WCWithImm)
			t.Same(a.Slot(i, size)[:size-i], b.Slot(i, size)[:size-i])
			t.Same(make([]byte, i), b.Slot(i, size)[size-i:], "behind the message")
		}
		for i, wc := range t.Done(a.SendCQ, n) {
			require.Equal(t, uint64(100+i), wc.WRID)
			require.Equal(t, ibv.WCSend, wc.Opcode)
			require.Equal(t, a.Number(), wc.QPNum)
		}
		t.Quiet(a.RecvCQ)
		t.Quiet(b.SendCQ)
	}
}

func bothSend(t *T) {
	a, b := t.Pair(PairOptions{})
	const n, size = 6, 256
	ends := []*End{a, b}
	for k, e := range ends {
		e.Buffers(n, size)
		for i := range n {
			Fill(e.Slot(n+i, size), 10*k+i)
		}
	}
	for _, e := range ends {
		sends := t.Sends(n, 1)
		for i := range n {
			require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, e.Memory.SGE((n+i)*size, size)))
		}
		e.Post(sends)
	}
	for k, e := range ends {
		for i, wc := range t.Done(e.RecvCQ, n) {
			require.Equal(t, uint64(i), wc.WRID)
			t.Same(ends[1-k].Slot(n+i, size), e.Slot(i, size))
		}
		t.Done(e.SendCQ, n)
	}
}

func sendImmediate(typ ibv.QPType) func(t *T) {
	return func(t *T) {
		t.Needs(append(typeProperty(typ), ImmediateData)...)
		a, b := t.Pair(PairOptions{Type: typ})
		const size = 64
		b.Buffers(2, size)
		Fill(a.Slot(0, size), 1)
		sends := t.Sends(2, 1)
		require.NoError(t, sends.Set(0, 1, ibv.WRSendWithImm, ibv.SendSignaled, a.Memory.SGE(0, size)))
		sends.WR(0).SetImmData(ibv.ToBE32(0x01020384))
		require.NoError(t, sends.Set(1, 2, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, size)))
		a.Post(sends)
		wcs := t.Done(b.RecvCQ, 2)
		require.Equal(t, ibv.WCRecv, wcs[0].Opcode)
		require.NotZero(t, wcs[0].WCFlags&ibv.WCWithImm)
		require.Equal(t, uint32(0x01020384), wcs[0].ImmData().Host())
		t.Same(a.Slot(0, size), b.Slot(0, size))
		require.Zero(t, wcs[1].WCFlags&ibv.WCWithImm, "the next message has none")
		t.Done(a.SendCQ, 2)
	}
}

func manyPackets(typ ibv.QPType) func(t *T) {
	return func(t *T) {
		t.Needs(typeProperty(typ)...)
		const size = 5*4096 + 333 // more than four packets, whatever the MTU
		a, b := t.Pair(PairOptions{Type: typ, Memory: 2 * size})
		b.Buffers(2, size)
		Fill(a.Slot(0, size), 1)
		Fill(a.Slot(1, size), 2)
		a.Send(1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, size))
		a.Send(2, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(size, size-1))
		wcs := t.Done(b.RecvCQ, 2)
		require.EqualValues(t, size, wcs[0].ByteLen)
		require.EqualValues(t, size-1, wcs[1].ByteLen)
		t.Same(a.Slot(0, size), b.Slot(0, size))
		t.Same(a.Slot(1, size)[:size-1], b.Slot(1, size)[:size-1])
		require.Zero(t, b.Slot(1, size)[size-1], "behind the message")
		t.Done(a.SendCQ, 2)
	}
}

func gatherScatter(t *T) {
	a, b := t.Pair(PairOptions{})
	Fill(a.Memory.Bytes(), 1)
	recvs := t.Recvs(1, 3)
	require.NoError(t, recvs.Set(0, 1, b.Memory.SGE(900, 1), b.Memory.SGE(100, 50), b.Memory.SGE(300, 200)))
	b.Expect(recvs)
	a.Send(1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(2000, 100), a.Memory.SGE(17, 3), a.Memory.SGE(1000, 0x40), a.Memory.SGE(0, 1))
	wc := t.Done(b.RecvCQ, 1)[0]
	var sent []byte
	from := a.Memory.Bytes()
	sent = append(append(append(append(sent, from[2000:2100]...), from[17:20]...), from[1000:1064]...), from[0])
	require.EqualValues(t, len(sent), wc.ByteLen)
	want := make([]byte, b.Memory.Len())
	want[900] = sent[0]
	copy(want[100:150], sent[1:])
	copy(want[300:500], sent[51:])
	t.Same(want, b.Memory.Bytes())
	t.Done(a.SendCQ, 1)
}

func emptyMessage(t *T) {
	a, b := t.Pair(PairOptions{})
	Fill(b.Memory.Bytes(), 3)
	before := append([]byte(nil), b.Memory.Bytes()...)
	b.Buffers(1, 64)
	a.Send(5, ibv.WRSend, ibv.SendSignaled)
	wc := t.Done(b.RecvCQ, 1)[0]
	require.Zero(t, wc.ByteLen)
	require.Equal(t, ibv.WCRecv, wc.Opcode)
	require.Equal(t, uint64(5), t.Done(a.SendCQ, 1)[0].WRID)
	t.Same(before, b.Memory.Bytes())
}

func emptyReceive(t *T) {
	a, b := t.Pair(PairOptions{})
	recvs := t.Recvs(1, 0)
	recvs.WR(0).WRID = 9
	if t.Differs(EmptyReceives) {
		_, err := b.PostRecv(recvs)
		require.Error(t, err)
		return
	}
	b.Expect(recvs)
	a.Send(5, ibv.WRSend, ibv.SendSignaled)
	wc := t.Done(b.RecvCQ, 1)[0]
	require.Zero(t, wc.ByteLen)
	require.Equal(t, uint64(9), wc.WRID)
	t.Done(a.SendCQ, 1)
}

func inlineData(t *T) {
	const size = 32
	a, b := t.Pair(PairOptions{Cap: ibv.QPCap{MaxInlineData: size}})
	require.GreaterOrEqual(t, a.Cap().MaxInlineData, uint32(size))
	b.Buffers(2, size)
	data := make([]byte, size) // which is not registered
	Fill(data, 7)
	want := append([]byte(nil), data...)
	sends := t.Sends(1, 1)
	for i := range 2 {
		copy(data, want)
		require.NoError(t, sends.SetInline(0, 3, ibv.WRSend, ibv.SendSignaled, data))
		a.Post(sends)
		clear(data)
		require.Equal(t, uint64(i), t.Done(b.RecvCQ, 1)[0].WRID)
		t.Same(want, b.Slot(i, size))
		require.Equal(t, uint64(3), t.Done(a.SendCQ, 1)[0].WRID)
	}
}

func unsignalled(t *T) {
	a, b := t.Pair(PairOptions{})
	const n, size = 6, 16
	b.Buffers(n, size)
	sends := t.Sends(n, 1)
	for i := range n {
		flags := ibv.SendFlags(0)
		if i%3 == 2 {
			flags = ibv.SendSignaled
		}
		require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, flags, a.Memory.SGE(0, size)))
	}
	a.Post(sends)
	t.Done(b.RecvCQ, n)
	wcs := t.Done(a.SendCQ, n/3)
	require.Equal(t, uint64(2), wcs[0].WRID)
	require.Equal(t, uint64(5), wcs[1].WRID)
	t.Quiet(a.SendCQ)
}

func signalAll(t *T) {
	a, b := t.Pair(PairOptions{Make: func(_ int, opts *rdma.QPOptions) { opts.SignalAll = true }})
	const n, size = 4, 16
	b.Buffers(n, size)
	sends := t.Sends(n, 1)
	for i := range n {
		require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, 0, a.Memory.SGE(0, size)))
	}
	a.Post(sends)
	for i, wc := range t.Done(a.SendCQ, n) {
		require.Equal(t, uint64(i), wc.WRID)
	}
	t.Done(b.RecvCQ, n)
}

func aroundTheQueue(t *T) {
	a, b := t.Pair(PairOptions{Cap: ibv.QPCap{MaxSendWR: 3, MaxRecvWR: 3}})
	const size = 24
	for i := range 40 {
		n := cmp.Or(i%4, 2)
		b.Buffers(n, size)
		sends := t.Sends(n, 1)
		for k := range n {
			Fill(a.Slot(k, size), i+k)
			require.NoError(t, sends.Set(k, uint64(10*i+k), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(k*size, size)))
		}
		a.Post(sends)
		for k, wc := range t.Done(b.RecvCQ, n) {
			require.Equal(t, uint64(k), wc.WRID)
			t.Same(a.Slot(k, size), b.Slot(k, size))
		}
		for k, wc := range t.Done(a.SendCQ, n) {
			require.Equal(t, uint64(10*i+k), wc.WRID)
		}
	}
}

func emptyImmediate(t *T) {
	t.Needs(ImmediateData)
	a, b := t.Pair(PairOptions{})
	b.Buffers(1, 64)
	sends := t.Sends(1, 0)
	sends.WR(0).Opcode = ibv.WRSendWithImm
	sends.WR(0).SetImmData(ibv.ToBE32(0xffffffff))
	a.Post(sends)
	wc := t.Done(b.RecvCQ, 1)[0]
	require.Zero(t, wc.ByteLen)
	require.NotZero(t, wc.WCFlags&ibv.WCWithImm)
	require.Equal(t, uint32(0xffffffff), wc.ImmData().Host())
	t.Done(a.SendCQ, 1)
}

func exactFit(t *T) {
	a, b := t.Pair(PairOptions{})
	Fill(a.Memory.Bytes(), 1)
	end := b.Memory.Len()
	recvs := t.Recvs(2, 2)
	require.NoError(t, recvs.Set(0, 0, b.Memory.SGE(end-1300, 1300))) // to the region's last byte
	require.NoError(t, recvs.Set(1, 1, b.Memory.SGE(100, 1), b.Memory.SGE(0, 99)))
	b.Expect(recvs)
	a.Send(0, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 1300))
	a.Send(1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(500, 100))
	wcs := t.Done(b.RecvCQ, 2)
	require.EqualValues(t, 1300, wcs[0].ByteLen)
	require.EqualValues(t, 100, wcs[1].ByteLen)
	from, to := a.Memory.Bytes(), b.Memory.Bytes()
	t.Same(from[:1300], to[end-1300:])
	t.Same(from[500:501], to[100:101])
	t.Same(from[501:600], to[:99])
	t.Done(a.SendCQ, 2)
}

func inlineGathered(t *T) {
	a, b := t.Pair(PairOptions{Cap: ibv.QPCap{MaxInlineData: 60}})
	b.Buffers(1, 64)
	Fill(a.Memory.Bytes(), 1)
	sges := []ibv.SGE{a.Memory.SGE(10, 20), a.Memory.SGE(100, 5), a.Memory.SGE(50, 30)}
	for i := range sges {
		sges[i].LKey = uint32(i)
	}
	a.Send(1, ibv.WRSend, ibv.SendSignaled|ibv.SendInline, sges...)
	require.EqualValues(t, 55, t.Done(b.RecvCQ, 1)[0].ByteLen)
	from, to := a.Memory.Bytes(), b.Memory.Bytes()
	t.Same(from[10:30], to[:20])
	t.Same(from[100:105], to[20:25])
	t.Same(from[50:80], to[25:55])
	t.Done(a.SendCQ, 1)
}

func sendReadOnly(t *T) {
	a, b := t.Pair(PairOptions{})
	b.Buffers(1, 64)
	region := t.Region(64, ibv.AccessRemoteRead)
	Fill(region.Bytes(), 1)
	a.Send(1, ibv.WRSend, ibv.SendSignaled, region.SGE(0, 64))
	t.Done(b.RecvCQ, 1)
	t.Same(region.Bytes(), b.Slot(0, 64))
	t.Done(a.SendCQ, 1)
}

func stream(t *T) {
	a, b := t.Pair(PairOptions{Memory: 8 * 2000})
	const rounds, n, size = 50, 8, 2000
	sends := t.Sends(n, 1)
	for round := range rounds {
		b.Buffers(n, size)
		for i := range n {
			k := round*n + i
			Fill(a.Slot(i, size), k)
			flags := ibv.SendFlags(0)
			if i == n-1 {
				flags = ibv.SendSignaled
			}
			require.NoError(t, sends.Set(i, uint64(k), ibv.WRSend, flags, a.Memory.SGE(i*size, k*37%size)))
		}
		a.Post(sends)
		for i, wc := range t.Done(b.RecvCQ, n) {
			length := (round*n + i) * 37 % size
			require.EqualValues(t, i, wc.WRID)
			require.EqualValues(t, length, wc.ByteLen)
			t.Same(a.Slot(i, size)[:length], b.Slot(i, size)[:length])
		}
		require.EqualValues(t, round*n+n-1, t.Done(a.SendCQ, 1)[0].WRID)
	}
	t.Quiet(a.SendCQ)
	t.Quiet(b.RecvCQ)
}
