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
	mr := &ibv.MR{Context: newProvider(t, wholeContext).Context, Addr: 0x1000, Length: 100, RKey: 0x77}
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
