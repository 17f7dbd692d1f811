//go:build device && siw && linux

package rdmacm_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/rdmacm"
)

// ours is a queue pair of rdma's. On iWARP librdmacm connects it by its number, and
// nobody tells C's object of the states.
func ours(e *ringEnd) *rdma.QP {
	e.t.Helper()
	require.Equal(e.t, "siw0", e.dev.Raw().Device.String(), "librdmacm connects on the first device that has the address")
	qp, err := e.pd.CreateQP(rdma.QPOptions{SendCQ: e.send, RecvCQ: e.recv, Cap: capacity})
	require.NoError(e.t, err)
	return qp
}

// Rings work on queue pairs of rdma's, too, though C takes them to be in RESET.
func TestSiwRings(t *testing.T) {
	active, passive := meet(t, ownQueues, ours)
	ctx := deadline(t)
	both(t, active, passive, func(e *ringEnd) error { return e.exchange(ctx, 500) })
	require.NoError(t, active.write(ctx, 1))
	require.NoError(t, passive.written(ctx, 1))
	for _, e := range []*ringEnd{active, passive} {
		require.Equal(t, ibv.QPSReset, e.qp.Raw().State)
	}
	require.NoError(t, rdmacm.Disconnect(active.id))
	for _, e := range []*ringEnd{active, passive} {
		f := e.waitToTheEnd(ctx)
		require.NoError(t, f.err)
		require.Equal(t, ibv.WCWRFlushErr, f.statuses[buffers-1])
		require.NoError(t, e.dev.CloseAll())
	}
}

// What siw refuses on a connected queue pair, the handle tells as of any other device:
// how many were accepted, and why no more.
func TestSiwRefusals(t *testing.T) {
	active, passive := meet(t, ownQueues, theirs)
	ctx := deadline(t)
	both(t, active, passive, func(e *ringEnd) error { return e.exchange(ctx, 2*buffers) })
	qp := active.qp

	// The receives of the ring fill the queue.
	recvs, err := ibv.NewRecvChain(2, 1)
	require.NoError(t, err)
	for i := range 2 {
		require.NoError(t, recvs.Set(i, uint64(i), active.memory.SGE(0, length)))
	}
	accepted, err := qp.PostRecv(recvs)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Zero(t, accepted)
	require.NoError(t, recvs.Set(1, 1))
	accepted, err = qp.PostRecvRange(recvs, 1, 2)
	require.ErrorIs(t, err, syscall.ENOMEM, "full, before it is looked at")
	require.Zero(t, accepted)

	require.NoError(t, passive.dev.CloseAll())
	require.Equal(t, ibv.WCWRFlushErr, active.waitToTheEnd(ctx).statuses[buffers-1])
	// The queue is empty now, and the receive without entries is what is wrong.
	accepted, err = qp.PostRecv(recvs)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Equal(t, 1, accepted)

	// Sends are taken and never done, until the queue is full.
	sends, err := ibv.NewSendChain(2*depth, 1)
	require.NoError(t, err)
	for i := range 2 * depth {
		require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, active.memory.SGE(0, length)))
	}
	accepted, err = qp.PostSend(sends)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Equal(t, depth, accepted)
	again, err := qp.PostSendRange(sends, accepted, sends.Len())
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Zero(t, again)

	require.NoError(t, qp.Close())
	for _, post := range []func() (int, error){
		func() (int, error) { return qp.PostSend(sends) },
		func() (int, error) { return qp.PostSendRange(sends, 0, 1) },
		func() (int, error) { return qp.PostRecv(recvs) },
		func() (int, error) { return qp.PostRecvRange(recvs, 0, 1) },
	} {
		accepted, err := post()
		require.ErrorIs(t, err, rdma.ErrClosed)
		require.Zero(t, accepted)
	}
	require.NoError(t, active.dev.CloseAll())
}

// A shared receive queue refuses as clearly, and so does a queue pair that is on one.
func TestSiwSharedRefusals(t *testing.T) {
	active, _ := meet(t, ownQueues, shared)
	recvs, err := ibv.NewRecvChain(2*buffers, 1)
	require.NoError(t, err)
	for i := range 2 * buffers {
		require.NoError(t, recvs.Set(i, uint64(i), active.memory.SGE(i*length, length)))
	}
	accepted, err := active.srq.PostRecv(recvs)
	require.ErrorIs(t, err, syscall.ENOMEM, "those of the ring are in it")
	require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Zero(t, accepted)
	accepted, err = active.qp.PostRecv(recvs)
	require.ErrorIs(t, err, ibv.ErrSRQAttached)
	require.Zero(t, accepted)
	_, err = rdma.NewRecvRing(active.qp, rdma.RecvRingOptions{})
	require.ErrorIs(t, err, ibv.ErrSRQAttached)

	other, err := active.pd.CreateSRQ(2*buffers, rdma.SRQOptions{})
	require.NoError(t, err)
	require.NoError(t, recvs.Set(buffers, 0)) // without entries
	accepted, err = other.PostRecv(recvs)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Equal(t, buffers, accepted)
	require.NoError(t, other.Close())
	accepted, err = other.PostRecv(recvs)
	require.ErrorIs(t, err, rdma.ErrClosed)
	require.Zero(t, accepted)
}
