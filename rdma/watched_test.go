package rdma

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// watchedUD is what a queue pair watches that C need not be asked for.
func watchedUD() *watched { return &watched{raw: &ibv.QP{QPType: ibv.QPTUD}} }

// A stream ends with its peer's end, with a byte, and with the queue pair, and then
// nobody reads it, and it is closed.
func TestWatchedStreamsEnd(t *testing.T) {
	for name, open := range streams {
		for how, end := range map[string]func(w *watched, peer net.Conn){
			"peer": func(_ *watched, peer net.Conn) { peer.Close() },
			"byte": func(_ *watched, peer net.Conn) { _, _ = peer.Write([]byte{1}) },
			"close": func(w *watched, _ net.Conn) {
				require.NoError(t, w.destroy(func() error { return nil }))
			},
			"not ours": func(w *watched, _ net.Conn) { require.NoError(t, w.destroy(nil)) },
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				flat(t)
				w := watchedUD()
				conn, peer := open(t)
				ended := w.watch(conn)
				end(w, peer)
				<-ended
				require.Empty(t, w.all)
				_, err := conn.Write([]byte{1})
				require.Error(t, err, "it is closed")
			})
		}
	}
}

// A Close that fails ends nothing.
func TestWatchedStreamsStay(t *testing.T) {
	flat(t)
	w := watchedUD()
	conn, peer := streams["tcp"](t)
	ended := w.watch(conn)
	reason := errors.New("busy")
	require.ErrorIs(t, w.destroy(func() error { return reason }), reason)
	require.NoError(t, conn.SetDeadline(past.AddDate(200, 0, 0)), "it is not closed")
	require.False(t, onlyOne(w).over)
	require.NoError(t, peer.Close())
	<-ended
}

func onlyOne(w *watched) *stream {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.all {
		return one
	}
	return nil
}

// Both ends may come at the same time, from any goroutine.
func TestWatchedStreamsEndOnce(t *testing.T) {
	flat(t)
	for range 200 {
		w := watchedUD()
		var peers []net.Conn
		var ended []<-chan struct{}
		for range 4 {
			conn, peer := net.Pipe()
			peers = append(peers, peer)
			ended = append(ended, w.watch(conn))
		}
		var group sync.WaitGroup
		for _, p := range peers {
			group.Go(func() { p.Close() })
		}
		for range 2 {
			group.Go(func() { _ = w.destroy(nil) })
		}
		group.Wait()
		for _, e := range ended {
			<-e
		}
	}
}

// aliveConn takes down what it is told.
type aliveConn struct {
	net.Conn
	set net.KeepAliveConfig
}

func (c *aliveConn) SetKeepAliveConfig(k net.KeepAliveConfig) error {
	c.set = k
	return nil
}

// Hosts that vanish are noticed, also under TLS.
func TestKeepAlive(t *testing.T) {
	pipe, _ := net.Pipe()
	for _, wrap := range []func(net.Conn) net.Conn{
		func(c net.Conn) net.Conn { return c },
		func(c net.Conn) net.Conn { return tls.Client(c, &tls.Config{ServerName: "x"}) },
	} {
		c := &aliveConn{Conn: pipe}
		setKeepAlive(wrap(c))
		require.Equal(t, keepAlive, c.set)
	}
	setKeepAlive(pipe) // which has nothing of the kind
	setKeepAlive(nil)
	require.LessOrEqual(t, (keepAlive.Idle + keepAlive.Interval*3).Seconds(), 6.0, "as documented")
	require.Equal(t, 3, keepAlive.Count)
	_, tcp := any((*net.TCPConn)(nil)).(interface {
		SetKeepAliveConfig(net.KeepAliveConfig) error
	})
	require.True(t, tcp)
}
