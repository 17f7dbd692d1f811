//go:build device && linux

package rdma

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/emulated"
)

// startPeer runs the calling test in a second process, whose variable role is the
// address of a unix socket, and returns the stream that it opens there.
func startPeer(ctx context.Context, t *testing.T, role string) (*exec.Cmd, net.Conn) {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "socket"))
	require.NoError(t, err)
	defer listener.Close()
	peer := emulated.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	peer.Env = append(os.Environ(), role+"="+listener.Addr().String())
	peer.Stdout, peer.Stderr = os.Stdout, os.Stderr
	require.NoError(t, peer.Start())
	conn, err := listener.Accept()
	require.NoError(t, err)
	return peer, conn
}
