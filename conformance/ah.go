package conformance

import (
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var addressScenarios = []Scenario{
	{"address", "made and closed", "ibv_create_ah(3)", ahMade},
	{"address", "refused", "ibv_create_ah(3)", ahRefused},
	{"address", "of who has sent", "ibv_create_ah_from_wc(3); IBTA 11.2.2.1", ahOfSender},
	{"address", "what a datagram says of its sender", "ibv_init_ah_from_wc(3); IBTA 11.4.2.1", ahAttributes},
	{"address", "busy protection domain", "ibv_dealloc_pd(3)", ahBusy},
	{"address", "of the link layer", "ibv_resolve_eth_l2_from_gid", ahEthernet},
}

// ahTo is where the device itself is.
func ahTo(t *T) rdma.AHOptions {
	return rdma.AHOptions{GID: t.GID().GID, LID: t.Port().LID, From: t.GID()}
}

func ahMade(t *T) {
	t.Needs(UD)
	for range 3 {
		ah, err := t.PD().CreateAH(ahTo(t))
		require.NoError(t, err)
		require.Same(t, t.PD().Raw(), ah.Raw().PD)
		require.Same(t, t.Device().Raw(), ah.Raw().Context)
		require.NoError(t, ah.Close())
		require.ErrorIs(t, ah.Close(), rdma.ErrClosed)
	}
}

func ahRefused(t *T) {
	t.Needs(UD)
	gid, port := t.GID(), t.Port()
	good := ibv.AHAttr{
		DLID: port.LID, PortNum: uint8(gid.PortNum), IsGlobal: 1,
		GRH: ibv.GlobalRoute{DGID: gid.GID, SGIDIndex: uint8(gid.GIDIndex), HopLimit: 64},
	}
	ah, err := t.PD().Raw().CreateAH(&good)
	require.NoError(t, err)
	require.NoError(t, ah.Close())
	spoils := map[string]func(*ibv.AHAttr){
		"port 0":                      func(a *ibv.AHAttr) { a.PortNum = 0 },
		"a port that there is not":    func(a *ibv.AHAttr) { a.PortNum = t.Attr().PhysPortCnt + 1 },
		"an entry that there is not":  func(a *ibv.AHAttr) { a.GRH.SGIDIndex = 255 },
		"an entry behind the table's": func(a *ibv.AHAttr) { a.GRH.SGIDIndex = uint8(min(255, int(port.GIDTblLen))) },
	}
	if port.LinkLayer == ibv.LinkLayerEthernet { // InfiniBand has addresses that are LIDs only
		spoils["no GRH, where all have one"] = func(a *ibv.AHAttr) { a.IsGlobal = 0 }
	}
	for what, spoil := range spoils {
		bad := good
		spoil(&bad)
		if ah, err := t.PD().Raw().CreateAH(&bad); err == nil {
			t.Errorf("%s is taken", what)
			require.NoError(t, ah.Close())
		}
	}
	_, err = t.PD().Raw().CreateAH(nil)
	require.ErrorIs(t, err, syscall.EINVAL)
}

// ahMessage is a datagram that has arrived.
func ahMessage(t *T) (a, b *End, wc ibv.WC, grh ibv.GRH) {
	t.Needs(UD)
	a, b = pairOf(t, rdma.QPOptions{Type: ibv.QPTUD}, rdma.QPOptions{})
	b.Buffers(1, 256)
	Fill(a.Slot(0, 64), 1)
	a.Post(datagramsTo(t, a.Memory, 1, 64, b))
	t.Done(a.SendCQ, 1)
	wc = t.Done(b.RecvCQ, 1)[0]
	require.Equal(t, a.Number(), wc.SrcQP)
	grh, ok := wc.UDHeader(b.Memory.Bytes())
	if t.Port().LinkLayer == ibv.LinkLayerEthernet {
		require.True(t, ok, "on Ethernet every datagram has a GRH")
	}
	return a, b, wc, grh
}

// Who gets a datagram can answer it.
func ahOfSender(t *T) {
	a, b, wc, grh := ahMessage(t)
	ah, err := t.PD().CreateAHFromWC(&wc, &grh, t.GID().PortNum)
	require.NoError(t, err)
	a.Buffers(1, 256)
	Fill(b.Slot(1, 512)[:20], 8)
	answer := t.Sends(1, 1)
	require.NoError(t, answer.SetUD(0, 3, ibv.WRSend, ibv.SendSignaled, b.Memory.SGE(512, 20), ah.Raw(), wc.SrcQP, rdma.DefaultQKey))
	b.Post(answer)
	t.Done(b.SendCQ, 1)
	got := t.Done(a.RecvCQ, 1)[0]
	require.Equal(t, b.Number(), got.SrcQP)
	payload, err := got.UDPayload(a.Memory.Bytes())
	require.NoError(t, err)
	require.Equal(t, b.Slot(1, 512)[:20], payload)
}

func ahAttributes(t *T) {
	_, _, wc, grh := ahMessage(t)
	attr, err := t.Device().Raw().InitAHFromWC(t.GID().PortNum, &wc, &grh)
	require.NoError(t, err)
	require.EqualValues(t, t.GID().PortNum, attr.PortNum)
	if wc.WCFlags&ibv.WCGRH != 0 {
		require.EqualValues(t, 1, attr.IsGlobal)
		require.Equal(t, t.GID().GID.Addr(), attr.GRH.DGID.Addr(), "the sender's")
		require.EqualValues(t, t.GID().GIDIndex, attr.GRH.SGIDIndex, "where it came to")
	}
	for _, port := range []uint32{0, uint32(t.Attr().PhysPortCnt) + 1} {
		_, err := t.PD().CreateAHFromWC(&wc, &grh, port)
		require.Error(t, err, "port %d", port)
	}
	wc.Status = ibv.WCWRFlushErr
	_, err = t.PD().CreateAHFromWC(&wc, &grh, t.GID().PortNum)
	require.ErrorIs(t, err, syscall.EINVAL, "a failed completion says nothing of a sender")
}

func ahBusy(t *T) {
	t.Needs(UD)
	pd := otherPD(t)
	ah, err := pd.CreateAH(ahTo(t))
	require.NoError(t, err)
	var children *rdma.ChildrenError
	require.ErrorAs(t, pd.Close(), &children)
	require.Equal(t, []string{ah.String()}, children.Children)
	require.NoError(t, ah.Close())
	require.NoError(t, pd.Close())
}

// The device's own address is resolved to a hardware address without a VLAN. FreeBSD's
// library has the function for its name only.
func ahEthernet(t *T) {
	t.Needs(UD, Ethernet)
	attr := &ibv.AHAttr{
		PortNum: uint8(t.GID().PortNum), IsGlobal: 1,
		GRH: ibv.GlobalRoute{DGID: t.GID().GID, SGIDIndex: uint8(t.GID().GIDIndex)},
	}
	mac, vlan, err := t.Device().Raw().ResolveEthL2(attr)
	if !resolvesEthernet {
		require.ErrorIs(t, err, syscall.ENOSYS)
		return
	}
	require.NoError(t, err)
	require.NotEqual(t, [6]byte{}, mac)
	require.EqualValues(t, 0xffff, vlan, "none")
}
