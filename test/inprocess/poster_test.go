//go:build !freebsd

package inprocess

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/postforms"
)

// The posts of a queue pair with a shared receive queue go nowhere, and say so.
func TestPosterOfAttachedQueuePair(t *testing.T) {
	p := open(t)
	chain, poster := postforms.RecvChain(t, 3, 0), p.SRQQP.RecvPoster()
	for _, post := range []func() (int, error){
		func() (int, error) { return poster.Post(chain) },
		func() (int, error) { return poster.PostRange(chain, 1, 2) },
	} {
		accepted, err := post()
		require.ErrorIs(t, err, ibv.ErrSRQAttached)
		require.Zero(t, accepted)
	}
	accepted, err := poster.PostRange(chain, 2, 2)
	require.NoError(t, err)
	require.Zero(t, accepted)
}

// A chain that is not there is a mistake of the program's, as with [RecvChain.Post],
// and one without work requests a success.
func TestPostersOfNothing(t *testing.T) {
	p := open(t)
	recv, attached, send := p.QP.RecvPoster(), p.SRQQP.RecvPoster(), p.QP.SendPoster()
	require.Panics(t, func() { _, _ = recv.Post(nil) })
	require.Panics(t, func() { _, _ = attached.Post(nil) })
	require.Panics(t, func() { _, _ = send.Post(nil) })
	for _, post := range []func() (int, error){
		func() (int, error) { return recv.Post(new(ibv.RecvChain)) },
		func() (int, error) { return attached.Post(new(ibv.RecvChain)) },
		func() (int, error) { return send.Post(new(ibv.SendChain)) },
	} {
		accepted, err := post()
		require.NoError(t, err)
		require.Zero(t, accepted)
	}
}
