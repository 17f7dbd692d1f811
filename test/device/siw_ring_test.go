//go:build device && siw

package device

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// A ring can be made on a shared receive queue that cannot be asked how much it takes.
func TestSiwSharedRing(t *testing.T) {
	const asked, buffers = 16, 10
	r := newRigOn(t, siwName)
	srq, cq := r.srq(asked), r.cq(4*asked)
	ring, err := ibv.NewSRQRecvRing(srq, cq, buffers, 64)
	require.NoError(t, err)
	defer func() { require.NoError(t, ring.Close()) }()
	// Its receives are in the queue: there is room for the rest only.
	accepted, err := siwReceives(r, asked).PostSRQ(srq)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Equal(t, nextPowerOfTwo(asked)-buffers, accepted)
	// More buffers than fit: the first flush says so.
	larger, err := ibv.NewSRQRecvRing(r.srq(4), cq, 40, 64)
	require.NoError(t, err)
	defer func() { require.NoError(t, larger.Close()) }()
	require.ErrorIs(t, larger.Flush(), syscall.ENOMEM)
}
