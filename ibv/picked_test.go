package ibv_test

import (
	"math"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// pickers are the ways to post what is picked from a chain, by what errors call
// them.
func pickers(p *provider, recv *ibv.RecvChain, send *ibv.SendChain) map[string]func(picked ...int) (int, error) {
	return map[string]func(picked ...int) (int, error){
		"post receive":        func(picked ...int) (int, error) { return recv.PostPicked(p.QP, picked) },
		"post shared receive": func(picked ...int) (int, error) { return recv.PostPicked(p.SRQ, picked) },
		"post send":           func(picked ...int) (int, error) { return send.PostPicked(p.QP, picked) },
	}
}

// Every choice of a small chain, in every order, is posted as it is, and the
// chain is whole afterwards.
func TestPostPickedInEveryOrder(t *testing.T) {
	p := newProvider(t, wholeContext)
	const n = 4
	recv, send := recvChain(t, n, 0), sendChain(t, n, 0)
	for op, post := range pickers(p, recv, send) {
		var try func(picked []int)
		try = func(picked []int) {
			if len(picked) > 0 {
				p.Play(script{Room: all})
				took, err := post(picked...)
				require.NoError(t, err, op)
				require.Equal(t, len(picked), took)
				require.Equal(t, len(picked), p.Saw(accepted))
				for k, i := range picked {
					require.EqualValues(t, firstID+i, p.SawWR(k).WRID)
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
	p := newProvider(t, wholeContext)
	recv, send := recvChain(t, 4, 0), sendChain(t, 4, 0)
	p.Play(script{Room: all})
	for op, post := range pickers(p, recv, send) {
		for _, picked := range [][]int{{-1}, {4}, {math.MaxInt}, {math.MinInt}, {0, 0}, {3, 3}, {3, 2, 1, 3}, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 0}, {2, 4}, {1, -1, 1}} {
			accepted, err := post(picked...)
			require.Zero(t, accepted)
			require.ErrorIs(t, err, syscall.EINVAL)
			require.ErrorContains(t, err, op)
			requireWhole(t, recv, send)
		}
	}
	require.Zero(t, p.Saw(calls), "the provider must not be asked")
}

// A work request of the chain that was not picked was not refused either.
func TestPostPickedAndTheRestOfTheChain(t *testing.T) {
	p := newProvider(t, wholeContext)
	recv, send := recvChain(t, 5, 0), sendChain(t, 5, 0)
	for op, post := range pickers(p, recv, send) {
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

func requireWhole(t *testing.T, recv *ibv.RecvChain, send *ibv.SendChain) {
	t.Helper()
	for i := range recv.Len() - 1 {
		require.Same(t, recv.WR(i+1), recv.WR(i).Next)
		require.Same(t, send.WR(i+1), send.WR(i).Next)
	}
	require.Nil(t, recv.WR(recv.Len()-1).Next)
	require.Nil(t, send.WR(send.Len()-1).Next)
}
