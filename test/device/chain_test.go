//go:build device

package device

import (
	"encoding/binary"
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

const chainLength = 64

// lengthOf gives messages many lengths: none, one byte, one packet, several.
func lengthOf(i int) int { return []int{0, 1, 7, 8, 100, 1023, 1024, 1025, 2048, slot}[i%10] }

func TestChainCompletesInOrder(t *testing.T) {
	r := newRig(t)
	from, to := r.memory(chainLength), r.memory(chainLength)
	sender, receiver := r.pair(chainLength, chainLength)
	wipe(to.Bytes(), 0xee)
	for i := range chainLength {
		fill(bytesOf(from, i)[:lengthOf(i)], uint64(i))
	}
	accepted, err := r.recvChain(chainLength, to).Post(receiver.QP)
	require.NoError(t, err)
	require.Equal(t, chainLength, accepted)
	accepted, err = r.sendChain(chainLength, from, lengthOf).Post(sender.QP)
	require.NoError(t, err)
	require.Equal(t, chainLength, accepted)

	for i, wc := range r.poll(receiver.recv, chainLength) {
		require.Equal(t, uint64(i), wc.WRID, "receives complete in the order of posting")
		require.Equal(t, ibv.WCRecv, wc.Opcode)
		require.Equal(t, uint32(lengthOf(i)), wc.ByteLen)
		require.Equal(t, receiver.QPNum, wc.QPNum)
		requireFilled(t, bytesOf(to, i), lengthOf(i), uint64(i), 0xee)
	}
	r.poll(sender.send, chainLength)
	r.quiet(receiver.recv)
	r.quiet(sender.send)
}

func TestChainPostedAgain(t *testing.T) {
	const rounds = 10_000
	const length = 16
	r := newRig(t)
	from, to := r.memory(chainLength), r.memory(chainLength)
	sender, receiver := r.pair(chainLength, chainLength)
	recvs, sends := r.recvChain(chainLength, to), r.sendChain(chainLength, from, func(int) int { return length })
	// One signalled send in the chain is enough: it completes behind the others.
	for i := range chainLength - 1 {
		sends.WR(i).SendFlags = 0
	}
	wcs := make([]ibv.WC, chainLength)
	for round := range rounds {
		for i := range chainLength {
			binary.LittleEndian.PutUint64(bytesOf(from, i), uint64(round*chainLength+i))
		}
		accepted, err := recvs.Post(receiver.QP)
		require.NoError(t, err)
		require.Equal(t, chainLength, accepted)
		_, err = sends.Post(sender.QP)
		require.NoError(t, err)
		for got := 0; got < chainLength; {
			n, err := receiver.recv.Poll(wcs)
			require.NoError(t, err)
			for k := range wcs[:n] {
				wc := &wcs[k]
				if wc.Status != ibv.WCSuccess || wc.WRID != uint64(got) || wc.ByteLen != length ||
					binary.LittleEndian.Uint64(bytesOf(to, got)) != uint64(round*chainLength+got) {
					require.Failf(t, "wrong completion", "round %d, receive %d: %+v, %v", round, got, wc, wc.Err())
				}
				got++
			}
		}
		r.poll(sender.send, 1)
	}
	r.quiet(receiver.recv)
}

func TestWorkRequestsAreFreeAfterThePost(t *testing.T) {
	r := newRig(t)
	from, to := r.memory(chainLength), r.memory(chainLength)
	sender, receiver := r.pair(chainLength, chainLength)
	wipe(to.Bytes(), 0xee)
	recvs, sends := r.recvChain(chainLength, to), r.sendChain(chainLength, from, func(int) int { return 100 })
	for i := range chainLength {
		fill(bytesOf(from, i)[:100], uint64(i))
	}
	_, err := recvs.Post(receiver.QP)
	require.NoError(t, err)
	for i := range chainLength {
		require.NoError(t, recvs.Set(i, 0xdead, ibv.SGE{Addr: 1, Length: 1, LKey: 0xbad}))
	}
	_, err = sends.Post(sender.QP)
	require.NoError(t, err)
	for i := range chainLength {
		require.NoError(t, sends.Set(i, 0xdead, ibv.WRRDMARead, 0, ibv.SGE{Addr: 1, Length: 1, LKey: 0xbad}))
	}
	for i, wc := range r.poll(receiver.recv, chainLength) {
		require.Equal(t, uint64(i), wc.WRID)
		requireFilled(t, bytesOf(to, i), 100, uint64(i), 0xee)
	}
	for i, wc := range r.poll(sender.send, chainLength) {
		require.Equal(t, uint64(i), wc.WRID)
		require.Equal(t, ibv.WCSend, wc.Opcode)
	}
}

func TestQueueFullInTheMiddleOfAChain(t *testing.T) {
	r := newRig(t)
	const capacity = 40
	sender, receiver := r.pair(200, capacity)
	// The device rounds the capacity up and does not tell: find it with a chain
	// that is surely too long, on a queue pair that is thrown away.
	room := r.capacity(capacity)
	require.GreaterOrEqual(t, room, capacity)
	n := room + 25
	from, to := r.memory(n), r.memory(n)
	for i := range n {
		fill(bytesOf(from, i)[:64], uint64(i))
	}
	recvs := r.recvChain(n, to)
	accepted, err := recvs.Post(receiver.QP)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Equal(t, room, accepted)
	again, err := recvs.PostRange(receiver.QP, accepted, n)
	require.ErrorIs(t, err, syscall.ENOMEM, "the queue still is full")
	require.Zero(t, again)
	requireNoAllocations(t, func() {
		if _, err := recvs.PostRange(receiver.QP, accepted, n); !errors.Is(err, syscall.ENOMEM) {
			t.Error(err)
		}
	}, "a full queue costs no allocation")
	for i := range n {
		require.Equal(t, i+1 < n, recvs.WR(i).Next != nil, "the chain is whole again")
	}

	sends := r.sendChain(n, from, func(int) int { return 64 })
	_, err = sends.PostRange(sender.QP, 0, accepted)
	require.NoError(t, err)
	seen := map[uint64]int{}
	for _, wc := range r.poll(receiver.recv, accepted) {
		seen[wc.WRID]++
	}
	// Taking completions makes room: go on from where the post stopped.
	rest, err := recvs.PostRange(receiver.QP, accepted, n)
	require.NoError(t, err)
	require.Equal(t, n-accepted, rest)
	_, err = sends.PostRange(sender.QP, accepted, n)
	require.NoError(t, err)
	for _, wc := range r.poll(receiver.recv, rest) {
		seen[wc.WRID]++
	}
	r.quiet(receiver.recv)
	for i := range n {
		require.Equal(t, 1, seen[uint64(i)], "receive %d completes exactly once", i)
		requireFilled(t, bytesOf(to, i)[:64], 64, uint64(i), 0)
	}
	r.poll(sender.send, n)
}

// capacity is how many receives a queue pair really takes that was asked for n.
func (r *rig) capacity(n uint32) int {
	r.t.Helper()
	qp := r.side(ibv.QPTRC, 1, n, nil)
	require.NoError(r.t, toInit(qp.QP, access))
	chain, err := ibv.NewRecvChain(4*int(n)+64, 0)
	require.NoError(r.t, err)
	accepted, err := chain.Post(qp.QP)
	require.ErrorIs(r.t, err, syscall.ENOMEM)
	return accepted
}

// The list forms of the posts know the refused work request too.
func TestListPosts(t *testing.T) {
	r := newRig(t)
	const capacity = 7
	qp := r.side(ibv.QPTRC, 1, capacity, nil)
	require.NoError(t, toInit(qp.QP, access))
	room := r.capacity(capacity)
	wrs := make([]ibv.RecvWR, room+2)
	for i := range wrs[1:] {
		wrs[i].Next = &wrs[i+1]
	}
	bad, err := qp.PostRecv(&wrs[0])
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Same(t, &wrs[room], bad)
	bad, err = qp.PostRecv(nil)
	require.NoError(t, err, "an empty list is a success")
	require.Nil(t, bad)
	badSend, err := qp.PostSend(&ibv.SendWR{Opcode: ibv.WRSend})
	require.ErrorIs(t, err, syscall.EINVAL, "no sends in INIT")
	require.Nil(t, badSend, "this device does not say which")
	require.ErrorIs(t, err, ibv.ErrAcceptedUnknown)
}

// Work requests that are picked from a chain go out in that order, in one call.
func TestPickedFromAChain(t *testing.T) {
	r := newRig(t)
	from, to := r.memory(8), r.memory(8)
	sender, receiver := r.pair(8, 8)
	recvs, sends := r.recvChain(8, to), r.sendChain(8, from, func(i int) int { return 10 + i })
	for i := range 8 {
		fill(bytesOf(from, i)[:10+i], uint64(i))
	}
	picked := []int{5, 0, 7, 2}
	accepted, err := recvs.PostPicked(receiver.QP, picked)
	require.NoError(t, err)
	require.Equal(t, len(picked), accepted)
	accepted, err = sends.PostPicked(sender.QP, []int{3, 1, 6, 4})
	require.NoError(t, err)
	require.Equal(t, 4, accepted)
	for k, wc := range r.poll(receiver.recv, len(picked)) {
		require.Equal(t, uint64(picked[k]), wc.WRID)
		message := []int{3, 1, 6, 4}[k]
		requireFilled(t, bytesOf(to, picked[k])[:10+message], 10+message, uint64(message), 0)
	}
	r.poll(sender.send, 4)
	for _, bad := range [][]int{{1, 2, 1}, {0, 8}, {-1}} {
		accepted, err = recvs.PostPicked(receiver.QP, bad)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.Zero(t, accepted)
	}
	accepted, err = recvs.PostPicked(receiver.QP, nil)
	require.NoError(t, err)
	require.Zero(t, accepted)
	accepted, err = recvs.Post(receiver.QP)
	require.NoError(t, err, "the chain is whole again, and nothing of the refused picks was posted")
	require.Equal(t, 8, accepted)
	accepted, err = recvs.PostPicked(receiver.QP, []int{7, 6, 5, 4, 3, 2, 1, 0})
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Equal(t, r.capacity(8)-8, accepted)
}
