//go:build !freebsd

package ibvtest_test

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// A message goes from one queue pair to another.
func TestMessage(t *testing.T) {
	f := ibvtest.New(t)
	dev, err := rdma.Open(f.Names()[0], rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.CloseAll()) })
	pd, err := dev.AllocPD()
	require.NoError(t, err)
	cq, err := dev.CreateCQ(64, rdma.CQOptions{NoChannel: true})
	require.NoError(t, err)
	var qps [2]*rdma.QP
	for i := range qps {
		qps[i], err = pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: ibv.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}})
		require.NoError(t, err)
	}
	here, there := net.Pipe()
	failed := make(chan error, 1)
	go func() {
		_, err := qps[1].Connect(context.Background(), there, rdma.ConnectOptions{})
		failed <- err
	}()
	_, err = qps[0].Connect(t.Context(), here, rdma.ConnectOptions{})
	require.NoError(t, err)
	require.NoError(t, <-failed)

	memory, err := pd.AllocRegion(64, rdma.RegionOptions{})
	require.NoError(t, err)
	recv, err := ibv.NewRecvChain(1, 1)
	require.NoError(t, err)
	require.NoError(t, recv.Set(0, 7, memory.SGE(32, 32)))
	_, err = qps[1].PostRecv(recv)
	require.NoError(t, err)
	send, err := ibv.NewSendChain(1, 1)
	require.NoError(t, err)
	copy(memory.Bytes(), "hello")
	require.NoError(t, send.Set(0, 8, ibv.WRSend, ibv.SendSignaled, memory.SGE(0, 5)))
	_, err = qps[0].PostSend(send)
	require.NoError(t, err)
	wcs := make([]ibv.WC, 4)
	n, err := cq.Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, "hello", string(memory.Bytes()[32:37]))
}
