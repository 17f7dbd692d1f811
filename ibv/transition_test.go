package ibv

import (
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// On iWARP, the addresses of a path are not what is wrong.
func TestIWARPIsConnectedByRDMACM(t *testing.T) {
	for _, device := range []*Device{{NodeType: NodeRNIC}, {TransportType: TransportIWARP}} {
		qp := &QP{Context: &Context{Device: device}, QPType: QPTRC, State: QPSRTR}
		err := qp.explain(&Error{Op: "move", Errno: syscall.EINVAL, Hint: "general advice"}, &QPAttr{QPState: QPSRTS}, required[QPTRC].rts)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "connected by librdmacm alone")
		require.NotContains(t, err.Error(), "GID")
	}
	// What libibverbs does not have is not explained by the device.
	missing := action{op: "move"}.failed(syscall.EOPNOTSUPP)
	require.Equal(t, missing.Error(), explainWith(missing, func() []string { return []string{"another"} }).Error())
}

// Every state of C's is one that a queue pair can leave, and go on its way.
func TestNextStates(t *testing.T) {
	for state, states := range next {
		require.Contains(t, states, QPSReset, "%v", state)
		for _, s := range states {
			require.Contains(t, next, s)
		}
	}
	require.Equal(t, "IBV_QPS_RTS, IBV_QPS_ERR or IBV_QPS_RESET", or(next[QPSRTR]))
}

// A peer whose number was forgotten would be noticed only when it does not answer.
func TestToRTRWantsThePeersNumber(t *testing.T) {
	qp := &QP{Context: &Context{Device: &Device{}}, QPType: QPTRC, State: QPSInit}
	err := qp.ToRTR(Path{Port: 1, MTU: MTU1024}, Peer{GID: GIDOf(netip.IPv6Loopback())})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "the peer's QPNum is 0")
}
