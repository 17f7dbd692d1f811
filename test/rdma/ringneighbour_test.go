//go:build device && linux

package rdma

import (
	"encoding/binary"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Messages are right while the collector runs all the time, inline and not.
func TestRingsUnderTheCollector(t *testing.T) {
	const buffers, size, messages = 16, 64, 3000
	r := newRig(t)
	sender, receiver := r.oneWay(buffers, buffers)
	from := r.region(buffers * size)
	recvs, err := rdma.NewRecvRing(receiver.QP, rdma.RecvRingOptions{Buffers: buffers, Size: size})
	require.NoError(t, err)
	sends, err := rdma.NewSendRing(sender.QP, rdma.SendRingOptions{Requests: buffers, SignalEvery: 4})
	require.NoError(t, err)
	sends.SetLimit(recvs.Posted())
	var group sync.WaitGroup
	stop := make(chan struct{})
	group.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
				_ = make([]byte, 1<<16)
			}
		}
	})
	defer group.Wait()
	defer close(stop)
	in := make([]rdma.Received, buffers)
	deadline := time.Now().Add(patience)
	for sent, received := uint64(0), uint64(0); received < messages; {
		require.True(t, time.Now().Before(deadline), "%d of %d", received, messages)
		for sent < messages {
			if sent%2 == 0 {
				_, err = sends.AddInline(ibv.WRSend, 0, binary.LittleEndian.AppendUint64(nil, sent))
			} else {
				at := int(sent%buffers) * size
				if _, err = sends.Add(ibv.WRSend, 0, from.SGE(at, 8)); err == nil {
					binary.LittleEndian.PutUint64(from.Bytes()[at:], sent)
				}
			}
			if err != nil {
				require.ErrorContains(t, err, "rdma: add to send ring: ")
				break
			}
			sent++
		}
		require.NoError(t, sends.Post())
		_, err := sends.Poll()
		require.NoError(t, err)
		n, err := recvs.Poll(in)
		require.NoError(t, err)
		for i := range in[:n] {
			require.NoError(t, in[i].WC.Err())
			require.Equal(t, received, binary.LittleEndian.Uint64(in[i].Data))
			received++
		}
		require.NoError(t, recvs.Release(in[:n]...))
		require.NoError(t, recvs.Flush())
		sends.SetLimit(recvs.Posted())
	}
}

// When the peer has died, the sender hears of it, once for each that it asked for, and
// the receiver's buffers come back, when its queue pair is told so.
func TestRingsWhosePeerDies(t *testing.T) {
	const buffers, size = 8, 64
	r := newRig(t)
	sender, receiver := r.oneWay(buffers, buffers)
	from := r.region(size)
	recvs, err := rdma.NewRecvRing(receiver.QP, rdma.RecvRingOptions{Buffers: buffers, Size: size})
	require.NoError(t, err)
	sends, err := rdma.NewSendRing(sender.QP, rdma.SendRingOptions{Requests: buffers, SignalEvery: buffers})
	require.NoError(t, err)
	own, err := rdma.NewRecvRing(sender.QP, rdma.RecvRingOptions{Buffers: 1, Size: size})
	require.NoError(t, err)
	require.NoError(t, receiver.Close())
	_, err = recvs.Poll(make([]rdma.Received, 1))
	require.ErrorIs(t, err, rdma.ErrClosed)
	require.NoError(t, recvs.Close())
	require.ErrorIs(t, recvs.Close(), rdma.ErrClosed)
	for range buffers {
		_, err := sends.Add(ibv.WRSend, 0, from.SGE(0, size))
		require.NoError(t, err)
	}
	require.NoError(t, sends.Post())
	ctx, cancel := waiting(t)
	defer cancel()
	failures := 0
	for sends.Outstanding() > 0 {
		n, err := sends.Wait(ctx)
		require.Positive(t, n, "%v", err)
		var failed *ibv.CompletionError
		require.ErrorAs(t, err, &failed)
		failures++
	}
	require.Positive(t, failures)
	// The queue pair is in the error state: its receives come back, empty.
	in := make([]rdma.Received, 1)
	n, err := own.Wait(ctx, in)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, ibv.WCWRFlushErr, in[0].WC.Status)
	require.Empty(t, in[0].Data)
	require.NoError(t, own.Release(in...))
	require.NoError(t, sender.Close())
	_, err = sends.Add(ibv.WRSend, 0)
	require.ErrorIs(t, err, rdma.ErrClosed)
	require.NoError(t, own.Close())
	require.NoError(t, sends.Close())
}
