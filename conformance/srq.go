package conformance

import (
	"errors"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var srqScenarios = []Scenario{
	{"srq", "room for what was asked", "ibv_create_srq(3)", srqRoom},
	{"srq", "refused sizes", "ibv_create_srq(3)", srqRefusedSizes},
	{"srq", "full", "ibv_post_srq_recv(3)", srqFull},
	{"srq", "receives for several queue pairs", "IBTA 10.2.9; ibv_post_srq_recv(3)", srqShared},
	{"srq", "receives are taken in order", "IBTA 10.2.9.1", srqOrder},
	{"srq", "scattered", "ibv_post_srq_recv(3)", srqScattered},
	{"srq", "a queue pair with one takes no receives", "ibv_post_recv(3)", srqAttached},
	{"srq", "a queue pair's end leaves its receives", "IBTA 10.2.9.3", srqSurvives},
	{"srq", "a queue pair's last receive", "ibv_get_async_event(3); IBTA 11.6.3.2", srqLastReceive},
	{"srq", "limit", "ibv_modify_srq(3); IBTA 10.2.9.2", srqLimit},
	{"srq", "limit told once", "ibv_modify_srq(3); IBTA 10.2.9.2", srqLimitOnce},
	{"srq", "limit above its receives is told at once, or with the next", "ibv_modify_srq(3)", srqLimitAbove},
	{"srq", "limit out of bounds", "ibv_modify_srq(3)", srqLimitOutOfBounds},
	{"srq", "resized", "ibv_modify_srq(3)", srqResized},
	{"srq", "empty", "IBTA 9.7.5.2.8", srqEmpty},
	{"srq", "a message too long for its receive", "IBTA 9.7.4.1.5", srqTooLong},
	{"srq", "by attributes", "ibv_create_srq_ex(3)", srqByAttributes},
	{"srq", "datagrams", "IBTA 10.2.9", srqDatagrams},
	{"srq", "busy while queue pairs use it", "ibv_destroy_srq(3)", srqBusy},
	{"srq", "foreign", "ibv_create_qp(3)", srqForeign},
}

// srqOf is a shared receive queue with room for so many receives.
func srqOf(t *T, entries int, opts rdma.SRQOptions) *rdma.SRQ {
	t.Needs(SharedReceiveQueues)
	srq, err := t.PD().CreateSRQ(entries, opts)
	require.NoError(t, err)
	return srq
}

func postSRQ(t *T, srq *rdma.SRQ, chain *ibv.RecvChain) {
	accepted, err := srq.PostRecv(chain)
	require.NoError(t, err)
	require.Equal(t, chain.Len(), accepted)
}

// requireLimit requires that the queue's limit is so, where the device can tell.
func requireLimit(t *T, srq *rdma.SRQ, want uint32) {
	attr, err := srq.Query()
	if t.Differs(SRQAttributes) {
		require.True(t, unsupported(err), err)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want, attr.SRQLimit)
}

func srqRoom(t *T) {
	t.Needs(SharedReceiveQueues)
	for _, entries := range []uint32{1, 2, 5, 100} {
		attr := ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: entries, MaxSGE: 2}}
		raw, err := t.PD().Raw().CreateSRQ(&attr)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, raw.Close()) })
		require.GreaterOrEqual(t, attr.Attr.MaxWR, entries, "what it really has")
		require.GreaterOrEqual(t, attr.Attr.MaxSGE, uint32(2))
		chain := recvs(t, t.Region(8, 0), int(entries), 0)
		accepted, err := chain.PostSRQ(raw)
		require.NoError(t, err)
		require.EqualValues(t, entries, accepted)
		now, err := raw.Query()
		if t.Differs(SRQAttributes) {
			require.True(t, unsupported(err), err)
			continue
		}
		require.NoError(t, err)
		require.GreaterOrEqual(t, now.MaxWR, entries)
		require.GreaterOrEqual(t, now.MaxSGE, uint32(2))
		require.Zero(t, now.SRQLimit, "no limit is set")
	}
}

