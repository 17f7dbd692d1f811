package ibv_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// told is what two programs tell each other.
type told struct {
	GID    ibv.GID
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
			GID: gid,
			MTU: ibv.MTU1024, Access: ibv.AccessRemoteWrite | ibv.AccessLocalWrite,
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
