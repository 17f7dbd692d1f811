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

// group is a multicast group, as far as the link layer knows it: InfiniBand's has a LID, too, which the subnet manager says.
type group struct {
	gid ibv.GID
	lid uint16
}

// group is the one that scenarios use.
func (t *T) group() group {
	if t.Port().LinkLayer == ibv.LinkLayerInfiniband {
		return group{ibv.GIDOf(netip.MustParseAddr("ff12::4711")), 0xc123}
	}
	return group{gid: ibv.GIDOf(groupAddress)}
}

func (g group) attach(e *rdma.QP) error { return e.Raw().AttachMcast(g.gid, g.lid) }
func (g group) detach(e *rdma.QP) error { return e.Raw().DetachMcast(g.gid, g.lid) }

// way is the way to the group.
func (t *T) way(g group) *rdma.AH {
	ah, err := t.PD().CreateAH(rdma.AHOptions{GID: g.gid, LID: g.lid, From: t.GID()})
	require.NoError(t, err)
	return ah
}

// join has the system be a member of the group, which RoCE needs to hear of it. InfiniBand's are made by the subnet manager.
func (t *T) join() {
	if t.provider.Name == inProcess {
		return
	}
	if t.Port().LinkLayer == ibv.LinkLayerInfiniband {
		t.NotSupported("the scenario does not ask the subnet manager for a group")
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
	group := t.group()
	ends, _ := t.datagrammers(4)
	ah := t.way(group)
	sender, first, second, third := ends[0], ends[1], ends[2], ends[3]
	Fill(sender.Memory.Bytes(), 1)
	for _, e := range ends[1:] {
		e.Buffers(2, udBuffer)
	}
	require.NoError(t, group.attach(first.QP))
	require.NoError(t, group.attach(second.QP))
	sender.datagram(ah, anyReceiver, testQKey, 0, 30)
	for _, e := range []*End{first, second} {
		wc := t.Poll(e.RecvCQ, 1)[0]
		e.requireDatagram(&wc, sender, 0, 30)
	}
	t.Quiet(third.RecvCQ)

	require.NoError(t, group.detach(first.QP))
	sender.datagram(ah, anyReceiver, testQKey, 40, 31)
	wc := t.Poll(second.RecvCQ, 1)[0]
	second.requireDatagram(&wc, sender, 40, 31)
	t.Quiet(first.RecvCQ)
	require.Error(t, group.detach(first.QP), "it is not attached any more")
	require.NoError(t, group.detach(second.QP))
}

func notMulticast(t *T) {
	t.Needs(Multicast)
	ends, _ := t.datagrammers(1)
	require.ErrorIs(t, ends[0].Raw().AttachMcast(t.GID().GID, t.group().lid), syscall.EINVAL, "no group")
	connected, _ := t.Unconnected(PairOptions{})
	require.ErrorIs(t, t.group().attach(connected.QP), syscall.EINVAL, "an RC queue pair")
}

// attach attaches a queue pair to a group until the scenario ends: before, it cannot be closed.
func (t *T) attach(qp *rdma.QP, group group) error {
	err := group.attach(qp)
	if err == nil {
		t.Cleanup(func() { require.NoError(t, group.detach(qp)) })
	}
	return err
}

func busyInGroup(t *T) {
	t.Needs(Multicast)
	ends, _ := t.datagrammers(1)
	e, group := ends[0], t.group()
	require.NoError(t, group.attach(e.QP))
	require.ErrorIs(t, e.Close(), syscall.EBUSY)
	require.NoError(t, group.detach(e.QP))
	require.NoError(t, e.Close())
}

func attachedTwice(t *T) {
	t.Needs(Multicast)
	t.join()
	group := t.group()
	ends, _ := t.datagrammers(2)
	a, b := ends[0], ends[1]
	b.Buffers(4, udBuffer)
	require.NoError(t, t.attach(b.QP, group))
	require.NoError(t, group.attach(b.QP))
	Fill(a.Memory.Bytes(), 1)
	a.datagram(t.way(group), anyReceiver, testQKey, 0, 30)
	wc := t.Poll(b.RecvCQ, 1)[0]
	b.requireDatagram(&wc, a, 0, 30)
	t.Quiet(b.RecvCQ)
}

func fullGroup(t *T) {
	t.Needs(Multicast)
	most := int(t.Attr().MaxMcastQPAttach)
	const enough = 200 // where a device takes more, only that it does is seen
	cq := t.CQ(8, rdma.CQOptions{NoChannel: true})
	group := t.group()
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