func srqRefusedSizes(t *T) {
	t.Needs(SharedReceiveQueues)
	device := t.Attr()
	require.Positive(t, device.MaxSRQ)
	for what, attr := range map[string]ibv.SRQAttr{
		"more receives than MaxSRQWR": {MaxWR: uint32(device.MaxSRQWR) + 1, MaxSGE: 1},
		"more entries than MaxSRQSGE": {MaxWR: 1, MaxSGE: uint32(device.MaxSRQSGE) + 1},
	} {
		_, err := t.PD().Raw().CreateSRQ(&ibv.SRQInitAttr{Attr: attr})
		require.True(t, errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOMEM), "%s: %v", what, err)
	}
}

func srqFull(t *T) {
	const asked = 4
	srq := srqOf(t, asked, rdma.SRQOptions{})
	chain := recvs(t, t.Region(8, 0), 100, 8)
	accepted, err := srq.PostRecv(chain)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.GreaterOrEqual(t, accepted, asked)
	require.Less(t, accepted, 100)
	none, err := srq.PostRecvRange(chain, accepted, 100)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Zero(t, none, "those that were accepted are still there")
	bad, err := srq.Raw().PostRecv(chain.WR(7))
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Same(t, chain.WR(7), bad)
}

func srqShared(t *T) {
	const pairs, messages = 2, 6
	srq := srqOf(t, pairs*messages, rdma.SRQOptions{})
	from, into := t.Region(64, 0), t.Region(64*pairs*messages, 0)
	postSRQ(t, srq, recvs(t, into, pairs*messages, 64))
	used := map[uint64]bool{}
	for k := range pairs {
		a, b := pairOf(t, rdma.QPOptions{Cap: caps(messages, 1)}, rdma.QPOptions{SRQ: srq, Cap: caps(1, messages)})
		for i := range messages {
			Fill(from.Bytes(), k*messages+i)
			postSends(t, a.QP, sends(t, from, 1, 40))
			t.Done(a.SendCQ, 1)
			wc := t.Done(b.RecvCQ, 1)[0]
			require.Equal(t, b.Number(), wc.QPNum)
			require.EqualValues(t, 40, wc.ByteLen)
			require.False(t, used[wc.WRID], "one receive has one message")
			used[wc.WRID] = true
			at := int(wc.WRID) * 64
			require.Equal(t, from.Bytes()[:40], into.Bytes()[at:at+40])
		}
		t.Quiet(b.RecvCQ)
	}
	require.Len(t, used, pairs*messages)
}

func srqOrder(t *T) {
	const n = 8
	srq := srqOf(t, n, rdma.SRQOptions{})
	memory := t.Region(8*n, 0)
	a, b := pairOf(t, rdma.QPOptions{Cap: caps(n, 1)}, rdma.QPOptions{SRQ: srq, Cap: caps(1, n)})
	chain := recvs(t, memory, n, 8)
	for _, i := range []int{3, 1, 2, 0} {
		accepted, err := srq.PostRecvRange(chain, i, i+1)
		require.NoError(t, err)
		require.Equal(t, 1, accepted)
	}
	postSends(t, a.QP, sends(t, memory, 4, 8))
	for i, wc := range t.Done(b.RecvCQ, 4) {
		require.EqualValues(t, []int{3, 1, 2, 0}[i], wc.WRID)
	}
}

func srqScattered(t *T) {
	srq := srqOf(t, 2, rdma.SRQOptions{MaxSGE: 3})
	from, into := t.Region(30, 0), t.Region(64, 0)
	Fill(from.Bytes(), 1)
	chain, err := ibv.NewRecvChain(1, 3)
	require.NoError(t, err)
	require.NoError(t, chain.Set(0, 9, into.SGE(40, 10), into.SGE(0, 5), into.SGE(20, 20)))
	postSRQ(t, srq, chain)
	a, b := pairOf(t, rdma.QPOptions{}, rdma.QPOptions{SRQ: srq})
	postSends(t, a.QP, sends(t, from, 1, 30))
	wc := t.Done(b.RecvCQ, 1)[0]
	require.EqualValues(t, 9, wc.WRID)
	require.EqualValues(t, 30, wc.ByteLen)
	got := append(append(append([]byte(nil), into.Bytes()[40:50]...), into.Bytes()[:5]...), into.Bytes()[20:35]...)
	require.Equal(t, from.Bytes(), got)
	require.Equal(t, make([]byte, 5), into.Bytes()[35:40], "behind the message nothing is touched")
}

