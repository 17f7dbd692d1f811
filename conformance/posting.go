package conformance

import (
	"sync"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var posting = []Scenario{
	{"posting", "receives before a refused one are posted, and posting goes on", "ibv_post_recv(3): bad_wr", resumeReceives},
	{"posting", "sends before a refused one are posted, and posting goes on", "ibv_post_send(3): bad_wr", resumeSends},
	{"posting", "a full receive queue refuses and loses nothing", "ibv_post_recv(3), ibv_create_qp(3): cap", fullReceives},
	{"posting", "a full send queue refuses and loses nothing", "ibv_post_send(3), ibv_create_qp(3): cap", fullSends},
	{"posting", "receives are refused in RESET", "ibv_post_recv(3); IBTA 10.3.1", receiveInReset},
	{"posting", "receives are taken in INIT, and filled later", "ibv_post_recv(3); IBTA 10.3.1", receiveInInit},
	{"posting", "sends are refused before RTS", "ibv_post_send(3); IBTA 10.3.1", sendTooEarly},
	{"posting", "many goroutines post at once", "ibv_post_send(3), ibv_post_recv(3): threads", manyPost},
	{"posting", "more inline data than there is room for is refused", "ibv_post_send(3), ibv_create_qp(3): max_inline_data", tooMuchInline},
	{"posting", "a part of a chain, and then all of it", "ibv_post_recv(3), ibv_post_send(3): next", partAndWhole},
	{"posting", "a chain is the caller's again after its post", "ibv_post_recv(3), ibv_post_send(3)", chainIsFree},
}

// tooMany is more entries than any work request of the device's may have.
func (t *T) tooMany(e *End) []ibv.SGE {
	sges := make([]ibv.SGE, t.Attr().MaxSGE+1)
	for i := range sges {
		sges[i] = e.Memory.SGE(0, 1)
	}
	return sges
}

func resumeReceives(t *T) {
	a, b := t.Pair(PairOptions{})
	const n, size = 6, 32
	wrong := t.tooMany(b)
	recvs := t.Recvs(n, len(wrong))
	for at := range n {
		for i := range n {
			require.NoError(t, recvs.Set(i, uint64(i), b.Memory.SGE(i*size, size)))
		}
		require.NoError(t, recvs.Set(at, 99, wrong...))
		accepted, err := b.PostRecv(recvs)
		require.Error(t, err)
		require.Equal(t, at, accepted)
		require.NoError(t, recvs.Set(at, uint64(at), b.Memory.SGE(at*size, size)))
		accepted, err = b.PostRecvRange(recvs, at, n)
		require.NoError(t, err)
		require.Equal(t, n-at, accepted)
		for i := range n {
			a.Send(uint64(i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, size))
		}
		for i, wc := range t.Done(b.RecvCQ, n) {
			require.EqualValues(t, i, wc.WRID)
		}
		t.Done(a.SendCQ, n)
	}
}

func resumeSends(t *T) {
	a, b := t.Pair(PairOptions{})
	const n, size = 5, 32
	wrong := t.tooMany(a)
	sends := t.Sends(n, len(wrong))
	for at := range n {
		b.Buffers(n, size)
		for i := range n {
			require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, i+1)))
		}
		require.NoError(t, sends.Set(at, 99, ibv.WRSend, ibv.SendSignaled, wrong...))
		accepted, err := a.PostSend(sends)
		require.Error(t, err)
		require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
		require.Equal(t, at, accepted)
		require.NoError(t, sends.Set(at, uint64(at), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, at+1)))
		accepted, err = a.PostSendRange(sends, at, n)
		require.NoError(t, err)
		require.Equal(t, n-at, accepted)
		for i, wc := range t.Done(b.RecvCQ, n) {
			require.EqualValues(t, i+1, wc.ByteLen)
		}
		for i, wc := range t.Done(a.SendCQ, n) {
			require.EqualValues(t, i, wc.WRID)
		}
	}
}

