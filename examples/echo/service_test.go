//go:build !freebsd

package echo

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// What a client says comes back, and when it ends, so does the service.
func TestEcho(t *testing.T) {
	rdma.NoLeaks(t)
	f := ibvtest.New(t) // makes a device, which is found as real ones are
	dev, err := rdma.Open(f.Names()[0], rdma.DeviceOptions{})
	require.NoError(t, err)
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), dev, there) }()

	client, err := Connect(t.Context(), dev, here)
	require.NoError(t, err)
	for _, word := range []string{"one", "two"} {
		require.NoError(t, client.Send(t.Context(), []byte(word)))
		answer, err := client.Receive(t.Context())
		require.NoError(t, err)
		require.Equal(t, word, string(answer))
	}
	require.NoError(t, client.Close())
	require.NoError(t, <-served)
	require.NoError(t, dev.Close())
}

// Whoever sends to a machine that has died is told, after all retries.
func TestPeerDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waiting takes no time
		f := ibvtest.New(t, ibvtest.Devices(2))
		client, server := connected(t, f)
		f.Device(1).Crash()
		start := time.Now()
		err := client.Send(t.Context(), []byte("hello"))
		var failed *ibv.CompletionError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, ibv.WCRetryExcErr, failed.Status)
		require.Greater(t, time.Since(start), time.Second)
		require.NoError(t, errors.Join(client.Close(), server.Close()))
	})
}

// A service whose device does not take an answer says so, and its client hears that it has ended.
func TestRefused(t *testing.T) {
	f := ibvtest.New(t)
	sends := 0
	f.OnPost(func(wr *ibvtest.PostedWR) {
		if !wr.Receive {
			if sends++; sends == 2 { // the first one is the client's
				wr.Refuse(ibvtest.Refusal{Errno: syscall.EIO, Result: ibvtest.MinusOne})
			}
		}
	})
	dev := open(t, f, 0)
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), dev, there) }()
	client, err := Connect(t.Context(), dev, here)
	require.NoError(t, err)
	require.NoError(t, client.Send(t.Context(), []byte("hello")))
	require.ErrorIs(t, <-served, syscall.EIO)
	_, err = client.Receive(t.Context())
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, client.Close())
}

// A message that is too long is not sent, and the connection is as good as before.
func TestTooLong(t *testing.T) {
	here, there := connected(t, ibvtest.New(t, ibvtest.Devices(2)))
	require.Error(t, here.Send(t.Context(), make([]byte, longest+1)))
	require.NoError(t, here.Send(t.Context(), make([]byte, longest)))
	message, err := there.Receive(t.Context())
	require.NoError(t, err)
	require.Len(t, message, longest)
	require.NoError(t, errors.Join(here.Close(), there.Close()))
}

// connected is a connection between the first two devices of a fabric.
func connected(t *testing.T, f *ibvtest.Fabric) (here, there *Conn) {
	a, b := net.Pipe()
	failed := make(chan error)
	first, second := open(t, f, 0), open(t, f, 1)
	go func() {
		var err error
		there, err = Connect(t.Context(), second, b)
		failed <- err
	}()
	here, err := Connect(t.Context(), first, a)
	require.NoError(t, errors.Join(err, <-failed))
	return here, there
}

func open(t *testing.T, f *ibvtest.Fabric, device int) *rdma.Device {
	dev, err := rdma.Open(f.Names()[device], rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.CloseAll()) })
	return dev
}
