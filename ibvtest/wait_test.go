//go:build !freebsd

package ibvtest_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// ends is two queue pairs that are connected, and what they need.
type ends struct {
	t      *testing.T
	dev    *rdma.Device
	pd     *rdma.PD
	cqs    [2]*rdma.CQ
	qps    [2]*rdma.QP
	memory *rdma.Region
}

// connected makes ends of the fabric's first device; opts are those of the completion queues.
func connected(t *testing.T, f *ibvtest.Fabric, opts rdma.CQOptions) *ends {
	t.Helper()
	e := &ends{t: t}
	var err error
	e.dev, err = rdma.Open(f.Names()[0], rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.dev.CloseAll()) })
	e.pd, err = e.dev.AllocPD()
	require.NoError(t, err)
	e.memory, err = e.pd.AllocRegion(4096, rdma.RegionOptions{})
	require.NoError(t, err)
	for i := range e.qps {
		e.cqs[i], err = e.dev.CreateCQ(8, opts)
		require.NoError(t, err)
		e.qps[i], err = e.pd.CreateQP(rdma.QPOptions{
			SendCQ: e.cqs[i], RecvCQ: e.cqs[i], Cap: ibv.QPCap{MaxSendWR: 32, MaxRecvWR: 32, MaxSendSGE: 1, MaxRecvSGE: 1},
		})
		require.NoError(t, err)
	}
	here, there := net.Pipe()
	failed := make(chan error, 1)
	go func() {
		_, err := e.qps[1].Connect(context.Background(), there, rdma.ConnectOptions{})
		failed <- err
	}()
	_, err = e.qps[0].Connect(context.Background(), here, rdma.ConnectOptions{})
	require.NoError(t, err)
	require.NoError(t, <-failed)
	return e
}

// send sends n messages of a byte from the first end to the second, with receives posted before.
func (e *ends) send(n int, flags ibv.SendFlags) {
	e.t.Helper()
	recv, err := ibv.NewRecvChain(n, 1)
	require.NoError(e.t, err)
	send, err := ibv.NewSendChain(n, 1)
	require.NoError(e.t, err)
	for i := range n {
		require.NoError(e.t, recv.Set(i, uint64(i), e.memory.SGE(2048+i, 1)))
		require.NoError(e.t, send.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled|flags, e.memory.SGE(i, 1)))
	}
	_, err = e.qps[1].PostRecv(recv)
	require.NoError(e.t, err)
	_, err = e.qps[0].PostSend(send)
	require.NoError(e.t, err)
	wcs := make([]ibv.WC, n)
	got, err := e.cqs[0].Poll(wcs)
	require.NoError(e.t, err)
	require.Equal(e.t, n, got)
}

// Wait parks until a completion comes, and takes completions that are there.
func TestWait(t *testing.T) {
	e := connected(t, ibvtest.New(t), rdma.CQOptions{})
	wcs := make([]ibv.WC, 8)
	for range 100 {
		got := make(chan int)
		go func() {
			n, err := e.cqs[1].Wait(context.Background(), wcs)
			if err != nil {
				n = -1
			}
			got <- n
		}()
		e.send(1, 0)
		require.Equal(t, 1, <-got)
	}
	e.send(3, 0)
	n, err := e.cqs[1].Wait(t.Context(), wcs)
	require.NoError(t, err)
	require.Equal(t, 3, n)
}

// In a bubble of testing/synctest, who waits is blocked durably, so time moves on.
func TestWaitInBubble(t *testing.T) {
	for range 3 { // what one bubble leaves behind must not harm the next one
		synctest.Test(t, func(t *testing.T) {
			e := connected(t, ibvtest.New(t), rdma.CQOptions{})
			wcs := make([]ibv.WC, 8)
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			_, err := e.cqs[1].Wait(ctx, wcs)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, time.Hour, time.Since(start))

			var woken atomic.Int32
			for range 3 {
				go func() {
					wcs := make([]ibv.WC, 1)
					for {
						n, err := e.cqs[1].Wait(context.Background(), wcs)
						if err != nil {
							return
						}
						woken.Add(int32(n))
					}
				}()
			}
			synctest.Wait()
			require.Zero(t, woken.Load())
			e.send(5, 0)
			synctest.Wait()
			require.EqualValues(t, 5, woken.Load())
		})
	}
}

// A message whose receive comes later is sent again in the bubble's time.
func TestReceiveComesLateInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := connected(t, ibvtest.New(t), rdma.CQOptions{Fields: ibv.WCFieldCompletionTS | ibv.WCFieldOpcode})
		send, err := ibv.NewSendChain(1, 1)
		require.NoError(t, err)
		require.NoError(t, send.Set(0, 1, ibv.WRSend, ibv.SendSignaled, e.memory.SGE(0, 8)))
		_, err = e.qps[0].PostSend(send)
		require.NoError(t, err)
		time.Sleep(time.Second)
		posted := time.Now()
		recv, err := ibv.NewRecvChain(1, 1)
		require.NoError(t, err)
		require.NoError(t, recv.Set(0, 2, e.memory.SGE(64, 8)))
		_, err = e.qps[1].PostRecv(recv)
		require.NoError(t, err)
		var wcs [2]ibv.ExtendedWC
		for i := range e.cqs {
			n, err := e.cqs[i].WaitExtended(t.Context(), wcs[i:i+1])
			require.NoError(t, err)
			require.Equal(t, 1, n)
			require.NoError(t, wcs[i].Err())
			require.EqualValues(t, time.Now().UnixNano(), wcs[i].CompletionTS(), "in the time of the bubble")
		}
		require.Less(t, time.Since(posted), time.Second)
	})
}
