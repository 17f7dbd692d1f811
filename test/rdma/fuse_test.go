//go:build device && linux

package rdma

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// fuse is a connection on which something happens after so many bytes, of which it
// carries no more before.
type fuse struct {
	net.Conn
	reads, writes int // bytes that are left, or below 0
	burn          func()
}

func (f *fuse) Read(b []byte) (int, error) {
	if f.reads >= 0 {
		if f.reads == 0 {
			f.reads = -1
			f.burn()
			return f.Conn.Read(b)
		}
		b = b[:min(len(b), f.reads)]
	}
	n, err := f.Conn.Read(b)
	if f.reads > 0 {
		f.reads -= n
	}
	return n, err
}

func (f *fuse) Write(b []byte) (int, error) {
	if f.writes < 0 || len(b) < f.writes {
		n, err := f.Conn.Write(b)
		if f.writes >= 0 {
			f.writes -= n
		}
		return n, err
	}
	n, err := f.Conn.Write(b[:f.writes])
	f.writes = -1
	f.burn()
	if err != nil {
		return n, err
	}
	rest, err := f.Conn.Write(b[n:])
	return n + rest, err
}

// streams is the two ends of a byte stream, as a connection and as a file that another
// process can have: a unix socket, or TCP.
func streams(t *testing.T, tcp bool) (net.Conn, *os.File) {
	t.Helper()
	if !tcp {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		here := os.NewFile(uintptr(fds[0]), "unix socket")
		defer here.Close()
		conn, err := net.FileConn(here)
		require.NoError(t, err)
		return conn, os.NewFile(uintptr(fds[1]), "unix socket")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	there, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer there.Close()
	conn, err := listener.Accept()
	require.NoError(t, err)
	file, err := there.(*net.TCPConn).File()
	require.NoError(t, err)
	return conn, file
}

// netConn is a stream's other end in this process.
func netConn(file *os.File) (net.Conn, error) {
	defer file.Close()
	return net.FileConn(file)
}

// errPeerGone is that the stream has ended: the peer's process has.
var errPeerGone = errors.New("the peer's end of the stream is closed")

// watchPeer calls gone when the stream ends, on which nothing comes.
func watchPeer(conn net.Conn, gone func(error)) {
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		gone(errPeerGone)
	}
}

// soon is f's result, which has to be there after the usual patience.
func soon[T any](t *testing.T, what string, f func() T) T {
	t.Helper()
	done := make(chan T, 1)
	go func() { done <- f() }()
	select {
	case result := <-done:
		return result
	case <-time.After(patience):
		require.FailNow(t, what+" goes on for ever")
		panic("unreachable")
	}
}
