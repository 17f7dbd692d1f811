//go:build !freebsd

package inprocess

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
)

func TestPollWithoutRoom(t *testing.T) {
	p := open(t)
	p.f.OnPoll(func(poll *ibvtest.Polled) { poll.Return(-1) }) // if it is asked
	for _, wcs := range [][]ibv.WC{nil, {}} {
		n, err := p.cq.Raw().Poll(wcs)
		require.NoError(t, err)
		require.Zero(t, n)
	}
}

// A provider that claims to have found more than it was asked for is not believed,
// and what there was room for is there.
func TestPollReturnsMoreThanAsked(t *testing.T) {
	p := open(t)
	p.f.OnPoll(func(poll *ibvtest.Polled) { poll.Return(9) })
	wcs := make([]ibv.WC, 4)
	n, err := p.cq.Raw().Poll(wcs)
	require.Equal(t, 4, n)
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorContains(t, err, "9 completions where 4 were asked for")
}
