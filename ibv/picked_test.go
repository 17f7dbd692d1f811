package ibv_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/postforms"
)

// A work request of the chain that was not picked was not refused either.
func TestPostPickedAndTheRestOfTheChain(t *testing.T) {
	p := newProvider(t, wholeContext)
	recv, send := recvChain(t, 5, 0), sendChain(t, 5, 0)
	for op, post := range postforms.Pickers(queuesOf(p), recv, send) {
		p.Play(script{Room: all})
		_, err := post(0, 1)
		require.NoError(t, err)
		p.Play(script{Result: int32(syscall.EINVAL), Bad: stale})
		accepted, err := post(4, 2)
		require.ErrorIs(t, err, ibv.ErrAcceptedUnknown, op)
		require.Equal(t, unknown, accepted)

		p.Play(script{Room: all})
		_, err = post(0, 1)
		require.NoError(t, err)
		p.Play(script{Room: all, Bad: stale})
		accepted, err = post(4, 2)
		require.NoError(t, err, op)
		require.Equal(t, 2, accepted)
	}
}
