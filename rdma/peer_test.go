package rdma_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// What one end says of itself arrives at the other, by the packages that people use.
func TestPeerToldToAnother(t *testing.T) {
	for _, want := range []rdma.Peer{
		{},
		{QPNum: 1<<24 - 1, PSN: 0x123456, GID: ibv.GIDOf(netip.MustParseAddr("fe80::1:2")), LID: math.MaxUint16},
	} {
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var got rdma.Peer
		require.NoError(t, json.Unmarshal(text, &got), "%s", text)
		require.Equal(t, want, got, "%s", text)

		var buf bytes.Buffer
		require.NoError(t, gob.NewEncoder(&buf).Encode(want))
		got = rdma.Peer{}
		require.NoError(t, gob.NewDecoder(&buf).Decode(&got))
		require.Equal(t, want, got)
	}
}

func TestPeerText(t *testing.T) {
	peer := rdma.Peer{QPNum: 0x11, PSN: 0x123456, GID: ibv.GIDOf(netip.MustParseAddr("192.0.2.1")), LID: 5}
	const line = "qpn=0x11 psn=0x123456 lid=5 gid=::ffff:192.0.2.1"
	text, err := peer.MarshalText()
	require.NoError(t, err)
	require.Equal(t, line, string(text))
	require.Equal(t, line, fmt.Sprint(peer))
	require.Equal(t, "["+line+"]", fmt.Sprintf("%v", []rdma.Peer{peer}))
	var got rdma.Peer
	require.NoError(t, got.UnmarshalText([]byte(" gid=192.0.2.1\tlid=0x5 psn=1193046\nqpn=17 ")))
	require.Equal(t, peer, got)

	for _, big := range []rdma.Peer{{QPNum: 1 << 24}, {PSN: 1 << 24}} {
		_, err := big.MarshalText()
		require.ErrorContains(t, err, "24 bits")
	}
	for text, want := range map[string]string{
		"":                                    "it lacks gid, lid, psn, qpn",
		"qpn=1 psn=2 lid=3":                   "it lacks gid",
		"qpn=1 psn=2 lid=3 gid=":              "no IPv6 or IPv4 address",
		"qpn=1 psn=2 lid=3 gid=fe80::1%eth0":  "without a zone",
		"qpn=1 qpn=1 psn=2 lid=3 gid=::":      "qpn is there twice",
		"qpn=1 psn=2 lid=3 gid=:: mtu=3":      `nothing is called "mtu": it has gid, lid, psn, qpn`,
		"qpn=1 psn=2 lid=3 gid=:: 17":         `"17" has no equals sign`,
		"qpn=1 psn=2 lid=65536 gid=::":        `lid: "65536": value out of range`,
		"qpn=-1 psn=2 lid=3 gid=::":           `qpn: "-1": invalid syntax`,
		"qpn=0x1000000 psn=2 lid=3 gid=::":    "queue pair number is 0x1000000",
		"qpn=1 psn=0xffffffff lid=3 gid=::":   "packet sequence number is 0xffffffff",
		"qpn=1 psn=99999999999 lid=3 gid=::":  "value out of range",
		"0000:000011:123456:::ffff:192.0.2.1": "no equals sign",
	} {
		got := peer
		err := got.UnmarshalText([]byte(text))
		require.ErrorContains(t, err, want, "%q", text)
		require.ErrorContains(t, err, "rdma: read a peer from")
		require.Equal(t, peer, got, "nothing is changed")
	}
	require.Error(t, json.Unmarshal([]byte(`{"QPNum":1}`), &got))
}
