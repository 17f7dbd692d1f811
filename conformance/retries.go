package conformance

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

var retries = []Scenario{
	{"retries", "rnr_retry 0 fails at once", "ibv_modify_qp(3): rnr_retry; IBTA 9.7.5.2.8", rnrZero},
	{"retries", "rnr_retry 3 fails after some time", "ibv_modify_qp(3): rnr_retry, min_rnr_timer; IBTA 9.7.5.2.8", rnrThree},
	{"retries", "a receive that comes in time is found", "ibv_modify_qp(3): rnr_retry, min_rnr_timer; IBTA 9.7.5.2.8", rnrInTime},
	{"retries", "rnr_retry 7 never fails", "ibv_modify_qp(3): rnr_retry; IBTA 9.7.5.2.8", rnrSeven},
	{"retries", "what waits for a receive stays in order", "IBTA 9.7.2, 9.7.5.2.8", rnrOrder},
	{"retries", "a write with immediate data waits for a receive", "IBTA 9.7.5.2.8, 9.4.3", rnrWrite},
	{"retries", "a message that finds no receive waits for it, or ends an iWARP connection", "IBTA 9.7.5.2.8; RFC 5041 7.1", findsNone},
	{"retries", "UC drops what finds no receive", "IBTA 9.8.2.2", unreliable},
	{"retries", "a peer that is gone is told of", "ibv_modify_qp(3): timeout, retry_cnt; IBTA 9.7.6.1", gone},
	{"retries", "timeout 0 waits for ever", "ibv_modify_qp(3): timeout; IBTA 9.7.6.1.3", forEver},
	{"retries", "a peer in RESET does not answer", "ibv_modify_qp(3); IBTA 10.3.1, 9.7.6.1", silent},
}

// rnr is a pair with so many RNR retries, and a timer as C encodes it.
func (t *T) rnr(retries, timer uint8) (a, b *End) {
	t.Needs(RNRRetry)
	return t.Pair(PairOptions{Move: func(_ int, attr *ibv.QPAttr) { attr.RNRRetry, attr.MinRNRTimer = retries, timer }})
}

const shortestRNR = 1 // 0.01 ms

// requireRNR sends what finds no receive, until that fails.
func (t *T) requireRNR(a *End) time.Duration {
	start := time.Now()
	a.Send(6, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	wc := t.Poll(a.SendCQ, 1)[0]
	require.Equal(t, ibv.WCRNRRetryExcErr, wc.Status)
	require.Equal(t, uint64(6), wc.WRID)
	return time.Since(start)
}

func rnrZero(t *T) {
	a, b := t.rnr(0, shortestRNR)
	t.requireRNR(a)
	b.Buffers(1, 64)
	t.Quiet(b.RecvCQ)
}

func rnrThree(t *T) {
	a, _ := t.rnr(3, shortestRNR)
	t.requireRNR(a)
}

func rnrInTime(t *T) {
	const longer = 23 // 31 ms, of which there are six
	a, b := t.rnr(6, longer)
	a.Send(6, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	t.Quiet(a.SendCQ)
	b.Buffers(1, 64)
	t.Done(b.RecvCQ, 1)
	t.Done(a.SendCQ, 1)
}

func rnrSeven(t *T) {
	a, _ := t.rnr(1, shortestRNR)
	short := t.requireRNR(a)
	a, b := t.rnr(7, shortestRNR)
	a.Send(6, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	time.Sleep(5 * short) // in which seven times would be over
	t.Quiet(a.SendCQ)
	b.Buffers(1, 64)
	t.Done(b.RecvCQ, 1)
	t.Done(a.SendCQ, 1)
}

func rnrOrder(t *T) {
	a, b := t.rnr(7, shortestRNR)
	const n, size = 6, 32
	b.Buffers(2, size)
	sends := t.Sends(n, 1)
	for i := range n {
		Fill(a.Slot(i, size), i)
		require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(i*size, size)))
	}
	a.Post(sends)
	t.Done(b.RecvCQ, 2)
	for i := 2; i < n; i++ {
		recvs := t.Recvs(1, 1)
		require.NoError(t, recvs.Set(0, uint64(i), b.Memory.SGE(i*size, size)))
		b.Expect(recvs)
	}
	for i, wc := range t.Done(b.RecvCQ, n-2) {
		require.EqualValues(t, 2+i, wc.WRID)
	}
	t.Same(a.Memory.Bytes()[:n*size], b.Memory.Bytes()[:n*size])
	for i, wc := range t.Done(a.SendCQ, n) {
		require.EqualValues(t, i, wc.WRID)
	}
}

func unreliable(t *T) {
	t.Needs(UC)
	a, b := t.Pair(PairOptions{Type: ibv.QPTUC})
	Fill(a.Memory.Bytes(), 1)
	a.Send(1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 10))
	t.Done(a.SendCQ, 1)
	a.RDMA(2, ibv.WRRDMAWrite, ibv.SendSignaled, b.Remote(1000, 16), a.Memory.SGE(0, 16))
	t.Done(a.SendCQ, 1)
	t.Until(func() bool { return b.word(1008) == a.word(8) }, "the write behind it")
	b.Buffers(2, 64)
	a.Send(3, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(100, 20))
	require.EqualValues(t, 20, t.Done(b.RecvCQ, 1)[0].ByteLen, "the second message")
	t.Done(a.SendCQ, 1)
	t.Quiet(b.RecvCQ)
}