func srqAttached(t *T) {
	srq := srqOf(t, 4, rdma.SRQOptions{})
	cq := t.CQ(4, rdma.CQOptions{})
	qp, err := t.PD().CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, SRQ: srq})
	require.NoError(t, err)
	chain := recvs(t, t.Region(8, 0), 1, 8)
	accepted, err := qp.PostRecv(chain)
	require.ErrorIs(t, err, ibv.ErrSRQAttached)
	require.Zero(t, accepted)
	bad, err := qp.Raw().PostRecv(chain.WR(0))
	require.ErrorIs(t, err, ibv.ErrSRQAttached)
	require.Same(t, chain.WR(0), bad)
	_, err = rdma.NewRecvRing(qp, rdma.RecvRingOptions{})
	require.ErrorIs(t, err, ibv.ErrSRQAttached)
	_, init, err := qp.Query(ibv.QPAttrMaskState)
	require.NoError(t, err)
	require.Same(t, srq.Raw(), init.SRQ)
	postSRQ(t, srq, chain)
}

// The receives of a shared queue are nobody's until a message takes one, so the end of a
// queue pair flushes none.
func srqSurvives(t *T) {
	const n = 4
	srq := srqOf(t, n, rdma.SRQOptions{})
	memory := t.Region(8*n, 0)
	postSRQ(t, srq, recvs(t, memory, n, 8))
	_, gone := pairOf(t, rdma.QPOptions{}, rdma.QPOptions{SRQ: srq})
	a, b := pairOf(t, rdma.QPOptions{Cap: caps(n, 1)}, rdma.QPOptions{SRQ: srq, Cap: caps(1, n)})
	require.NoError(t, gone.ToErr())
	t.Quiet(gone.RecvCQ)
	require.NoError(t, gone.QP.Close())
	postSends(t, a.QP, sends(t, memory, n, 8))
	for i, wc := range t.Done(b.RecvCQ, n) {
		require.EqualValues(t, i, wc.WRID)
	}
}

// A queue pair in the error state tells that it takes no more of the shared queue's
// receives: before, it cannot be known what of them it has.
func srqLastReceive(t *T) {
	srq := srqOf(t, 4, rdma.SRQOptions{})
	memory := t.Region(32, 0)
	postSRQ(t, srq, recvs(t, memory, 4, 8))
	a, b := pairOf(t, rdma.QPOptions{}, rdma.QPOptions{SRQ: srq})
	postSends(t, a.QP, sends(t, memory, 1, 8))
	t.Done(b.RecvCQ, 1)
	require.NoError(t, b.ToErr())
	if t.Differs(LastReceiveEvents) {
		noEvent(t, ibv.EventQPLastWQEReached)
		return
	}
	event := awaitEvent(t, ibv.EventQPLastWQEReached)
	require.Same(t, b.QP, event.QP)
	require.Nil(t, event.SRQ)
}

// limited is a shared receive queue with n receives and a limit, and a pair that uses it.
func limited(t *T, n int, limit uint32) (srq *rdma.SRQ, a, b *End, memory *rdma.Region) {
	srq = srqOf(t, n, rdma.SRQOptions{})
	memory = t.Region(8*n, 0)
	postSRQ(t, srq, recvs(t, memory, n, 8))
	a, b = pairOf(t, rdma.QPOptions{Cap: caps(uint32(n), 1)}, rdma.QPOptions{SRQ: srq, Cap: caps(1, uint32(n))})
	require.NoError(t, srq.Modify(ibv.SRQAttr{SRQLimit: limit}, ibv.SRQLimit))
	return srq, a, b, memory
}

func srqLimit(t *T) {
	const n = 8
	srq, a, b, memory := limited(t, n, n-2)
	postSends(t, a.QP, sends(t, memory, 2, 8))
	t.Done(b.RecvCQ, 2)
	noEvent(t, ibv.EventSRQLimitReached)
	postSends(t, a.QP, sends(t, memory, 1, 8))
	event := awaitEvent(t, ibv.EventSRQLimitReached)
	require.Same(t, srq, event.SRQ)
	require.Nil(t, event.QP)
	require.Nil(t, event.CQ)
	t.Done(b.RecvCQ, 1)
	t.Done(a.SendCQ, 3)
}