func fullReceives(t *T) {
	for _, depth := range []uint32{1, 5, 16} {
		a, b := t.Pair(PairOptions{Cap: ibv.QPCap{MaxRecvWR: depth}})
		recvs := t.Recvs(4*int(depth)+4, 1)
		for i := range recvs.Len() {
			require.NoError(t, recvs.Set(i, uint64(i), b.Memory.SGE(0, 8)))
		}
		accepted, err := b.PostRecv(recvs)
		require.ErrorIs(t, err, syscall.ENOMEM)
		require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
		require.GreaterOrEqual(t, accepted, int(b.Cap().MaxRecvWR))
		none, err := b.PostRecvRange(recvs, accepted, recvs.Len())
		require.ErrorIs(t, err, syscall.ENOMEM)
		require.Zero(t, none)
		// One that is used up makes room for one.
		a.Send(1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
		require.Zero(t, t.Done(b.RecvCQ, 1)[0].WRID)
		one, err := b.PostRecvRange(recvs, accepted, recvs.Len())
		require.ErrorIs(t, err, syscall.ENOMEM)
		require.Equal(t, 1, one)
		require.NoError(t, b.ToErr())
		t.requireFlushed(t.Poll(b.RecvCQ, accepted), b, 1)
		t.Quiet(b.RecvCQ)
	}
}

func fullSends(t *T) {
	t.Needs(RNRRetry) // which keeps the queue full
	const depth, size = 5, 16
	a, b := t.Pair(PairOptions{Cap: ibv.QPCap{MaxSendWR: depth, MaxRecvWR: 8 * depth}})
	sends := t.Sends(4*depth, 1)
	for i := range sends.Len() {
		Fill(a.Slot(i, size), i)
		require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(i*size, size)))
	}
	accepted, err := a.PostSend(sends)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.GreaterOrEqual(t, accepted, int(a.Cap().MaxSendWR))
	none, err := a.PostSendRange(sends, accepted, sends.Len())
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Zero(t, none)
	b.Buffers(accepted+1, size)
	for i, wc := range t.Done(b.RecvCQ, accepted) {
		require.EqualValues(t, i, wc.WRID)
	}
	for i, wc := range t.Done(a.SendCQ, accepted) {
		require.EqualValues(t, i, wc.WRID)
	}
	t.Same(a.Memory.Bytes()[:accepted*size], b.Memory.Bytes()[:accepted*size])
	t.Quiet(b.RecvCQ)
	more, err := a.PostSendRange(sends, accepted, accepted+1)
	require.NoError(t, err)
	require.Equal(t, 1, more)
	t.Done(b.RecvCQ, 1)
}

func receiveInReset(t *T) {
	a, _ := t.Unconnected(PairOptions{Make: inReset})
	recvs, err := a.Memory.RecvChain(2, 64)
	require.NoError(t, err)
	accepted, err := a.PostRecv(recvs)
	if t.Differs(ReceivesInReset) {
		require.NoError(t, err)
		return
	}
	require.ErrorIs(t, err, syscall.EINVAL)
	require.LessOrEqual(t, accepted, 0)
}

func receiveInInit(t *T) {
	a, b := t.Unconnected(PairOptions{})
	b.Buffers(2, 64)
	t.Connect(a, b, PairOptions{})
	Fill(a.Slot(0, 64), 1)
	a.Send(1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 64))
	require.Zero(t, t.Done(b.RecvCQ, 1)[0].WRID)
	t.Same(a.Slot(0, 64), b.Slot(0, 64))
	t.Done(a.SendCQ, 1)
}

func sendTooEarly(t *T) {
	a, b := t.Unconnected(PairOptions{})
	sends := t.Sends(1, 1)
	require.NoError(t, sends.Set(0, 1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8)))
	_, err := a.PostSend(sends)
	require.Error(t, err, "before it is connected")
	if t.provider.IWARP {
		return
	}
	a.BecomeRTR(0, b, nil)
	_, err = a.PostSend(sends)
	require.Error(t, err, "in RTR")
	t.Quiet(a.SendCQ)
}