// impatient is attributes by which a peer that does not answer is given up soon.
func impatient(_ int, attr *ibv.QPAttr) { attr.Timeout, attr.RetryCnt = 8, 1 } // 1 ms, once more

func gone(t *T) {
	a, b := t.Pair(PairOptions{Move: impatient})
	a.Buffers(1, 64)
	require.NoError(t, b.Close())
	if t.Differs(Retries) {
		t.requireFlushed(t.Poll(a.RecvCQ, 1), a, 0)
		return
	}
	a.Send(6, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	a.Send(7, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	wcs := t.Poll(a.SendCQ, 2)
	require.Equal(t, ibv.WCRetryExcErr, wcs[0].Status)
	t.requireFlushed(wcs[1:], a, 7)
	t.requireFlushed(t.Poll(a.RecvCQ, 1), a, 0)
}

func silent(t *T) {
	t.Needs(Moves)
	a, b := t.Pair(PairOptions{Move: impatient})
	require.NoError(t, b.ToReset())
	a.RDMA(6, ibv.WRRDMAWrite, ibv.SendSignaled, b.Remote(0, 8), a.Memory.SGE(0, 8))
	require.Equal(t, ibv.WCRetryExcErr, t.Poll(a.SendCQ, 1)[0].Status)
}

func rnrWrite(t *T) {
	t.Needs(ImmediateData)
	a, b := t.rnr(7, shortestRNR)
	Fill(a.Slot(0, 64), 1)
	sends := t.Sends(1, 1)
	to := b.Remote(0, 64)
	require.NoError(t, sends.SetRDMA(0, 1, ibv.WRRDMAWriteWithImm, ibv.SendSignaled, a.Memory.SGE(0, 64), to.Addr, to.RKey))
	a.Post(sends)
	t.Quiet(a.SendCQ)
	b.Buffers(1, 64)
	require.Equal(t, ibv.WCRecvRDMAWithImm, t.Done(b.RecvCQ, 1)[0].Opcode)
	t.Same(a.Slot(0, 64), b.Slot(0, 64))
	t.Done(a.SendCQ, 1)
}

func forEver(t *T) {
	t.Needs(Moves)
	start := time.Now()
	a, b := t.Pair(PairOptions{Move: impatient})
	require.NoError(t, b.ToReset())
	a.Send(6, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	require.Equal(t, ibv.WCRetryExcErr, t.Poll(a.SendCQ, 1)[0].Status)
	short := time.Since(start)
	a, b = t.Pair(PairOptions{Move: func(_ int, attr *ibv.QPAttr) { attr.Timeout, attr.RetryCnt = 0, 1 }})
	require.NoError(t, b.ToReset())
	a.Send(7, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	time.Sleep(2 * short)
	t.Quiet(a.SendCQ)
	require.NoError(t, a.ToErr())
	t.requireFlushed(t.Poll(a.SendCQ, 1), a, 7)
}

func findsNone(t *T) {
	a, b := t.Pair(PairOptions{})
	a.Buffers(2, 64)
	a.Send(1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	if t.Differs(RNRRetry) {
		t.requireFlushed(t.Poll(a.RecvCQ, 2), a, 0)
		return
	}
	t.Quiet(a.SendCQ)
	b.Buffers(1, 64)
	t.Done(b.RecvCQ, 1)
	t.Done(a.SendCQ, 1)
	t.Quiet(a.RecvCQ)
}