func srqLimitOnce(t *T) {
	const n = 8
	srq, a, b, memory := limited(t, n, n-1)
	postSends(t, a.QP, sends(t, memory, 4, 8))
	t.Done(b.RecvCQ, 4)
	require.Same(t, srq, awaitEvent(t, ibv.EventSRQLimitReached).SRQ)
	noEvent(t, ibv.EventSRQLimitReached)
	// It is set anew, and told anew.
	require.NoError(t, srq.Modify(ibv.SRQAttr{SRQLimit: 3}, ibv.SRQLimit))
	postSends(t, a.QP, sends(t, memory, 2, 8))
	t.Done(b.RecvCQ, 2)
	require.Same(t, srq, awaitEvent(t, ibv.EventSRQLimitReached).SRQ)
	t.Done(a.SendCQ, 6)
	requireLimit(t, srq, 0) // it is spent
}

func srqLimitAbove(t *T) {
	srq, a, b, memory := limited(t, 8, 0)
	postSends(t, a.QP, sends(t, memory, 4, 8))
	t.Done(b.RecvCQ, 4)
	require.NoError(t, srq.Modify(ibv.SRQAttr{SRQLimit: 6}, ibv.SRQLimit))
	postSends(t, a.QP, sends(t, memory, 1, 8))
	t.Done(b.RecvCQ, 1)
	require.Same(t, srq, awaitEvent(t, ibv.EventSRQLimitReached).SRQ)
}

func srqLimitOutOfBounds(t *T) {
	srq := srqOf(t, 4, rdma.SRQOptions{})
	err := srq.Modify(ibv.SRQAttr{SRQLimit: uint32(t.Attr().MaxSRQWR) + 1}, ibv.SRQLimit)
	require.ErrorIs(t, err, syscall.EINVAL)
	requireLimit(t, srq, 0)
}

func srqResized(t *T) {
	const before, after = 4, 60
	t.Needs(ResizableSRQs, SRQAttributes)
	srq := srqOf(t, before, rdma.SRQOptions{})
	memory := t.Region(8*after, 0)
	chain := recvs(t, memory, after, 8)
	accepted, err := srq.PostRecvRange(chain, 0, before)
	require.NoError(t, err)
	require.Equal(t, before, accepted)
	require.NoError(t, srq.Modify(ibv.SRQAttr{MaxWR: after}, ibv.SRQMaxWR))
	attr, err := srq.Query()
	require.NoError(t, err)
	require.GreaterOrEqual(t, attr.MaxWR, uint32(after))
	accepted, err = srq.PostRecvRange(chain, before, after)
	require.NoError(t, err)
	require.Equal(t, after-before, accepted)
	a, b := pairOf(t, rdma.QPOptions{Cap: caps(after, 1)}, rdma.QPOptions{SRQ: srq, Cap: caps(1, after)})
	postSends(t, a.QP, sends(t, memory, after, 8))
	for i, wc := range t.Done(b.RecvCQ, after) {
		require.EqualValues(t, i, wc.WRID, "what was posted before comes first")
	}
}

// A sender waits while the shared queue is empty, as it does for a queue pair's own.
func srqEmpty(t *T) {
	t.Needs(RNRRetry)
	srq := srqOf(t, 2, rdma.SRQOptions{})
	memory := t.Region(8, 0)
	a, b := pairOf(t, rdma.QPOptions{}, rdma.QPOptions{SRQ: srq})
	postSends(t, a.QP, sends(t, memory, 1, 8))
	t.Quiet(a.SendCQ)
	postSRQ(t, srq, recvs(t, memory, 1, 8))
	t.Done(b.RecvCQ, 1)
	t.Done(a.SendCQ, 1)
}

