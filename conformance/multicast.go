package conformance

import (
	"net"
	"net/netip"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

var groupAddress = netip.MustParseAddr("239.1.2.3")

// join has the system be a member of the group, which RoCE needs to hear of it.
func (t *T) join() {
	if t.provider.Name == inProcess {
		return
	}
	nics, err := net.Interfaces()
	require.NoError(t, err)
	for _, nic := range nics {
		addrs, _ := nic.Addrs()
		for _, addr := range addrs {
			if prefix, err := netip.ParsePrefix(addr.String()); err != nil || ibv.GIDOf(prefix.Addr()) != t.GID().GID {
				continue
			}
			member, err := net.ListenMulticastUDP("udp4", &nic, &net.UDPAddr{IP: groupAddress.AsSlice(), Port: 9999})
			require.NoError(t, err)
			t.Cleanup(func() { member.Close() })
		}
	}
}

func multicast(t *T) {
	t.Needs(Multicast)
	t.join()
	group := ibv.GIDOf(groupAddress)
	ends, _ := t.datagrammers(4)
	ah := t.AH(group)
	sender, first, second, third := ends[0], ends[1], ends[2], ends[3]
	Fill(sender.Memory.Bytes(), 1)
	for _, e := range ends[1:] {
		e.Buffers(2, udBuffer)
	}
	require.NoError(t, first.Raw().AttachMcast(group, 0))
	require.NoError(t, second.Raw().AttachMcast(group, 0))
	sender.datagram(ah, anyReceiver, testQKey, 0, 30)
	for _, e := range []*End{first, second} {
		wc := t.Poll(e.RecvCQ, 1)[0]
		e.requireDatagram(&wc, sender, 0, 30)
	}
	t.Quiet(third.RecvCQ)

	require.NoError(t, first.Raw().DetachMcast(group, 0))
	sender.datagram(ah, anyReceiver, testQKey, 40, 31)
	wc := t.Poll(second.RecvCQ, 1)[0]
	second.requireDatagram(&wc, sender, 40, 31)
	t.Quiet(first.RecvCQ)
	require.Error(t, first.Raw().DetachMcast(group, 0), "it is not attached any more")
	require.NoError(t, second.Raw().DetachMcast(group, 0))
}

func notMulticast(t *T) {
	t.Needs(Multicast)
	ends, _ := t.datagrammers(1)
	require.ErrorIs(t, ends[0].Raw().AttachMcast(t.GID().GID, 0), syscall.EINVAL, "no group")
	connected, _ := t.Unconnected(PairOptions{})
	require.ErrorIs(t, connected.Raw().AttachMcast(ibv.GIDOf(groupAddress), 0), syscall.EINVAL, "an RC queue pair")
}
