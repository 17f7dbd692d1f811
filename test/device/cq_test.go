//go:build device

package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

func TestPollNoneOneAndMany(t *testing.T) {
	const n = 10
	r := newRig(t)
	from, to := r.memory(n), r.memory(n)
	sender, receiver := r.pair(n, n)
	_, err := r.recvChain(n, to).Post(receiver.QP)
	require.NoError(t, err)

	wcs := make([]ibv.WC, 2*n)
	got, err := receiver.recv.Poll(wcs)
	require.NoError(t, err)
	require.Zero(t, got, "nothing has come yet")

	_, err = r.sendChain(n, from, func(i int) int { return i }).Post(sender.QP)
	require.NoError(t, err)
	r.poll(sender.send, n) // acknowledged: all receives have completed
	got, err = receiver.recv.Poll(nil)
	require.NoError(t, err)
	require.Zero(t, got, "room for none takes none")
	got, err = receiver.recv.Poll(wcs[:1])
	require.NoError(t, err)
	require.Equal(t, 1, got)
	require.Equal(t, uint64(0), wcs[0].WRID)
	got, err = receiver.recv.Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, n-1, got, "all that are there, and no more")
	for i := range wcs[:got] {
		require.NoError(t, wcs[i].Err())
		require.Equal(t, uint64(i+1), wcs[i].WRID)
		require.Equal(t, uint32(i+1), wcs[i].ByteLen)
	}
	requireNoAllocations(t, func() {
		if _, err := receiver.recv.Poll(wcs); err != nil {
			t.Error(err)
		}
	})
}
