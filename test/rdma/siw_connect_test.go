//go:build device && siw && linux

package rdma

import (
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/rdma"
)

// On iWARP, the error names who connects there.
func TestConnectOnIWARP(t *testing.T) {
	r := newRigOn(t, siwName)
	e := r.end(rdma.QPOptions{})
	conn, _ := net.Pipe()
	defer conn.Close()
	_, err := e.Connect(t.Context(), conn, rdma.ConnectOptions{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "librdmacm")
}
