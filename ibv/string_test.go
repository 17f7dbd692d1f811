package ibv_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// What is printed is a line for people, wherever the object is, and a nil one too.
func TestString(t *testing.T) {
	p := newProvider(t, wholeContext)
	xrcd := new(ibv.XRCD)
	objects := []struct {
		object, none fmt.Stringer
		want         string
	}{
		{p.Context, (*ibv.Context)(nil), "context of RDMA device scripted0 (file 0)"},
		{p.Context.Device, (*ibv.Device)(nil), "scripted0"},
		{&ibv.PD{Handle: 3}, (*ibv.PD)(nil), "protection domain (handle 3)"},
		{&ibv.MR{Addr: 0x1000, Length: 64, LKey: 5, RKey: 6}, (*ibv.MR)(nil), "memory region of 64 bytes at 0x1000 (lkey 0x5, rkey 0x6)"},
		{&ibv.MW{Type: ibv.MWType2, RKey: 0x701}, (*ibv.MW)(nil), "memory window (IBV_MW_TYPE_2, rkey 0x701)"},
		{&ibv.CQ{CQE: 127, Handle: 2}, (*ibv.CQ)(nil), "completion queue for 127 (handle 2)"},
		{&ibv.CompChannel{FD: 9}, (*ibv.CompChannel)(nil), "completion channel (file 9)"},
		{&ibv.QP{QPNum: 17, QPType: ibv.QPTRC, State: ibv.QPSRTS}, (*ibv.QP)(nil), "queue pair 0x11 (IBV_QPT_RC, in IBV_QPS_RTS)"},
		{&ibv.SRQ{Handle: 4}, (*ibv.SRQ)(nil), "shared receive queue (handle 4)"},
		{&ibv.AH{Handle: 5}, (*ibv.AH)(nil), "address handle (handle 5)"},
		{&ibv.CQEx{CQE: 127, Handle: 2}, (*ibv.CQEx)(nil), "extended completion queue for 127 (handle 2)"},
		{&ibv.WQ{WQNum: 6, State: ibv.WQSRdy}, (*ibv.WQ)(nil), "work queue 0x6 (in IBV_WQS_RDY)"},
		{&ibv.RWQIndTable{IndTblNum: 7}, (*ibv.RWQIndTable)(nil), "indirection table of work queues 0x7"},
		{&ibv.Flow{Handle: 8}, (*ibv.Flow)(nil), "flow (handle 8)"},
		{xrcd, (*ibv.XRCD)(nil), fmt.Sprintf("XRC domain at %v", ibv.ToPtr(xrcd))},
		{recvChain(t, 3, 0), (*ibv.RecvChain)(nil), "chain of 3 receives with 2 scatter/gather entries at most"},
		{sendChain(t, 3, 0), (*ibv.SendChain)(nil), "chain of 3 sends with 2 scatter/gather entries at most"},
	}
	for _, tt := range objects {
		for _, format := range []string{"%v", "%+v", "%s"} {
			require.Equal(t, tt.want, fmt.Sprintf(format, tt.object))
			require.Equal(t, "<nil>", fmt.Sprintf(format, tt.none))
			require.Equal(t, "["+tt.want+"]", fmt.Sprintf(format, []fmt.Stringer{tt.object}))
			require.Contains(t, fmt.Sprintf(format, struct{ Object fmt.Stringer }{tt.object}), tt.want)
		}
		require.Equal(t, "<nil>", tt.none.String())
	}
	entry := ibv.GIDEntry{GID: ibv.GIDOf(netip.MustParseAddr("192.0.2.1")), GIDIndex: 3, PortNum: 1, GIDType: ibv.GIDTypeRoCEV2}
	require.Equal(t, "[::ffff:192.0.2.1 (index 3 of port 1, IBV_GID_TYPE_ROCE_V2)]", fmt.Sprint([]ibv.GIDEntry{entry}))
	// Nothing that the object only points to is looked at, because that may be gone.
	alone := &ibv.QP{QPNum: 17}
	require.Contains(t, fmt.Sprintf("%v %+v", alone, []*ibv.QP{alone}), "queue pair 0x11")
}

