//go:build device && siw && linux

package rdma

import (
	"math/bits"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/rdma"
)

// siwName is the device of the guest that needs no peer to be asked.
const siwName = "siw0"

// A ring can be made on a shared receive queue that cannot be asked how much it takes.
func TestSiwSharedRing(t *testing.T) {
	const asked, buffers = 16, 10
	r := newRigOn(t, siwName)
	srq, err := r.pd.CreateSRQ(asked, rdma.SRQOptions{})
	require.NoError(t, err)
	// The one that is asked is a handle's that knows nothing.
	unknown, err := r.pd.AdoptSRQ(srq.Raw())
	require.NoError(t, err)
	cq := r.cq(4 * asked)
	_, err = rdma.NewSRQRecvRing(unknown, cq, rdma.RecvRingOptions{Buffers: buffers, Size: 64})
	require.NoError(t, err)
	// Its receives are in the queue: there is room for the rest only.
	accepted, err := srq.PostRecv(r.recvChain(asked, r.region(asked*64), 64))
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Equal(t, 1<<bits.Len(asked-1)-buffers, accepted) // the next power of two takes it
	// More buffers than fit: the first flush says so.
	four, err := r.pd.CreateSRQ(4, rdma.SRQOptions{})
	require.NoError(t, err)
	small, err := r.pd.AdoptSRQ(four.Raw())
	require.NoError(t, err)
	larger, err := rdma.NewSRQRecvRing(small, cq, rdma.RecvRingOptions{Buffers: 40, Size: 64})
	require.NoError(t, err)
	require.ErrorIs(t, larger.Flush(), syscall.ENOMEM)
}
