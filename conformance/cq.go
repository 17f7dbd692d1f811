package conformance

import (
	"errors"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var cqScenarios = []Scenario{
	{"cq", "room for what was asked", "ibv_create_cq(3)", cqRoom},
	{"cq", "refused sizes", "ibv_create_cq(3)", cqRefusedSizes},
	{"cq", "every vector", "ibv_create_cq(3)", cqVectors},
	{"cq", "polled in pieces", "ibv_poll_cq(3)", cqPieces},
	{"cq", "filled to the last entry", "ibv_create_cq(3); IBTA 11.2.8.1", cqFilled},
	{"cq", "overrun", "ibv_get_async_event(3); IBTA 11.6.3.2", cqOverrun},
	{"cq", "shared by many queue pairs", "IBTA 10.2.7; ibv_poll_cq(3)", cqShared},
	{"cq", "resized with completions in it", "ibv_resize_cq(3)", cqResized},
	{"cq", "resized below its completions", "ibv_resize_cq(3)", cqResizedBelow},
	{"cq", "resized out of bounds", "ibv_resize_cq(3)", cqResizedOutOfBounds},
	{"cq", "busy while queue pairs use it", "ibv_destroy_cq(3)", cqBusy},
	{"cq", "nothing of what a reset drops", "IBTA 10.3.1.1", cqAfterReset},
}

func cqRoom(t *T) {
	attr := t.Attr()
	for _, entries := range []int{1, 2, 3, 7, 64, 100, int(min(attr.MaxCQE, 1<<12))} {
		cq := t.CQ(entries, rdma.CQOptions{})
		require.GreaterOrEqual(t, cq.Entries(), entries)
		require.EqualValues(t, cq.Entries(), cq.Raw().CQE)
		require.Same(t, t.Device().Raw(), cq.Raw().Context)
		none, err := cq.Poll(make([]ibv.WC, 4))
		require.NoError(t, err)
		require.Zero(t, none, "a new queue is empty")
		require.NoError(t, cq.Close())
	}
}

func cqRefusedSizes(t *T) {
	attr := t.Attr()
	require.Positive(t, attr.MaxCQE)
	for _, entries := range []int{0, -1} {
		_, err := t.Device().CreateCQ(entries, rdma.CQOptions{})
		require.ErrorIs(t, err, syscall.EINVAL, "%d entries", entries)
	}
	_, err := t.Device().CreateCQ(int(attr.MaxCQE)+1, rdma.CQOptions{})
	require.True(t, errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOMEM), "more than MaxCQE: %v", err)
}

func cqVectors(t *T) {
	vectors := int(t.Device().Raw().NumCompVectors)
	require.Positive(t, vectors)
	for vector := range vectors {
		cq, err := t.Device().CreateCQ(1, rdma.CQOptions{Vector: vector})
		require.NoError(t, err)
		require.NoError(t, cq.Close())
	}
	for _, vector := range []int{-1, vectors} {
		_, err := t.Device().CreateCQ(1, rdma.CQOptions{Vector: vector})
		require.ErrorIs(t, err, syscall.EINVAL, "vector %d", vector)
	}
}

// A poll takes no more than there is room for, and leaves the others in their order.
func cqPieces(t *T) {
	const n = 9
	f := newFlushes(t, n, nil)
	f.flush(n)
	none, err := f.cq.Poll(nil)
	require.NoError(t, err)
	require.Zero(t, none, "no room takes none")
	var got []uint64
	for room := 1; len(got) < n; room++ {
		for _, wc := range t.Poll(f.cq, min(room, n-len(got))) {
			got = append(got, wc.WRID)
		}
	}
	require.Equal(t, upTo(n), got)
	t.Quiet(f.cq)
}

func cqFilled(t *T) {
	const asked = 5
	cq := t.CQ(asked, rdma.CQOptions{})
	f := newFlushes(t, cq.Entries(), cq)
	f.flush(cq.Entries())
	wcs := t.Poll(cq, cq.Entries())
	for i := range wcs {
		require.EqualValues(t, i, wcs[i].WRID)
	}
	t.Quiet(cq)
	noEvent(t, ibv.EventCQErr)
}

// A queue with more completions than it has room for tells its owner.
func cqOverrun(t *T) {
	cq := t.CQ(1, rdma.CQOptions{})
	f := newFlushes(t, cq.Entries()+3, cq)
	f.flush(cq.Entries() + 3)
	event := awaitEvent(t, ibv.EventCQErr)
	require.Same(t, cq, event.CQ)
	require.Nil(t, event.QP)
}

