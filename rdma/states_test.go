package rdma

import (
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// A peer whose number was forgotten would be noticed only when it does not answer.
func TestToRTRWantsThePeersNumber(t *testing.T) {
	l, err := begin("queue pair")
	require.NoError(t, err)
	qp := &QP{l: l, typ: ibv.QPTRC}
	live(l, qp, "0x11", nil, nil)
	defer func() { require.NoError(t, qp.Close()) }()
	err = qp.ToRTR(Path{Port: 1, MTU: ibv.MTU1024}, Peer{GID: ibv.GIDOf(netip.IPv6Loopback())})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "the peer's QPNum is 0")
}
