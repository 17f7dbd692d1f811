//go:build device && linux

package rdma

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// What is closed says so, and what others need cannot be closed.
func TestClose(t *testing.T) {
	r := newRig(t)
	cq := r.cq(128)
	qp, err := r.pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq})
	require.NoError(t, err)
	chain, err := ibv.NewRecvChain(1, 0)
	require.NoError(t, err)

	var children *rdma.ChildrenError
	require.ErrorAs(t, cq.Close(), &children)
	require.Equal(t, []string{qp.String()}, children.Children)
	require.ErrorIs(t, children, syscall.EBUSY)

	require.NoError(t, qp.Close())
	require.ErrorIs(t, qp.Close(), rdma.ErrClosed)
	_, err = qp.PostRecv(chain)
	require.ErrorIs(t, err, rdma.ErrClosed)
	require.NoError(t, cq.Close())
	_, err = cq.Poll(make([]ibv.WC, 1))
	require.ErrorIs(t, err, rdma.ErrClosed)
	_, err = r.pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq})
	require.ErrorIs(t, err, rdma.ErrClosed)
}

// A ring on what is closed is an error, and C's objects, which are gone, are not
// looked at.
func TestRingsOnWhatIsClosed(t *testing.T) {
	r := newRig(t)
	for _, closesSRQ := range []bool{true, false} {
		srq, err := r.pd.CreateSRQ(8, rdma.SRQOptions{})
		require.NoError(t, err)
		cq := r.cq(8)
		if closesSRQ {
			require.NoError(t, srq.Close())
		} else {
			require.NoError(t, cq.Close())
		}
		_, err = rdma.NewSRQRecvRing(srq, cq, rdma.RecvRingOptions{})
		require.ErrorIs(t, err, rdma.ErrClosed)
	}
	qp := r.end(rdma.QPOptions{})
	require.NoError(t, qp.Close())
	_, err := rdma.NewRecvRing(qp.QP, rdma.RecvRingOptions{})
	require.ErrorIs(t, err, rdma.ErrClosed)
	_, err = rdma.NewSendRing(qp.QP, rdma.SendRingOptions{})
	require.ErrorIs(t, err, rdma.ErrClosed)
}
