//go:build device && linux

package rdma

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var errNotFull = errors.New("the queue was not full")

// Posts and polls through handles allocate nothing, but for what the portable way
// itself takes: what is accepted, what is refused because the queue is full, and
// completions on the caller's stack.
func TestHotCallsDoNotAllocate(t *testing.T) {
	if rdma.Checked() {
		t.Skip("checked mode takes notes, and memory for them")
	}
	r := newRig(t)
	a, b := r.pair(rdma.QPOptions{})
	srq, err := r.pd.CreateSRQ(2000, rdma.SRQOptions{})
	require.NoError(t, err)
	region := r.region(64)
	recv, send := r.recvChain(1, region, 64), r.sendChain(1, region, 64)
	const times = 50
	most := 0.0
	if !ibv.DirectCalls() {
		most = 2
	}
	requireNoAllocs := func(f func() error) {
		t.Helper()
		var failed error
		require.LessOrEqual(t, testing.AllocsPerRun(times, func() {
			if err := f(); err != nil {
				failed = err
			}
		}), most)
		require.NoError(t, failed)
	}
	requireNoAllocs(func() error { _, err := b.PostRecv(recv); return err })
	requireNoAllocs(func() error { _, err := srq.PostRecv(recv); return err })
	requireNoAllocs(func() error { _, err := srq.PostRecvRange(recv, 0, 1); return err })
	requireNoAllocs(func() error { _, err := a.PostSend(send); return err })
	for _, cq := range []*rdma.CQ{a.send, b.recv} {
		polled := 0
		for late := time.Now().Add(patience); polled < times+1; { // one warms up
			require.True(t, time.Now().Before(late), "%d completions have come", polled)
			requireNoAllocs(func() error {
				var wcs [4]ibv.WC
				n, err := cq.Poll(wcs[:])
				polled += n
				return err
			})
		}
	}
	for err = nil; err == nil; {
		_, err = b.PostRecv(recv)
	}
	require.ErrorIs(t, err, syscall.ENOMEM)
	requireNoAllocs(func() error {
		if accepted, err := b.PostRecv(recv); accepted != 0 || err == nil {
			return errNotFull
		}
		return nil
	})
}

// Receives for a queue pair with a shared receive queue go there, and posts and
// polls through closed handles nowhere. A Close that fails leaves them as they were.
func TestHotCallsThatGoNowhere(t *testing.T) {
	r := newRig(t)
	srq, err := r.pd.CreateSRQ(16, rdma.SRQOptions{})
	require.NoError(t, err)
	attached := r.end(rdma.QPOptions{SRQ: srq})
	region := r.region(2 * 64)
	recv, send := r.recvChain(2, region, 64), r.sendChain(2, region, 64)
	for _, post := range []func() (int, error){
		func() (int, error) { return attached.PostRecv(recv) },
		func() (int, error) { return attached.PostRecvRange(recv, 0, 1) },
	} {
		accepted, err := post()
		require.ErrorIs(t, err, ibv.ErrSRQAttached)
		require.Zero(t, accepted)
	}

	require.Error(t, srq.Close(), "the queue pair needs it")
	accepted, err := srq.PostRecv(recv)
	require.NoError(t, err)
	require.Equal(t, 2, accepted)

	require.NoError(t, attached.CloseAll())
	require.NoError(t, srq.Close())
	require.NoError(t, attached.send.Close())
	for name, post := range map[string]func() (int, error){
		"PostRecv":         func() (int, error) { return attached.PostRecv(recv) },
		"PostRecvRange":    func() (int, error) { return attached.PostRecvRange(recv, 0, 1) },
		"PostSend":         func() (int, error) { return attached.PostSend(send) },
		"PostSendRange":    func() (int, error) { return attached.PostSendRange(send, 0, 1) },
		"SRQPostRecv":      func() (int, error) { return srq.PostRecv(recv) },
		"SRQPostRecvRange": func() (int, error) { return srq.PostRecvRange(recv, 0, 1) },
		"Poll":             func() (int, error) { return attached.send.Poll(make([]ibv.WC, 1)) },
	} {
		accepted, err := post()
		require.ErrorIs(t, err, rdma.ErrClosed, name)
		require.Zero(t, accepted, name)
	}
}
