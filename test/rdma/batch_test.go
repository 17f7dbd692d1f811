//go:build device && linux

package rdma

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

const writeOps = ibv.QPExWithRDMAWrite | ibv.QPExWithSend

// A batch writes through the handle of its queue pair, whole and in part, and
// nothing comes of it elsewhere.
func TestBatchThroughHandle(t *testing.T) {
	r := newRig(t)
	a, _ := r.pair(rdma.QPOptions{SendOps: writeOps})
	const n, size = 4, 64
	from, to := r.region(n*size), r.region(n*size)
	b, err := a.NewBatch(n, 1)
	require.NoError(t, err)
	require.Same(t, a.Raw(), &b.QP().QPBase)
	for i := range n {
		copy(from.Bytes()[i*size:], []byte{byte(i + 1)})
		require.NoError(t, b.RDMAWrite(i, uint64(i), ibv.SendSignaled, uint64(to.Raw().Addr)+uint64(i*size), to.Raw().RKey))
		require.NoError(t, b.SetSGE(i, ibv.SGE{Addr: uint64(from.Raw().Addr) + uint64(i*size), Length: size, LKey: from.Raw().LKey}))
	}
	accepted, err := a.PostBatchRange(b, 2, 4)
	require.NoError(t, err)
	require.Equal(t, 2, accepted)
	r.poll(a.send, 2)
	require.Equal(t, []byte{0, 0, 3, 4}, []byte{to.Bytes()[0], to.Bytes()[size], to.Bytes()[2*size], to.Bytes()[3*size]})
	accepted, err = a.PostBatch(b)
	require.NoError(t, err)
	require.Equal(t, n, accepted)
	r.poll(a.send, n)
	require.Equal(t, []byte{1, 2, 3, 4}, []byte{to.Bytes()[0], to.Bytes()[size], to.Bytes()[2*size], to.Bytes()[3*size]})

	_, err = a.NewBatch(0, 1)
	require.ErrorIs(t, err, syscall.EINVAL)
	other := r.end(rdma.QPOptions{SendOps: writeOps})
	_, err = other.PostBatch(b)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "another queue pair")

	_, err = r.pd.AdoptQP(other.Raw(), rdma.QPOptions{SendCQ: other.recv})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "another SendCQ")
	adopted, err := r.pd.AdoptQP(other.Raw(), rdma.QPOptions{SendCQ: other.send, RecvCQ: other.recv})
	require.NoError(t, err)
	_, err = adopted.NewBatch(n, 1)
	require.ErrorContains(t, err, "adopted")
	theirs, err := ibv.NewBatch(b.QP(), writeOps, 1, 1)
	require.NoError(t, err)
	_, err = adopted.PostBatch(theirs)
	require.ErrorContains(t, err, "another queue pair")
	ex, err := adopted.Raw().Ex()
	require.NoError(t, err)
	ours, err := ibv.NewBatch(ex, writeOps, 1, 1)
	require.NoError(t, err)
	_, err = adopted.PostBatch(ours)
	require.ErrorContains(t, err, "lacks its operation", "it gets as far as the batch itself")
	require.NoError(t, adopted.Close())

	require.NoError(t, a.Close())
	for _, post := range []func() (int, error){
		func() (int, error) { return a.PostBatch(b) },
		func() (int, error) { return a.PostBatchRange(b, 0, 1) },
	} {
		accepted, err := post()
		require.ErrorIs(t, err, rdma.ErrClosed)
		require.Zero(t, accepted)
	}
	_, err = a.NewBatch(n, 1)
	require.ErrorIs(t, err, rdma.ErrClosed)
}

// A queue pair that was not made for batches says so.
func TestBatchToPlainQueuePair(t *testing.T) {
	r := newRig(t)
	plain, extended := r.end(rdma.QPOptions{}), r.end(rdma.QPOptions{SendOps: writeOps})
	_, err := plain.NewBatch(1, 1)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "QPOptions.SendOps")
	b, err := extended.NewBatch(1, 1)
	require.NoError(t, err)
	_, err = plain.PostBatch(b)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "QPOptions.SendOps")
	adopted, err := r.pd.AdoptQP(plain.Raw(), rdma.QPOptions{})
	require.NoError(t, err)
	_, err = adopted.PostBatch(b)
	require.ErrorIs(t, err, errors.ErrUnsupported)
}
