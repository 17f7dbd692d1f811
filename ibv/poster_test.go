package ibv_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// Whoever stands between a program and a queue is asked for all posts, whole and in
// part, and answers for the queue.
func TestPostersOfAnyFunction(t *testing.T) {
	refused := errors.New("refused")
	recvs, sends := recvChain(t, 4, 0), sendChain(t, 5, 0)
	recv := ibv.NewRecvPoster(func(c *ibv.RecvChain, first, end int) (int, error) {
		require.Same(t, recvs, c)
		return 10*first + end, refused
	})
	send := ibv.NewSendPoster(func(c *ibv.SendChain, first, end int) (int, error) {
		require.Same(t, sends, c)
		return 10*first + end, refused
	})
	for want, post := range map[int]func() (int, error){
		4:  func() (int, error) { return recv.Post(recvs) },
		13: func() (int, error) { return recv.PostRange(recvs, 1, 3) },
		5:  func() (int, error) { return send.Post(sends) },
		24: func() (int, error) { return send.PostRange(sends, 2, 4) },
	} {
		accepted, err := post()
		require.Equal(t, refused, err)
		require.Equal(t, want, accepted)
	}
}

// A poll that is anybody's function may keep what it fills, and grow its stack
// meanwhile: the caller's slice, which may be on its own stack, gets a copy.
func TestPollerOfAnyFunction(t *testing.T) {
	failed := errors.New("failed")
	var kept [][]ibv.WC
	poller := ibv.NewPoller(func(wcs []ibv.WC) (int, error) {
		kept = append(kept, wcs)
		for i := range wcs {
			wcs[i].WRID = uint64(len(wcs))
		}
		var err error
		if len(wcs) == 3 {
			err = failed
		}
		return len(wcs) - 1, err
	})
	for range 3 {
		var wcs [300]ibv.WC
		n, err := poller.Poll(wcs[:300])
		require.NoError(t, err)
		require.Equal(t, 299, n)
		require.EqualValues(t, 300, wcs[298].WRID)
		require.Zero(t, wcs[299])

		wcs[2].WRID = 7
		n, err = poller.Poll(wcs[:3])
		require.Equal(t, failed, err)
		require.Equal(t, 2, n)
		require.EqualValues(t, 3, wcs[1].WRID)
		require.EqualValues(t, 300, wcs[3].WRID)
		require.EqualValues(t, 7, wcs[2].WRID)
		require.NotSame(t, &kept[len(kept)-1][0], &wcs[0])
	}
	for _, n := range []int{-1, 5} { // what no poll should return
		poller := ibv.NewPoller(func([]ibv.WC) (int, error) { return n, failed })
		got, err := poller.Poll(make([]ibv.WC, 4))
		require.Equal(t, failed, err)
		require.Equal(t, n, got)
		_, err = poller.Poll(nil)
		require.Equal(t, failed, err)
	}
}