func TestWCString(t *testing.T) {
	success := ibv.WC{WRID: 0xabc, Opcode: ibv.WCSend, VendorErr: 0x99, ByteLen: 77, QPNum: 0x11, SrcQP: 0x22, SLID: 0x33}
	require.Equal(t, "completion of work request with WRID 0xabc on queue pair 0x11: IBV_WC_SUCCESS, IBV_WC_SEND", success.String())
	recv := success
	recv.Opcode, recv.WCFlags = ibv.WCRecv, ibv.WCWithImm|ibv.WCGRH
	recv.SetImmData(ibv.ToBE32(0x1234))
	const received = "completion of work request with WRID 0xabc on queue pair 0x11: IBV_WC_SUCCESS, IBV_WC_RECV, 77 bytes, immediate data 0x1234, with a GRH, from queue pair 0x22"
	require.Equal(t, received, recv.String())
	recv.WCFlags = ibv.WCWithInv
	recv.SetInvalidatedRKey(0x55)
	require.Contains(t, recv.String(), "77 bytes, rkey 0x55 invalidated")

	// Of a failed one, four fields mean something, and nothing else is printed.
	failed := ibv.WC{WRID: 0xabc, Status: ibv.WCRemAccessErr, VendorErr: 0x17, QPNum: 0x11}
	want := failed.String()
	require.Equal(t, "completion of work request with WRID 0xabc on queue pair 0x11: IBV_WC_REM_ACCESS_ERR (vendor error 0x17)", want)
	rest := ibv.WC{WRID: 0xabc, Status: ibv.WCRemAccessErr, VendorErr: 0x17, QPNum: 0x11, Opcode: ibv.WCRecv, ByteLen: 77, SrcQP: 0x22,
		WCFlags: ibv.WCGRH | ibv.WCWithImm, PKeyIndex: 1, SLID: 2, SL: 3, DLIDPathBits: 4}
	for _, format := range []string{"%v", "%+v", "%s"} {
		require.Equal(t, want, fmt.Sprintf(format, rest))
		require.Equal(t, want, fmt.Sprintf(format, &rest))
		require.Equal(t, "["+want+"]", fmt.Sprintf(format, []ibv.WC{rest}))
	}
}

// A number in network byte order is printed as the number that it stands for, with
// every verb and flag, wherever it is.
func TestBigEndianFormat(t *testing.T) {
	for _, format := range []string{"%v", "%+v", "%#v", "%d", "%+d", "%06d", "%-8d|", "%x", "%#x", "%X", "%#04X", "%b", "%o", "%#o", "%O", "%c", "%q", "%U", "%8.6x", "%e"} {
		require.Equal(t, fmt.Sprintf(format, uint16(0x8001)), fmt.Sprintf(format, ibv.ToBE16(0x8001)), format)
		require.Equal(t, fmt.Sprintf(format, uint32(0x80000102)), fmt.Sprintf(format, ibv.ToBE32(0x80000102)), format)
		require.Equal(t, fmt.Sprintf(format, uint64(0x8000010203040506)), fmt.Sprintf(format, ibv.ToBE64(0x8000010203040506)), format)
		require.Equal(t, fmt.Sprintf(format, []uint16{0x8001}), strings.ReplaceAll(fmt.Sprintf(format, []ibv.BE16{ibv.ToBE16(0x8001)}), "ibv.BE16", "uint16"), format)
	}
	require.Equal(t, "32769 0x8001", fmt.Sprintf("%s %#x", ibv.ToBE16(0x8001), ibv.ToBE16(0x8001)))
	require.Equal(t, "     32769", fmt.Sprintf("%10s", ibv.ToBE16(0x8001)))
	require.Equal(t, "32769", ibv.ToBE16(0x8001).String())
}
