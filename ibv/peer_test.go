package ibv_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// told is what two programs tell each other.
type told struct {
	GID    ibv.GID
	Peer   ibv.Peer
	Buffer ibv.RemoteBuffer
	MTU    ibv.MTU
	Access ibv.AccessFlags
	Entry  ibv.GIDEntry
	ByGID  map[ibv.GID]int
}

// What one end says arrives at the other, by the packages that people use.
func TestToldToAnother(t *testing.T) {
	gid := ibv.GIDOf(netip.MustParseAddr("192.0.2.1"))
	for _, want := range []told{
		{},
		{
			GID:    gid,
			Peer:   ibv.Peer{QPNum: 1<<24 - 1, PSN: 0x123456, GID: ibv.GIDOf(netip.MustParseAddr("fe80::1:2")), LID: math.MaxUint16},
			Buffer: ibv.RemoteBuffer{Addr: math.MaxUint64 - 4096, Length: 4096, RKey: math.MaxUint32},
			MTU:    ibv.MTU1024, Access: ibv.AccessRemoteWrite | ibv.AccessLocalWrite,
			Entry: ibv.GIDEntry{GID: gid, GIDIndex: 3, PortNum: 1, GIDType: ibv.GIDTypeRoCEV2},
			ByGID: map[ibv.GID]int{gid: 7},
		},
	} {
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var got told
		require.NoError(t, json.Unmarshal(text, &got), "%s", text)
		require.Equal(t, want, got, "%s", text)

		var buf bytes.Buffer
		sent := want
		sent.Entry, sent.ByGID = ibv.GIDEntry{}, nil
		require.NoError(t, gob.NewEncoder(&buf).Encode(sent))
		got = told{}
		require.NoError(t, gob.NewDecoder(&buf).Decode(&got))
		require.Equal(t, sent, got)
	}
}

func TestPeerText(t *testing.T) {
	peer := ibv.Peer{QPNum: 0x11, PSN: 0x123456, GID: ibv.GIDOf(netip.MustParseAddr("192.0.2.1")), LID: 5}
	const line = "qpn=0x11 psn=0x123456 lid=5 gid=::ffff:192.0.2.1"
	text, err := peer.MarshalText()
	require.NoError(t, err)
	require.Equal(t, line, string(text))
	require.Equal(t, line, fmt.Sprint(peer))
	require.Equal(t, "["+line+"]", fmt.Sprintf("%v", []ibv.Peer{peer}))
	var got ibv.Peer
	require.NoError(t, got.UnmarshalText([]byte(" gid=192.0.2.1\tlid=0x5 psn=1193046\nqpn=17 ")))
	require.Equal(t, peer, got)

	for _, big := range []ibv.Peer{{QPNum: 1 << 24}, {PSN: 1 << 24}} {
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
		require.ErrorContains(t, err, "ibv: read a peer from")
		require.Equal(t, peer, got, "nothing is changed")
	}
	require.Error(t, json.Unmarshal([]byte(`{"QPNum":1}`), &got))
}

func TestGIDText(t *testing.T) {
	gid := ibv.GIDOf(netip.MustParseAddr("fe80::1"))
	for text, want := range map[string]string{
		"fe80:0000:0000:0000:0000:0000:0000:0001": "fe80::1", // C's way to print
		"192.0.2.1": "::ffff:192.0.2.1", "::": "::",
	} {
		var got ibv.GID
		require.NoError(t, got.UnmarshalText([]byte(text)))
		require.Equal(t, want, got.String())
	}
	for _, text := range []string{"", "fe80", "fe80::1%1", "192.0.2", "[::1]", " ::1", "::1/64"} {
		got := gid
		require.ErrorContains(t, got.UnmarshalText([]byte(text)), fmt.Sprintf("read a GID from %q", text))
		require.Equal(t, gid, got)
	}
	got := gid
	require.ErrorContains(t, got.UnmarshalBinary(make([]byte, 15)), "read a GID from 15 bytes: it has 16")
	require.Equal(t, gid, got)
}

func TestRemoteBuffer(t *testing.T) {
	mr := &ibv.MR{Context: newProvider(t, wholeContext).context, Addr: 0x1000, Length: 100, RKey: 0x77}
	whole, err := mr.RemoteBuffer(0, 100)
	require.NoError(t, err)
	require.Equal(t, ibv.RemoteBuffer{Addr: 0x1000, Length: 100, RKey: 0x77}, whole)
	part, err := mr.RemoteBuffer(90, 10)
	require.NoError(t, err)
	require.Equal(t, "addr=0x105a length=10 rkey=0x77", part.String())
	for _, tt := range [][2]int{{0, 101}, {100, 1}, {101, 0}, {-1, 1}, {0, -1}, {math.MaxInt, math.MaxInt}, {math.MinInt, 0}} {
		_, err := mr.RemoteBuffer(tt[0], tt[1])
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "not within its 100 bytes")
	}

	for text, want := range map[string]string{
		"addr=0x1000 length=4 rkey=0x1ffffffff":    "rkey",
		"addr=0xfffffffffffffffe length=4 rkey=1":  "leave the address space",
		"addr=0x1000 length=4":                     "it lacks rkey",
		"addr=1 length=4 rkey=1 qpn=1":             `nothing is called "qpn"`,
		"addr=0x10000000000000000 length=4 rkey=1": "value out of range",
		`{"Addr":4096,"Length":4,"RKey":1}`:        "no equals sign",
		string(bytes.Repeat([]byte("x"), 100_000)): "no equals sign",
	} {
		got := whole
		err := got.UnmarshalText([]byte(text))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "ibv: read a remote buffer from")
		require.Equal(t, whole, got)
	}
}
