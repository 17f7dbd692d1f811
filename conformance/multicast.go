package conformance

import (
	"net"
	"net/netip"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
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

// attach attaches a queue pair to a group until the scenario ends: before, it cannot be closed.
func (t *T) attach(qp *rdma.QP, group ibv.GID) error {
	err := qp.Raw().AttachMcast(group, 0)
	if err == nil {
		t.Cleanup(func() { require.NoError(t, qp.Raw().DetachMcast(group, 0)) })
	}
	return err
}

func busyInGroup(t *T) {
	t.Needs(Multicast)
	ends, _ := t.datagrammers(1)
	e, group := ends[0], ibv.GIDOf(groupAddress)
	require.NoError(t, e.Raw().AttachMcast(group, 0))
	require.ErrorIs(t, e.Close(), syscall.EBUSY)
	require.NoError(t, e.Raw().DetachMcast(group, 0))
	require.NoError(t, e.Close())
}

func attachedTwice(t *T) {
	t.Needs(Multicast)
	t.join()
	group := ibv.GIDOf(groupAddress)
	ends, _ := t.datagrammers(2)
	a, b := ends[0], ends[1]
	b.Buffers(4, udBuffer)
	require.NoError(t, t.attach(b.QP, group))
	require.NoError(t, b.Raw().AttachMcast(group, 0))
	Fill(a.Memory.Bytes(), 1)
	a.datagram(t.AH(group), anyReceiver, testQKey, 0, 30)
	wc := t.Poll(b.RecvCQ, 1)[0]
	b.requireDatagram(&wc, a, 0, 30)
	t.Quiet(b.RecvCQ)
}

func fullGroup(t *T) {
	t.Needs(Multicast)
	most := int(t.Attr().MaxMcastQPAttach)
	const enough = 200 // where a device takes more, only that it does is seen
	cq := t.CQ(8, rdma.CQOptions{NoChannel: true})
	group := ibv.GIDOf(groupAddress)
	for i := range min(most+1, enough) {
		qp, err := t.PD().CreateQP(rdma.QPOptions{Type: ibv.QPTUD, SendCQ: cq, RecvCQ: cq, Cap: ibv.QPCap{MaxSendWR: 1, MaxRecvWR: 1}})
		require.NoError(t, err)
		if err = t.attach(qp, group); i < most {
			require.NoError(t, err, "member %d", i)
		} else {
			require.ErrorIs(t, err, syscall.ENOMEM, "member %d", i)
		}
	}
}
