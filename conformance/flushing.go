package conformance

import (
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var flushing = []Scenario{
	{"flushing", "receives flush in order, each once", "ibv_modify_qp(3): IBV_QPS_ERR; IBTA 10.3.1, 10.7.3", flushReceives},
	{"flushing", "sends flush in order, each once, signalled or not", "IBTA 10.3.1, 10.8.3.2", flushSends},
	{"flushing", "what is behind a failure flushes", "IBTA 10.7.3.2, 11.6.2", flushBehind},
	{"flushing", "what is before a failure has been done", "IBTA 10.7.3", doneBefore},
	{"flushing", "both ends of a refused write fail", "IBTA 9.9.3, 10.3.1", bothFail},
	{"flushing", "queues on one completion queue flush each in order", "IBTA 10.3.1, 10.7.3", flushTogether},
	{"flushing", "posts in the error state flush", "ibv_post_send(3), ibv_post_recv(3); IBTA 10.3.1", flushPosted},
	{"flushing", "a reset drops what is outstanding", "ibv_modify_qp(3): IBV_QPS_RESET; IBTA 10.3.1", resetDrops},
	{"flushing", "a queue pair that failed works again after a reset", "IBTA 10.3.1", resetRevives},
}

// requireFlushed requires that so many were flushed, in order, and no more.
func (t *T) requireFlushed(wcs []ibv.WC, e *End, first int) {
	for i, wc := range wcs {
		require.Equal(t, ibv.WCWRFlushErr, wc.Status)
		require.EqualValues(t, first+i, wc.WRID)
		require.Equal(t, e.Number(), wc.QPNum)
	}
}

func flushReceives(t *T) {
	a, b := t.Pair(PairOptions{})
	b.Buffers(10, 64)
	a.Send(0, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	require.Zero(t, t.Done(b.RecvCQ, 1)[0].WRID)
	t.Done(a.SendCQ, 1)
	require.NoError(t, b.ToErr())
	t.requireFlushed(t.Poll(b.RecvCQ, 9), b, 1)
	t.Quiet(b.RecvCQ)
	t.Quiet(b.SendCQ)
}

func flushSends(t *T) {
	t.Needs(RNRRetry) // which keeps them from ending
	a, _ := t.Pair(PairOptions{})
	const n = 8
	sends := t.Sends(n, 1)
	for i := range n {
		flags := ibv.SendFlags(0)
		if i%2 == 0 {
			flags = ibv.SendSignaled
		}
		require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, flags, a.Memory.SGE(0, 8)))
	}
	a.Post(sends)
	require.NoError(t, a.ToErr())
	t.requireFlushed(t.Poll(a.SendCQ, n), a, 0)
	t.Quiet(a.SendCQ)
}

func flushBehind(t *T) {
	a, b := t.Pair(PairOptions{})
	const n = 5
	a.Buffers(3, 64)
	b.Buffers(3, 64)
	sends := t.Sends(n, 1)
	for i := range n {
		require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8)))
	}
	require.NoError(t, sends.Set(1, 1, ibv.WRSend, ibv.SendSignaled, outside(t, a)))
	a.Post(sends)
	require.Zero(t, t.Done(b.RecvCQ, 1)[0].WRID)
	wcs := t.Poll(a.SendCQ, 2)
	if wcs[0].Status != t.Status(OwnStatus, ibv.WCSuccess) {
		require.NoError(t, wcs[0].Err())
	}
	require.Equal(t, uint64(1), wcs[1].WRID)
	require.Equal(t, t.Status(OwnStatus, t.Status(SendRangeStatus, ibv.WCLocProtErr)), wcs[1].Status)
	if t.Differs(FlushItself) {
		t.Quiet(a.SendCQ)
		t.Quiet(a.RecvCQ)
		require.NoError(t, a.ToErr())
	}
	t.requireFlushed(t.Poll(a.SendCQ, n-2), a, 2)
	t.requireFlushed(t.Poll(a.RecvCQ, 3), a, 0)
	t.Quiet(a.SendCQ)
	t.Quiet(a.RecvCQ)
	if !t.provider.IWARP {
		state, err := a.State()
		require.NoError(t, err)
		require.Equal(t, ibv.QPSErr, state)
	}
}

