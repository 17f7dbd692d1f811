//go:build device && linux

package rdma

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// An extended completion queue is polled and waited for through its handle.
func TestExtendedCQ(t *testing.T) {
	guest.Needs(t, guest.Extended)
	r := newRig(t)
	const fields = ibv.WCFieldByteLen | ibv.WCFieldOpcode | ibv.WCFieldQPNum
	cq, err := r.dev.CreateCQ(16, rdma.CQOptions{Fields: fields})
	require.NoError(t, err)
	caps := ibv.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}
	make1 := func() *rdma.QP {
		qp, err := r.pd.CreateQP(rdma.QPOptions{SendCQ: r.cq(16), RecvCQ: cq, Cap: caps})
		require.NoError(t, err)
		return qp
	}
	a, b := make1(), make1()
	r.connect(a, b)
	from, into := r.region(64), r.region(3*64)
	recv, send := r.recvChain(3, into, 64), r.sendChain(1, from, 24)

	wcs := make([]ibv.ExtendedWC, 4)
	n, err := cq.PollExtended(wcs)
	require.NoError(t, err)
	require.Zero(t, n)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	_, err = cq.WaitExtended(ctx, wcs)
	cancel()
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = cq.WaitExtended(t.Context(), nil)
	require.ErrorIs(t, err, syscall.EINVAL)

	_, err = b.PostRecv(recv)
	require.NoError(t, err)
	check := func(wc *ibv.ExtendedWC, id uint64) {
		t.Helper()
		require.NoError(t, wc.Err())
		require.Equal(t, id, wc.WRID)
		require.EqualValues(t, 24, wc.ByteLen())
		require.Equal(t, ibv.WCRecv, wc.Opcode())
		require.Equal(t, b.Raw().QPNum, wc.QPNum())
	}
	ctx, cancel = context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() {
		time.Sleep(20 * time.Millisecond) // until the other one waits
		_, _ = a.PostSend(send)
	}()
	n, err = cq.WaitExtended(ctx, wcs)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	check(&wcs[0], 0)

	_, err = a.PostSend(send)
	require.NoError(t, err)
	for n = 0; n == 0; {
		require.NoError(t, ctx.Err())
		n, err = cq.PollExtended(wcs)
		require.NoError(t, err)
	}
	check(&wcs[0], 1)

	// Close ends a wait, and polls from then on.
	require.NoError(t, errors.Join(a.Close(), b.Close()))
	waited := make(chan error)
	go func() {
		_, err := cq.WaitExtended(ctx, make([]ibv.ExtendedWC, 1))
		waited <- err
	}()
	time.Sleep(20 * time.Millisecond)
	require.NoError(t, cq.Close())
	require.ErrorIs(t, <-waited, rdma.ErrClosed)
	_, err = cq.PollExtended(wcs)
	require.ErrorIs(t, err, rdma.ErrClosed)
	_, err = cq.WaitExtended(ctx, wcs)
	require.ErrorIs(t, err, rdma.ErrClosed)
}

// What a queue cannot tell is an error, when it is made or when it is polled.
func TestExtendedCQRefused(t *testing.T) {
	r := newRig(t)
	plain := r.cq(4)
	for _, poll := range []func([]ibv.ExtendedWC) (int, error){
		plain.PollExtended,
		func(into []ibv.ExtendedWC) (int, error) { return plain.WaitExtended(t.Context(), into) },
	} {
		_, err := poll(make([]ibv.ExtendedWC, 1))
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.ErrorContains(t, err, "CQOptions.Fields")
	}
	for _, opts := range []rdma.CQOptions{
		{Fields: ibv.WCFieldTMInfo}, // Soft-RoCE has no tag matching
		{Fields: 1 << 29},
		{Fields: ibv.WCFieldByteLen, Vector: -1},
	} {
		_, err := r.dev.CreateCQ(4, opts)
		require.Error(t, err)
	}
	for _, entries := range []int{0, -1} {
		_, err := r.dev.CreateCQ(entries, rdma.CQOptions{Fields: ibv.WCFieldByteLen})
		require.Error(t, err)
	}
}
