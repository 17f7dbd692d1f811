//go:build !freebsd

package inprocess

import (
	"math"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/internal/postforms"
)

// Every choice of a small chain, in every order, is posted as it is, and the
// chain is whole afterwards.
func TestPostPickedInEveryOrder(t *testing.T) {
	p := open(t)
	const n = 4
	recv, send := postforms.RecvChain(t, n, 0), postforms.SendChain(t, n, 0)
	for op, post := range postforms.Pickers(p.Queues, recv, send) {
		var try func(picked []int)
		try = func(picked []int) {
			if len(picked) > 0 {
				p.forget(-1, ibvtest.Refusal{})
				took, err := post(picked...)
				require.NoError(t, err, op)
				require.Equal(t, len(picked), took)
				require.Len(t, p.taken, took)
				for k, i := range picked {
					require.EqualValues(t, postforms.FirstID+i, p.taken[k])
				}
				requireWhole(t, recv, send)
			}
			for i := range n {
				if !slices.Contains(picked, i) {
					try(append(picked[:len(picked):len(picked)], i))
				}
			}
		}
		try(nil)
	}
}

// What does not exist, or is picked twice, is refused before anything is posted.
func TestPostPickedWrongly(t *testing.T) {
	p := open(t)
	recv, send := postforms.RecvChain(t, 4, 0), postforms.SendChain(t, 4, 0)
	for op, post := range postforms.Pickers(p.Queues, recv, send) {
		for _, picked := range [][]int{{-1}, {4}, {math.MaxInt}, {math.MinInt}, {0, 0}, {3, 3}, {3, 2, 1, 3}, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 0}, {2, 4}, {1, -1, 1}} {
			accepted, err := post(picked...)
			require.Zero(t, accepted)
			require.ErrorIs(t, err, syscall.EINVAL)
			require.ErrorContains(t, err, op)
			requireWhole(t, recv, send)
		}
	}
	require.Zero(t, p.asked, "the device must not be asked")
}

func requireWhole(t *testing.T, recv *ibv.RecvChain, send *ibv.SendChain) {
	t.Helper()
	for i := range recv.Len() - 1 {
		require.Same(t, recv.WR(i+1), recv.WR(i).Next)
		require.Same(t, send.WR(i+1), send.WR(i).Next)
	}
	require.Nil(t, recv.WR(recv.Len()-1).Next)
	require.Nil(t, send.WR(send.Len()-1).Next)
}