func doneBefore(t *T) {
	t.Needs(Moves) // iWARP has no completion for what the peer refuses
	a, b := t.Pair(PairOptions{})
	const n, size = 4, 100
	Fill(a.Memory.Bytes(), 1)
	to := b.Remote(0, size)
	sends := t.Sends(n, 1)
	for i := range n - 1 {
		require.NoError(t, sends.SetRDMA(i, uint64(i), ibv.WRRDMAWrite, 0, a.Memory.SGE(i*size, size), to.Addr+uint64(i*size), to.RKey))
	}
	require.NoError(t, sends.SetRDMA(n-1, n-1, ibv.WRRDMAWrite, 0, a.Memory.SGE(0, size), to.Addr, to.RKey^0x5500))
	a.Post(sends)
	wc := t.Poll(a.SendCQ, 1)[0] // which a failure has, signalled or not
	require.EqualValues(t, n-1, wc.WRID)
	require.Equal(t, ibv.WCRemAccessErr, wc.Status)
	t.Same(a.Memory.Bytes()[:(n-1)*size], b.Memory.Bytes()[:(n-1)*size])
	t.Quiet(a.SendCQ)
}

func flushPosted(t *T) {
	a, _ := t.Pair(PairOptions{})
	require.NoError(t, a.ToErr())
	a.Buffers(3, 64)
	sends := t.Sends(3, 1)
	for i := range 3 {
		require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, 0, a.Memory.SGE(0, 8)))
	}
	a.Post(sends)
	if t.Differs(FlushInError) || t.Differs(FlushEver) {
		require.NoError(t, a.ToErr())
	}
	if t.Differs(FlushEver) {
		t.Quiet(a.RecvCQ)
		t.Quiet(a.SendCQ)
		return
	}
	t.requireFlushed(t.Poll(a.RecvCQ, 3), a, 0)
	t.requireFlushed(t.Poll(a.SendCQ, 3), a, 0)
	t.Quiet(a.RecvCQ)
	t.Quiet(a.SendCQ)
}

func resetDrops(t *T) {
	t.Needs(Moves)
	a, b := t.Pair(PairOptions{})
	a.Buffers(5, 64)
	for i := range 3 {
		a.Send(uint64(i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8)) // which wait for receives
	}
	require.NoError(t, a.ToReset())
	b.Buffers(5, 64)
	t.Quiet(a.RecvCQ)
	t.Quiet(a.SendCQ)
	t.Quiet(b.RecvCQ)
}

func resetRevives(t *T) {
	t.Needs(Moves)
	opts := PairOptions{}
	a, b := t.Pair(opts)
	const size = 64
	for range 3 {
		b.Buffers(4, size)
		Fill(a.Slot(0, size), 1)
		clear(b.Slot(0, size))
		a.Send(1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, size))
		require.Zero(t, t.Done(b.RecvCQ, 1)[0].WRID)
		t.Same(a.Slot(0, size), b.Slot(0, size))
		t.Done(a.SendCQ, 1)
		for _, e := range []*End{a, b} {
			require.NoError(t, e.ToErr())
			require.NoError(t, e.ToReset())
			require.NoError(t, e.ToInit(t.GID().PortNum, t.All()))
		}
		wcs := make([]ibv.WC, 4) // what was flushed meanwhile
		_, err := b.RecvCQ.Poll(wcs)
		require.NoError(t, err)
		t.Connect(a, b, opts)
	}
}

func bothFail(t *T) {
	t.Needs(Moves)
	a, b := t.Pair(PairOptions{})
	a.Buffers(2, 64)
	b.Buffers(2, 64)
	to := b.Remote(0, 8)
	to.RKey ^= 0x5500
	a.RDMA(1, ibv.WRRDMAWrite, ibv.SendSignaled, to, a.Memory.SGE(0, 8))
	require.Equal(t, ibv.WCRemAccessErr, t.Poll(a.SendCQ, 1)[0].Status)
	for _, e := range []*End{a, b} {
		t.requireFlushed(t.Poll(e.RecvCQ, 2), e, 0)
		state, err := e.State()
		require.NoError(t, err)
		require.Equal(t, ibv.QPSErr, state)
	}
}

func flushTogether(t *T) {
	t.Needs(RNRRetry)
	cq := t.CQ(64, rdma.CQOptions{NoChannel: true})
	a, _ := t.Pair(PairOptions{Make: func(end int, opts *rdma.QPOptions) {
		if end == 0 {
			opts.SendCQ, opts.RecvCQ = cq, cq
		}
	}})
	recvs := t.Recvs(5, 1)
	sends := t.Sends(5, 1)
	for i := range 5 {
		require.NoError(t, recvs.Set(i, uint64(100+i), a.Memory.SGE(0, 8)))
		require.NoError(t, sends.Set(i, uint64(200+i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8)))
	}
	a.Expect(recvs)
	a.Post(sends)
	require.NoError(t, a.ToErr())
	next := [2]uint64{100, 200}
	for _, wc := range t.Poll(cq, 10) {
		require.Equal(t, ibv.WCWRFlushErr, wc.Status)
		queue := wc.WRID/100 - 1
		require.Equal(t, next[queue], wc.WRID)
		next[queue]++
	}
	t.Quiet(cq)
}
