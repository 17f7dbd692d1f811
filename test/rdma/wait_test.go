//go:build device && linux

package rdma

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// flusher is a queue pair in ERR: each receive that is posted completes, once the
// queue pair is told again, and nothing else comes to its completion queue.
type flusher struct {
	*rig
	cq    *rdma.CQ
	qp    *rdma.QP
	chain *ibv.RecvChain
}

func (r *rig) flusher(cq *rdma.CQ) *flusher {
	r.t.Helper()
	qp, err := r.pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq})
	require.NoError(r.t, err)
	chain, err := ibv.NewRecvChain(1, 0)
	require.NoError(r.t, err)
	init := &ibv.QPAttr{QPState: ibv.QPSInit, PortNum: 1}
	require.NoError(r.t, qp.Raw().Modify(init, ibv.QPAttrMaskState|ibv.QPAttrMaskPort|ibv.QPAttrMaskPKeyIndex|ibv.QPAttrMaskAccessFlags))
	f := &flusher{rig: r, cq: cq, qp: qp, chain: chain}
	f.toErr()
	return f
}

func (f *flusher) toErr() {
	require.NoError(f.t, f.qp.Raw().Modify(&ibv.QPAttr{QPState: ibv.QPSErr}, ibv.QPAttrMaskState))
}

// complete has one completion come, with the number.
func (f *flusher) complete(id uint64) {
	f.chain.WR(0).WRID = id
	n, err := f.qp.PostRecv(f.chain)
	require.NoError(f.t, err)
	require.Equal(f.t, 1, n)
	f.toErr()
}

// A goroutine waits until a completion comes, and gets those that are there at once.
func TestWait(t *testing.T) {
	r := newRig(t)
	f := r.flusher(r.cq(16))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	wcs := make([]ibv.WC, 4)
	for i := range uint64(100) {
		done := make(chan error)
		go func() {
			n, err := f.cq.Wait(ctx, wcs)
			if err == nil && (n != 1 || wcs[0].WRID != i) {
				err = errors.New("wrong completions")
			}
			done <- err
		}()
		if i%2 == 0 {
			time.Sleep(time.Millisecond)
		}
		f.complete(i)
		require.NoError(t, <-done)
	}
	for i := range 5 {
		f.complete(uint64(i))
	}
	ended, end := context.WithCancel(context.Background())
	end()
	for got, deadline := 0, time.Now().Add(patience); got < 5; {
		n, err := f.cq.Wait(ended, wcs)
		if err != nil { // the device takes a moment
			require.ErrorIs(t, err, context.Canceled)
			require.True(t, time.Now().Before(deadline), "completions come before the end")
			continue
		}
		for i := range wcs[:n] {
			require.EqualValues(t, got+i, wcs[i].WRID)
		}
		got += n
	}
	_, err := f.cq.Wait(ended, wcs)
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.cq.Wait(ctx, nil)
	require.ErrorIs(t, err, syscall.EINVAL)
}

// A context that ends, ends the waiting, and its cause is the error's.
func TestWaitEnds(t *testing.T) {
	r := newRig(t)
	cq := r.cq(16)
	wcs := make([]ibv.WC, 1)

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := cq.Wait(ctx, wcs)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "wait on "+cq.String())

	reason := errors.New("the reason")
	for _, before := range []time.Duration{0, 10 * time.Millisecond} {
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(before, func() { cancel(reason) })
		_, err = cq.Wait(ctx, wcs)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, reason)
	}

	done := make(chan error)
	go func() {
		_, err := cq.Wait(context.Background(), wcs)
		done <- err
	}()
	time.Sleep(10 * time.Millisecond)
	require.NoError(t, cq.Close())
	err = <-done
	require.ErrorIs(t, err, rdma.ErrClosed)
	require.ErrorIs(t, err, fs.ErrClosed)
	_, err = cq.Wait(context.Background(), wcs)
	require.ErrorIs(t, err, rdma.ErrClosed)
}

// A queue's events come once, so one handle of it waits for them.
func TestAdoptQueueTwice(t *testing.T) {
	r := newRig(t)
	rawChannel, err := r.dev.Raw().CreateCompChannel()
	require.NoError(t, err)
	channel, err := r.dev.AdoptChannel(rawChannel)
	require.NoError(t, err)
	raw, err := r.dev.Raw().CreateCQWithChannel(10, 0, rawChannel, 0)
	require.NoError(t, err)
	opts := rdma.CQOptions{Channel: channel}
	first, err := r.dev.AdoptCQ(raw, opts)
	require.NoError(t, err)
	_, err = r.dev.AdoptCQ(raw, opts)
	require.ErrorIs(t, err, syscall.EBUSY)
	polls, err := r.dev.AdoptCQ(raw, rdma.CQOptions{})
	require.NoError(t, err)
	require.NoError(t, polls.Close())
	require.NoError(t, first.Close())
	again, err := r.dev.AdoptCQ(raw, opts)
	require.NoError(t, err)
	require.NoError(t, again.Close())
	require.NoError(t, raw.Close())

	own, err := r.dev.CreateCQ(10, opts)
	require.NoError(t, err)
	_, err = r.dev.AdoptCQ(own.Raw(), opts)
	require.ErrorIs(t, err, syscall.EBUSY)
	require.NoError(t, own.Close())
	require.NoError(t, channel.Close())
	require.NoError(t, rawChannel.Close())
}
