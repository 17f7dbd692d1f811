//go:build !freebsd

package ibvtest_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
)

// Whatever way a provider has of refusing the k-th work request, a post says how many
// were accepted, or that nobody knows, and wraps the reason.
func TestRefusals(t *testing.T) {
	results := []ibvtest.ResultKind{ibvtest.PositiveErrno, ibvtest.NegativeErrno, ibvtest.MinusOne, ibvtest.Zero}
	bads := []ibvtest.BadWRKind{ibvtest.BadWRRefused, ibvtest.BadWRUnset, ibvtest.BadWRNull, ibvtest.BadWRStale, ibvtest.BadWRForeign}
	for _, result := range results {
		for _, bad := range bads {
			for k := range 4 {
				refusal := ibvtest.Refusal{Errno: syscall.EXDEV, Result: result, BadWR: bad}
				t.Run(fmt.Sprintf("%v, number %d", refusal, k), func(t *testing.T) { testRefusal(t, refusal, k) })
			}
		}
	}
}

func testRefusal(t *testing.T, refusal ibvtest.Refusal, k int) {
	memory, err := ibv.AllocBuffer(64)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, memory.Free()) })
	r := newRig(t)
	qp := r.qp(ibv.QPTRC)
	chain, err := ibv.NewRecvChain(4, 1)
	require.NoError(t, err)
	region, err := r.pd.Register(memory, ibv.AccessLocalWrite)
	require.NoError(t, err)
	for i := range 4 {
		require.NoError(t, chain.Set(i, uint64(i), region.SGE(16*i, 16)))
	}
	r.f.OnPost(func(p *ibvtest.PostedWR) {
		require.True(t, p.Receive)
		require.Equal(t, qp.Number(), p.QPNum)
		require.EqualValues(t, p.Index, p.WRID)
		if p.Nth == k+1 {
			p.Refuse(refusal)
		}
	})
	accepted, err := qp.PostRecv(chain)
	known := refusal.BadWR == ibvtest.BadWRRefused
	switch {
	case refusal.Result == ibvtest.Zero && !known:
		require.NoError(t, err, "0 is success, unless bad_wr points into the list")
	case known:
		require.Equal(t, k, accepted)
		require.Error(t, err)
	default:
		require.ErrorIs(t, err, ibv.ErrAcceptedUnknown)
		require.Equal(t, -1, accepted)
	}
	if refusal.Result != ibvtest.Zero {
		require.ErrorIs(t, err, syscall.EXDEV)
	}
}