func cqShared(t *T) {
	const pairs, messages = 3, 4
	shared := t.CQ(2*2*pairs*(messages+1), rdma.CQOptions{})
	memory := t.Region(64, 0)
	var receivers []uint32
	senders := map[uint32]int{}
	for range pairs {
		opts := rdma.QPOptions{SendCQ: shared, RecvCQ: shared, Cap: caps(messages, messages)}
		a, b := pairOf(t, opts, opts)
		senders[a.Number()] = 0
		receivers = append(receivers, b.Number())
		postRecvs(t, b.QP, recvs(t, memory, messages, 8))
		postSends(t, a.QP, sends(t, memory, messages, 8))
	}
	received := map[uint32][]uint64{}
	sent := map[uint32][]uint64{}
	for _, wc := range t.Done(shared, 2*pairs*messages) {
		if _, sender := senders[wc.QPNum]; sender {
			sent[wc.QPNum] = append(sent[wc.QPNum], wc.WRID)
			require.Equal(t, ibv.WCSend, wc.Opcode)
		} else {
			received[wc.QPNum] = append(received[wc.QPNum], wc.WRID)
			require.Equal(t, ibv.WCRecv, wc.Opcode)
		}
	}
	for number := range senders {
		require.Equal(t, upTo(messages), sent[number])
	}
	for _, number := range receivers {
		require.Equal(t, upTo(messages), received[number])
	}
}

// resizable is a queue of so many entries that the device can resize.
func resizable(t *T, entries int) *rdma.CQ {
	t.Needs(ResizableCQs)
	return t.CQ(entries, rdma.CQOptions{})
}

func cqResized(t *T) {
	const before, after = 4, 200
	cq := resizable(t, before)
	f := newFlushes(t, before, cq)
	f.flush(before)
	t.Poll(cq, 1)
	require.NoError(t, cq.Resize(after))
	require.GreaterOrEqual(t, cq.Entries(), after)
	for i, wc := range t.Poll(cq, before-1) {
		require.EqualValues(t, i+1, wc.WRID, "what was there stays, in its order")
	}
	t.Quiet(cq)
	more := newFlushes(t, after, cq)
	more.flush(after)
	require.Len(t, t.Poll(cq, after), after)
	require.NoError(t, cq.Resize(before), "and back, for it is empty")
	t.Quiet(cq)
}

func cqResizedBelow(t *T) {
	const n = 40
	cq := resizable(t, n)
	f := newFlushes(t, n, cq)
	f.flush(n)
	require.Zero(t, t.Poll(cq, 1)[0].WRID)
	time.Sleep(100 * time.Millisecond) // the others are there, too; a device may flush them one by one
	err := cq.Resize(1)
	if err == nil {
		require.GreaterOrEqual(t, cq.Entries(), n-1, "a device may keep more than was asked for, but loses nothing")
	} else {
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	for i, wc := range t.Poll(cq, n-1) {
		require.EqualValues(t, i+1, wc.WRID)
	}
	t.Quiet(cq)
}

func cqResizedOutOfBounds(t *T) {
	attr := t.Attr()
	cq := resizable(t, 4)
	room := cq.Entries()
	for _, entries := range []int{0, -1, int(attr.MaxCQE) + 1} {
		require.ErrorIs(t, cq.Resize(entries), syscall.EINVAL, "%d entries", entries)
	}
	require.Equal(t, room, cq.Entries())
}

func cqBusy(t *T) {
	cq := t.CQ(4, rdma.CQOptions{})
	raw, err := t.PD().Raw().CreateQP(&ibv.QPInitAttr{SendCQ: cq.Raw(), RecvCQ: cq.Raw(), QPType: ibv.QPTRC, Cap: caps(1, 1)})
	require.NoError(t, err)
	require.ErrorIs(t, cq.Raw().Close(), syscall.EBUSY)
	require.NoError(t, raw.Close())
	qp, err := t.PD().CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: caps(1, 1)})
	require.NoError(t, err)
	var children *rdma.ChildrenError
	require.ErrorAs(t, cq.Close(), &children)
	require.Equal(t, []string{qp.String()}, children.Children)
	require.NoError(t, qp.Close())
	require.NoError(t, cq.Close())
	require.ErrorIs(t, cq.Close(), rdma.ErrClosed)
	_, err = cq.Poll(make([]ibv.WC, 1))
	require.ErrorIs(t, err, rdma.ErrClosed)
}

// What a queue pair has not completed when it is reset never completes.
func cqAfterReset(t *T) {
	const n = 3
	cq := t.CQ(2*n, rdma.CQOptions{})
	qp, err := t.PD().CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: caps(1, n)})
	require.NoError(t, err)
	postRecvs(t, qp, recvs(t, t.Region(8*n, 0), n, 8))
	require.NoError(t, qp.ToReset())
	t.Quiet(cq)
}
