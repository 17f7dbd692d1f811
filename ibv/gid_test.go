package ibv

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGID(t *testing.T) {
	for _, tt := range []struct{ address, want string }{
		{"::", "::"},
		{"fe80::1234:56ff:fe78:9abc", "fe80::1234:56ff:fe78:9abc"},
		{"2001:db8::1", "2001:db8::1"},
		{"192.0.2.1", "::ffff:192.0.2.1"},
		{"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
		{"fe80::1%eth0", "fe80::1"},
	} {
		a := netip.MustParseAddr(tt.address)
		g := GIDOf(a)
		require.Equal(t, tt.want, g.String())
		require.Equal(t, a.As16(), *g.Raw())
		require.Equal(t, a.WithZone("").Unmap(), g.Addr().Unmap())
		require.Equal(t, tt.address == "::", g.IsZero())
		// A value prints itself too, wherever it is.
		require.Equal(t, tt.want, fmt.Sprint(g))
		require.Equal(t, tt.want, fmt.Sprint(&g))
		require.Contains(t, fmt.Sprintf("%v", struct{ GID GID }{g}), tt.want)
	}
	none := GIDOf(netip.Addr{})
	require.True(t, none.IsZero())

	g := GIDOf(netip.MustParseAddr("fe80::1:2:3:4"))
	require.Equal(t, uint64(0xfe80_0000_0000_0000), g.Global().SubnetPrefix.Host())
	require.Equal(t, uint64(0x0001_0002_0003_0004), g.Global().InterfaceID.Host())
}

// Of these, the ones further down are preferred.
func TestRankGID(t *testing.T) {
	entry := func(gidType GIDType, address string) *GIDEntry {
		return &GIDEntry{GIDType: gidType, GID: GIDOf(netip.MustParseAddr(address))}
	}
	order := [][]*GIDEntry{
		{entry(GIDTypeIB, "fe80::1"), entry(GIDTypeRoCEV1, "fe80::1"), entry(GIDTypeRoCEV1, "192.0.2.1"), entry(GIDTypeRoCEV1, "2001:db8::1"), entry(77, "192.0.2.1")},
		{entry(GIDTypeRoCEV2, "fe80::1")},
		{entry(GIDTypeRoCEV2, "2001:db8::1"), entry(GIDTypeRoCEV2, "fd00::1")},
		{entry(GIDTypeRoCEV2, "192.0.2.1"), entry(GIDTypeRoCEV2, "169.254.1.1")},
	}
	last := 0
	for _, same := range order {
		rank := rankGID(same[0])
		require.Greater(t, rank, last)
		for _, e := range same {
			require.Equal(t, rank, rankGID(e), "%v %v", e.GIDType, e.GID)
		}
		last = rank
	}
}
