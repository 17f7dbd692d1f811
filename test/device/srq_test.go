//go:build device

package device

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

func (r *rig) srq(entries uint32) *ibv.SRQ {
	r.t.Helper()
	srq, err := r.pd.CreateSRQ(&ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: entries, MaxSGE: 4}})
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, srq.Close()) })
	return srq
}

func TestSharedReceiveQueue(t *testing.T) {
	const n = 20 // messages to each queue pair
	r := newRig(t)
	srq := r.srq(2 * n)
	from, to := r.memory(n), r.memory(2*n)
	receivers := []side{r.side(ibv.QPTRC, 1, n, srq), r.side(ibv.QPTRC, 1, n, srq)}
	senders := []side{r.side(ibv.QPTRC, n, 1, nil), r.side(ibv.QPTRC, n, 1, nil)}
	recvs := r.recvChain(2*n, to)
	accepted, err := recvs.PostSRQ(srq)
	require.NoError(t, err)
	require.Equal(t, 2*n, accepted)
	attr, err := srq.Query()
	require.NoError(t, err)
	require.GreaterOrEqual(t, attr.MaxWR, uint32(2*n))
	for i := range n {
		fill(bytesOf(from, i)[:50], uint64(i))
	}
	for k := range senders {
		r.connect(senders[k].QP, receivers[k].QP)
		_, err := r.sendChain(n, from, func(int) int { return 50 }).Post(senders[k].QP)
		require.NoError(t, err)
	}
	used := map[uint64]bool{}
	for _, receiver := range receivers {
		for i, wc := range r.poll(receiver.recv, n) {
			require.Equal(t, receiver.QPNum, wc.QPNum)
			require.False(t, used[wc.WRID], "one receive, one message")
			used[wc.WRID] = true
			requireFilled(t, bytesOf(to, int(wc.WRID))[:50], 50, uint64(i), 0)
		}
		r.quiet(receiver.recv)
	}
	require.Len(t, used, 2*n)
}

func TestSharedReceiveQueueFull(t *testing.T) {
	r := newRig(t)
	srq := r.srq(4)
	chain, err := ibv.NewRecvChain(100, 1)
	require.NoError(t, err)
	accepted, err := chain.PostSRQ(srq)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.GreaterOrEqual(t, accepted, 4)
	require.Less(t, accepted, 100)
	none, err := chain.PostRange(srq, accepted, 100)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Zero(t, none)
	bad, err := srq.PostRecv(chain.WR(7))
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Same(t, chain.WR(7), bad)
}

func TestReceiveOnAQueuePairWithSRQIsRefused(t *testing.T) {
	r := newRig(t)
	srq := r.srq(4)
	qp := r.side(ibv.QPTRC, 1, 0, srq)
	require.NoError(t, toInit(qp.QP, access))
	chain, err := ibv.NewRecvChain(2, 1)
	require.NoError(t, err)
	for _, post := range []func() (int, error){
		func() (int, error) { return chain.Post(qp.QP) },
		func() (int, error) { return chain.PostRange(qp.QP, 0, 1) },
	} {
		accepted, err := post()
		require.ErrorIs(t, err, ibv.ErrSRQAttached)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.Zero(t, accepted)
	}
	bad, err := qp.PostRecv(chain.WR(0))
	require.ErrorIs(t, err, ibv.ErrSRQAttached)
	require.Same(t, chain.WR(0), bad)
	accepted, err := chain.PostSRQ(qp.SRQ)
	require.NoError(t, err, "this is where they go")
	require.Equal(t, 2, accepted)
}
