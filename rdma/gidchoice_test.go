package rdma

import (
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// A choice finds the best entry of what it asks for, whatever index that has, and says
// what there is where nothing fits.
func TestGIDChoice(t *testing.T) {
	gid := func(s string) ibv.GID { return ibv.GIDOf(netip.MustParseAddr(s)) }
	nics := []net.Interface{{Index: 2, Name: "eth0"}, {Index: 3, Name: "eth0.7"}}
	all := []ibv.GIDEntry{
		{PortNum: 1, GIDIndex: 0, GIDType: ibv.GIDTypeRoCEV1, GID: gid("fe80::1"), NdevIfindex: 2},
		{PortNum: 1, GIDIndex: 1, GIDType: ibv.GIDTypeRoCEV2, GID: gid("fe80::1"), NdevIfindex: 2},
		{PortNum: 1, GIDIndex: 3, GIDType: ibv.GIDTypeRoCEV1, GID: gid("192.0.2.1"), NdevIfindex: 2},
		{PortNum: 1, GIDIndex: 5, GIDType: ibv.GIDTypeRoCEV2, GID: gid("192.0.2.1"), NdevIfindex: 2},
		{PortNum: 1, GIDIndex: 7, GIDType: ibv.GIDTypeRoCEV2, GID: gid("2001:db8::7"), NdevIfindex: 3},
		{PortNum: 2, GIDIndex: 1, GIDType: ibv.GIDTypeRoCEV2, GID: gid("192.0.2.2")},
	}
	for _, tt := range []struct {
		choice      GIDChoice
		port, index uint32
	}{
		{GIDChoice{}, 1, 5},
		{GIDChoice{Port: 2}, 2, 1},
		{GIDChoice{Interface: "eth0"}, 1, 5},
		{GIDChoice{Interface: "eth0.7"}, 1, 7},
		{GIDChoice{Type: ibv.GIDTypeRoCEV1}, 1, 0},
		{GIDChoice{Addr: netip.MustParseAddr("192.0.2.1")}, 1, 5},
		{GIDChoice{Addr: netip.MustParseAddr("::ffff:192.0.2.1"), Type: ibv.GIDTypeRoCEV1}, 1, 3},
		{GIDChoice{Addr: netip.MustParseAddr("fe80::1")}, 1, 1},
		{GIDChoice{Addr: netip.MustParseAddr("fe80::1%eth0")}, 1, 1},
		{GIDChoice{Addr: netip.MustParseAddr("fe80::1%2")}, 1, 1},
		{GIDChoice{Addr: netip.MustParseAddr("2001:db8::7%3")}, 1, 7},
		{GIDChoice{Index: new(uint32), Port: 1}, 1, 0},
	} {
		got, hint := tt.choice.of(all, nics)
		require.Empty(t, hint, "%v", tt.choice)
		require.Equal(t, [2]uint32{tt.port, tt.index}, [2]uint32{got.PortNum, got.GIDIndex}, "%v", tt.choice)
	}
	for text, choice := range map[string]GIDChoice{
		"it has not a GID of interface eth9; it has fe80::1 (index 0 of port 1, IBV_GID_TYPE_ROCE_V1, eth0); ": {Interface: "eth9"},
		"a GID of address 192.0.2.3": {Addr: netip.MustParseAddr("192.0.2.3")},
		"address fe80::1%eth0.7":     {Addr: netip.MustParseAddr("fe80::1%eth0.7")},
		"address fe80::1%3":          {Addr: netip.MustParseAddr("fe80::1%3")},
		"interface eth0, address 192.0.2.1, port 2, type IBV_GID_TYPE_ROCE_V2, index 0": {
			Interface: "eth0", Addr: netip.MustParseAddr("192.0.2.1"), Port: 2, Type: ibv.GIDTypeRoCEV2, Index: new(uint32)},
	} {
		_, hint := choice.of(all, nics)
		require.Contains(t, hint, text)
	}
	numbered := append(nics, net.Interface{Index: 9, Name: "3"})
	_, none := GIDChoice{Addr: netip.MustParseAddr("2001:db8::7%3")}.of(all, numbered)
	require.NotEmpty(t, none, "a name comes before an index")
	many := make([]ibv.GIDEntry, 20)
	_, hint := GIDChoice{Interface: "eth9"}.of(many, nics)
	require.Contains(t, hint, "; and 4 more")
	_, hint = GIDChoice{}.of(nil, nics)
	require.Contains(t, hint, "is empty")
}

// Where the kernel does not say which interface, the addresses do.
func TestGIDOfInterface(t *testing.T) {
	nics, err := net.Interfaces()
	require.NoError(t, err)
	for _, nic := range nics {
		addrs, err := nic.Addrs()
		require.NoError(t, err)
		for _, a := range addrs {
			e := ibv.GIDEntry{GID: ibv.GIDOf(netip.MustParsePrefix(a.String()).Addr())}
			require.True(t, isOf(&e, &nic), "%v %v", nic.Name, a)
		}
	}
	ib := ibv.GIDEntry{GID: ibv.GIDOf(netip.MustParseAddr("fe80::1:2"))}
	hw := append([]byte{0, 0, 1, 7}, ib.GID.Raw()[:]...)
	require.True(t, isOf(&ib, &net.Interface{HardwareAddr: hw}))
	require.False(t, isOf(&ib, &net.Interface{HardwareAddr: fmt.Append(nil, "twenty bytes, others")}))
}
