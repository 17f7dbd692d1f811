//go:build device && linux

package device

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// Soft-RoCE says of objects that it has no more of that something is invalid: the error
// says what that may be.
func TestNoMoreAddressHandles(t *testing.T) {
	if testing.Short() && guest.Release(t) < guest.Windows {
		t.Skip("rdma-core's older releases read a file for each address handle: all of them take minutes")
	}
	r := newRig(t)
	limits, err := r.ctx.QueryDevice()
	require.NoError(t, err)
	var ahs []*ibv.AH
	for range limits.MaxAH + 1 {
		var ah *ibv.AH
		if ah, err = r.pd.CreateAHTo(port, r.gid.GIDIndex, r.gid.GID); err != nil {
			break
		}
		ahs = append(ahs, ah)
	}
	for _, ah := range ahs {
		require.NoError(t, ah.Close())
	}
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "or the device has no more of them")
	ah, err := r.pd.CreateAHTo(port, r.gid.GIDIndex, r.gid.GID)
	require.NoError(t, err)
	require.NoError(t, ah.Close())
}
