//go:build linux

package ibv_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccompile"
	"github.com/goverbs/goverbs/internal/dl"
)

// A flow is laid out as a C compiler does it.
func TestNewFlowAttr(t *testing.T) {
	object := ccompile.Shared(t, "testdata/flow.c", filepath.Join(scratch, "flow.so"))
	library, err := dl.Open(object)
	require.NoError(t, err)
	fn, err := library.Symbol("flow_rule")
	require.NoError(t, err)
	action, counters := new(ibv.FlowAction), new(ibv.Counters)
	want := make([]byte, 1024)
	size, _ := dl.Call(fn, uintptr(unsafe.Pointer(&want[0])), uintptr(unsafe.Pointer(action)), uintptr(unsafe.Pointer(counters)))

	eth := &ibv.FlowSpecEth{
		Val:  ibv.FlowEthFilter{DstMAC: [6]byte{1, 2, 3, 4, 5, 6}, EtherType: 0x0800},
		Mask: ibv.FlowEthFilter{DstMAC: [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, VLANTag: 0x0fff},
	}
	ipv6 := &ibv.FlowSpecIPv6{Type: ibv.FlowSpecTypeInner, Mask: ibv.FlowIPv6Filter{HopLimit: 0x72}}
	for i := range ipv6.Val.SrcIP {
		ipv6.Val.SrcIP[i] = 0x71
	}
	var tunnel ibv.FlowSpec
	*tunnel.Tunnel() = ibv.FlowSpecTunnel{Type: ibv.FlowSpecTypeVXLANTunnel, Size: uint16(unsafe.Sizeof(ibv.FlowSpecTunnel{})), Val: ibv.FlowTunnelFilter{TunnelID: 0x61626364}}
	got, err := ibv.NewFlowAttr(
		ibv.FlowAttr{Priority: 0x1112, Port: 3, Flags: ibv.FlowAttrFlagsDontTrap, Size: 7, NumOfSpecs: 8},
		eth,
		&ibv.FlowSpecIPv4Ext{Val: ibv.FlowIPv4ExtFilter{DstIP: 0x21222324}, Mask: ibv.FlowIPv4ExtFilter{DstIP: 0xffffffff, Flags: 0x31}},
		&ibv.FlowSpecTCPUDP{Type: ibv.FlowSpecTypeUDP, Val: ibv.FlowTCPUDPFilter{DstPort: 0x4142}, Mask: ibv.FlowTCPUDPFilter{SrcPort: 0x5152}},
		&tunnel,
		ipv6,
		&ibv.FlowSpecActionHandle{Action: ibv.ToPtr(action)},
		&ibv.FlowSpecCounterAction{Counters: ibv.ToPtr(counters)},
		&ibv.FlowSpecActionTag{TagID: 0x81828384},
		&ibv.FlowSpecActionDrop{Type: ibv.FlowSpecTypeActionDrop, Size: uint16(unsafe.Sizeof(ibv.FlowSpecActionDrop{}))},
	)
	require.NoError(t, err)
	// Safe: it is as long as it says.
	require.Equal(t, want[:size], unsafe.Slice((*byte)(unsafe.Pointer(got)), got.Size))
	require.Zero(t, eth.Size, "the caller's are not changed")
	require.Zero(t, eth.Type)

	none, err := ibv.NewFlowAttr(ibv.FlowAttr{Type: ibv.FlowAttrSniffer, Port: 1})
	require.NoError(t, err)
	require.EqualValues(t, unsafe.Sizeof(*none), none.Size)
	require.Zero(t, none.NumOfSpecs)
}

// What C would take for something else is refused.
func TestWrongFlowSpecifications(t *testing.T) {
	var nothing, long ibv.FlowSpec
	long.Hdr().Type, long.Hdr().Size = ibv.FlowSpecTypeEth, uint16(unsafe.Sizeof(long)+1)
	var untyped ibv.FlowSpec
	untyped.Hdr().Size = 8
	var unsized ibv.FlowSpec
	unsized.Hdr().Type = ibv.FlowSpecTypeEth
	var many [256]ibv.FlowSpecification
	for i := range many {
		many[i] = &ibv.FlowSpecActionDrop{}
	}
	for _, tt := range []struct {
		specs []ibv.FlowSpecification
		text  string
	}{
		{[]ibv.FlowSpecification{&ibv.FlowSpecEth{}, nil}, "specification 1 is nil"},
		{[]ibv.FlowSpecification{(*ibv.FlowSpecEth)(nil)}, "specification 0 is nil"},
		{[]ibv.FlowSpecification{(*ibv.FlowSpec)(nil)}, "specification 0 is nil"},
		{[]ibv.FlowSpecification{&ibv.FlowSpecTCPUDP{}}, "specification 0 has the type FlowSpecType(0), which its struct is not for: it is for [IBV_FLOW_SPEC_TCP IBV_FLOW_SPEC_UDP]"},
		{[]ibv.FlowSpecification{&ibv.FlowSpecEth{Type: ibv.FlowSpecTypeIPv4}}, "has the type IBV_FLOW_SPEC_IPV4, which its struct is not for"},
		{[]ibv.FlowSpecification{&ibv.FlowSpecEth{Size: 41}}, "has a Size of 41: its struct has 40 bytes"},
		{[]ibv.FlowSpecification{&nothing}, "has the type FlowSpecType(0)"},
		{[]ibv.FlowSpecification{&long}, "has a Size of 89: its struct has 88 bytes"},
		{[]ibv.FlowSpecification{&untyped}, "has the type FlowSpecType(0)"},
		{[]ibv.FlowSpecification{&unsized}, "specification 0 has no Size"},
		{many[:], "there are 256 specifications"},
	} {
		attr, err := ibv.NewFlowAttr(ibv.FlowAttr{}, tt.specs...)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, tt.text)
		require.Nil(t, attr)
	}
	_, err := ibv.NewFlowAttr(ibv.FlowAttr{}, many[:255]...)
	require.NoError(t, err)
}