func srqTooLong(t *T) {
	srq := srqOf(t, 2, rdma.SRQOptions{})
	from, into := t.Region(64, 0), t.Region(16, 0)
	postSRQ(t, srq, recvs(t, into, 1, 8))
	a, b := pairOf(t, rdma.QPOptions{}, rdma.QPOptions{SRQ: srq})
	postSends(t, a.QP, sends(t, from, 1, 9))
	status := t.Poll(b.RecvCQ, 1)[0].Status
	require.Equal(t, make([]byte, 8), into.Bytes()[8:])
	if t.Differs(RemoteErrors) {
		require.NotEqual(t, ibv.WCSuccess, status)
		return
	}
	require.Equal(t, t.Status(RecvLengthStatus, ibv.WCLocLenErr), status)
	require.Equal(t, t.Status(SendLengthStatus, ibv.WCRemInvReqErr), t.Poll(a.SendCQ, 1)[0].Status)
}

func srqByAttributes(t *T) {
	const number = uintptr(0x55667788)
	attr := ibv.SRQInitAttrEx{
		SRQContext: number, Attr: ibv.SRQAttr{MaxWR: 3, MaxSGE: 1},
		CompMask: ibv.SRQInitAttrPD | ibv.SRQInitAttrType, SRQType: ibv.SRQTBasic, PD: t.PD().Raw(),
	}
	raw, err := t.Device().Raw().CreateSRQEx(&attr)
	require.NoError(t, err)
	require.Equal(t, number, raw.SRQContext)
	require.GreaterOrEqual(t, attr.Attr.MaxWR, uint32(3))
	require.Same(t, t.PD().Raw(), raw.PD)
	require.Same(t, t.Device().Raw(), raw.Context)
	_, err = raw.Num()
	require.Error(t, err, "only those for XRC have a number")
	require.NoError(t, raw.Close())
	none := ibv.SRQInitAttrEx{Attr: attr.Attr, CompMask: ibv.SRQInitAttrPD, PD: nil}
	_, err = t.Device().Raw().CreateSRQEx(&none)
	require.ErrorIs(t, err, syscall.EINVAL)
}

func srqDatagrams(t *T) {
	t.Needs(UD)
	const header = 40 // which stands in front of every datagram
	srq := srqOf(t, 4, rdma.SRQOptions{})
	from, into := t.Region(64, 0), t.Region(128, 0)
	Fill(from.Bytes(), 3)
	postSRQ(t, srq, recvs(t, into, 1, 128))
	a, b := pairOf(t, rdma.QPOptions{Type: ibv.QPTUD}, rdma.QPOptions{SRQ: srq})
	postSends(t, a.QP, datagramsTo(t, from, 1, 50, b))
	t.Done(a.SendCQ, 1)
	wc := t.Done(b.RecvCQ, 1)[0]
	require.EqualValues(t, header+50, wc.ByteLen)
	require.Equal(t, a.Number(), wc.SrcQP)
	require.Equal(t, from.Bytes()[:50], into.Bytes()[header:header+50])
}

func srqBusy(t *T) {
	srq := srqOf(t, 4, rdma.SRQOptions{})
	cq := t.CQ(4, rdma.CQOptions{})
	raw, err := t.PD().Raw().CreateQP(&ibv.QPInitAttr{SendCQ: cq.Raw(), RecvCQ: cq.Raw(), SRQ: srq.Raw(), QPType: ibv.QPTRC, Cap: caps(1, 0)})
	require.NoError(t, err)
	require.ErrorIs(t, srq.Raw().Close(), syscall.EBUSY)
	require.NoError(t, raw.Close())
	qp, err := t.PD().CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, SRQ: srq})
	require.NoError(t, err)
	var children *rdma.ChildrenError
	require.ErrorAs(t, srq.Close(), &children)
	require.Equal(t, []string{qp.String()}, children.Children)
	require.NoError(t, srq.CloseAll())
	require.ErrorIs(t, qp.Close(), rdma.ErrClosed)
	_, err = srq.PostRecv(recvs(t, t.Region(8, 0), 1, 8))
	require.ErrorIs(t, err, rdma.ErrClosed)
}

func srqForeign(t *T) {
	srq := srqOf(t, 1, rdma.SRQOptions{})
	other, err := rdma.Open(t.Device().Name(), rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.CloseAll()) })
	pd, err := other.AllocPD()
	require.NoError(t, err)
	cq, err := other.CreateCQ(1, rdma.CQOptions{})
	require.NoError(t, err)
	_, err = pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, SRQ: srq})
	require.ErrorIs(t, err, syscall.EINVAL)
}
