package rdma_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

func TestRemote(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	memory := make([]byte, 100)
	region, err := p.pd.Register(memory, ibv.AccessRemoteRead)
	require.NoError(t, err)
	whole, err := region.Remote(0, 100)
	require.NoError(t, err)
	require.Equal(t, rdma.Remote{Addr: addressOf(&memory[0]), Length: 100, RKey: 0x5678}, whole)
	part, err := region.Remote(90, 10)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("addr=%#x length=10 rkey=0x5678", addressOf(&memory[90])), part.String())
	for _, tt := range [][2]int{{0, 101}, {100, 1}, {101, 0}, {-1, 1}, {0, -1}, {math.MaxInt, math.MaxInt}, {math.MinInt, 0}} {
		_, err := region.Remote(tt[0], tt[1])
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "not within its 100 bytes")
	}

	slice, err := whole.Slice(90, 10)
	require.NoError(t, err)
	require.Equal(t, part, slice)
	for _, tt := range [][2]uint64{{0, 101}, {100, 1}, {101, 0}, {math.MaxUint64, 2}, {2, math.MaxUint64}} {
		_, err := whole.Slice(tt[0], tt[1])
		requireRefused(t, err, syscall.EINVAL, "not within it")
	}
	encoded, err := json.Marshal(struct{ Buffer rdma.Remote }{part})
	require.NoError(t, err)
	var decoded struct{ Buffer rdma.Remote }
	require.NoError(t, json.Unmarshal(encoded, &decoded))
	require.Equal(t, part, decoded.Buffer)
	require.NoError(t, region.Close())
	_, err = region.Remote(0, 1)
	require.ErrorIs(t, err, rdma.ErrClosed)
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
		require.ErrorContains(t, err, "rdma: read memory of a peer's from")
		require.Equal(t, whole, got)
	}
}