func chainIsFree(t *T) {
	a, b := t.Pair(PairOptions{})
	const n, size = 4, 32
	recvs, sends := t.Recvs(n, 1), t.Sends(n, 1)
	for i := range n {
		Fill(a.Slot(i, size), i)
		require.NoError(t, recvs.Set(i, uint64(i), b.Memory.SGE(i*size, size)))
		require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(i*size, size)))
	}
	b.Expect(recvs)
	for i := range n {
		require.NoError(t, recvs.Set(i, 77, ibv.SGE{}))
	}
	a.Post(sends)
	for i := range n {
		require.NoError(t, sends.Set(i, 77, ibv.WRRDMARead, 0, ibv.SGE{}))
	}
	for i, wc := range t.Done(b.RecvCQ, n) {
		require.EqualValues(t, i, wc.WRID)
	}
	for i, wc := range t.Done(a.SendCQ, n) {
		require.EqualValues(t, i, wc.WRID)
	}
	t.Same(a.Memory.Bytes()[:n*size], b.Memory.Bytes()[:n*size])
}

func manyPost(t *T) {
	const goroutines, n, size = 4, 8, 16
	a, b := t.Pair(PairOptions{Cap: ibv.QPCap{MaxSendWR: goroutines * n, MaxRecvWR: goroutines * n}})
	var all sync.WaitGroup
	errs := make([]error, goroutines)
	for g := range goroutines {
		recvs, sends := t.Recvs(1, 1), t.Sends(1, 1)
		all.Go(func() {
			for i := range n {
				k := g*n + i
				if err := recvs.Set(0, uint64(k), b.Memory.SGE(k*size, size)); err != nil {
					errs[g] = err
				}
				if _, err := b.PostRecv(recvs); err != nil {
					errs[g] = err
				}
				Fill(a.Slot(k, size), k)
				if err := sends.Set(0, uint64(k), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(k*size, size)); err != nil {
					errs[g] = err
				}
				// Only as many are posted as there are receives.
				if _, err := a.PostSend(sends); err != nil {
					errs[g] = err
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	// Sends and receives meet in the order of their queues, whatever that is.
	sent, received := t.Done(a.SendCQ, goroutines*n), t.Done(b.RecvCQ, goroutines*n)
	next := make([]uint64, goroutines)
	for i := range sent {
		t.Same(a.Slot(int(sent[i].WRID), size), b.Slot(int(received[i].WRID), size))
		g := sent[i].WRID / n
		require.Equal(t, g*n+next[g], sent[i].WRID, "the order of one goroutine's")
		next[g]++
	}
}

func tooMuchInline(t *T) {
	a, b := t.Pair(PairOptions{Cap: ibv.QPCap{MaxInlineData: 16}})
	b.Buffers(1, 4096)
	sends := t.Sends(1, 1)
	require.NoError(t, sends.SetInline(0, 1, ibv.WRSend, ibv.SendSignaled, make([]byte, 4096)))
	accepted, err := a.PostSend(sends)
	require.Error(t, err)
	require.LessOrEqual(t, accepted, 0)
	a.Send(2, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	require.Equal(t, uint64(2), t.Done(a.SendCQ, 1)[0].WRID)
	require.EqualValues(t, 8, t.Done(b.RecvCQ, 1)[0].ByteLen)
}

// What is posted of a chain is cut off from its rest for that time only.
func partAndWhole(t *T) {
	a, b := t.Pair(PairOptions{})
	const n, part, size = 4, 2, 8
	recvs, sends := t.Recvs(n, 1), t.Sends(n, 1)
	for i := range n {
		require.NoError(t, recvs.Set(i, uint64(i), b.Memory.SGE(i*size, size)))
		require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(i*size, size)))
	}
	for range 2 {
		accepted, err := b.PostRecvRange(recvs, 0, part)
		require.NoError(t, err)
		require.Equal(t, part, accepted)
		b.Expect(recvs)
		accepted, err = a.PostSendRange(sends, 0, part)
		require.NoError(t, err)
		require.Equal(t, part, accepted)
		a.Post(sends)
		for _, cq := range []*rdma.CQ{a.SendCQ, b.RecvCQ} {
			for i, wc := range t.Done(cq, part+n) {
				want := i
				if i >= part {
					want = i - part
				}
				require.EqualValues(t, want, wc.WRID)
			}
		}
	}
}
