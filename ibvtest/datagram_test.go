//go:build !freebsd

package ibvtest_test

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
)

// datagram sends n bytes along a handle from a, and is what then is in b's buffer, with its completion.
func (w *wired) datagram(ah *ibv.AH, qpn uint32, n int) ([]byte, []ibv.WC) {
	w.t.Helper()
	sends, err := ibv.NewSendChain(1, 1)
	require.NoError(w.t, err)
	require.NoError(w.t, sends.SetUD(0, 1, ibv.WRSend, 0, w.memory.SGE(0, n), ah, qpn, 1<<31))
	_, err = w.a.PostSend(sends)
	require.NoError(w.t, err)
	wcs := make([]ibv.WC, 8)
	got, err := w.cq.Poll(wcs)
	require.NoError(w.t, err)
	return w.memory.Bytes()[1<<15:], wcs[:got]
}

// handle is a handle from an entry of the device's table to a GID.
func (w *wired) handle(entry, lid int, to *ibv.GIDEntry) *ibv.AH {
	w.t.Helper()
	way := ibv.AHAttr{PortNum: 1, DLID: uint16(lid)}
	if to != nil {
		way.IsGlobal, way.GRH = 1, ibv.GlobalRoute{DGID: to.GID, SGIDIndex: uint8(entry), HopLimit: 17, TrafficClass: 0x2a, FlowLabel: 0x12345}
	}
	ah, err := w.pd.Raw().CreateAH(&way)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, ah.Close()) })
	return ah
}

// In front of a datagram is a GRH, or with RoCE v2 over IPv4 that packet's header in the last 20 of its bytes, behind 20
// that mean nothing.
func TestHeaders(t *testing.T) {
	w := wire(t, newRig(t), ibv.QPTUD, nil)
	table := make([]ibv.GIDEntry, 16)
	n, err := w.dev.Raw().QueryGIDTable(table)
	require.NoError(t, err)
	require.NotZero(t, n)
	for i := range n {
		own := &table[i]
		w.receive(w.b, 7, 512)
		got, wcs := w.datagram(w.handle(i, 0, own), w.b.Number(), 10)
		require.Len(t, wcs, 1)
		require.NotZero(t, wcs[0].WCFlags&ibv.WCGRH)
		ip, isIP := netip.AddrFromSlice(got[32:36])
		require.True(t, isIP)
		if own.GIDType == ibv.GIDTypeRoCEV2 && own.GID.Addr().Is4In6() {
			require.EqualValues(t, 0x45, got[20])
			require.EqualValues(t, 0x2a, got[21])
			require.EqualValues(t, 20+8+12+8+12+4, binary.BigEndian.Uint16(got[22:]), "with UDP, BTH, DETH, three words of data, and ICRC")
			require.EqualValues(t, 17, got[28])
			require.Equal(t, own.GID.Addr().Unmap(), ip)
			require.NotEqual(t, make([]byte, 20), got[:20])
			continue
		}
		require.Equal(t, uint32(6<<28|0x2a<<20|0x12345), binary.BigEndian.Uint32(got))
		require.EqualValues(t, 17, got[7])
		raw := own.GID.Raw()
		require.Equal(t, raw[:], got[8:24])
		require.Equal(t, raw[:], got[24:40])
		require.Equal(t, own.GIDType == ibv.GIDTypeRoCEV2, got[6] == 17)
	}
}

// On InfiniBand a LID is enough, and then nothing is in front but space.
func TestLIDs(t *testing.T) {
	w := wire(t, newRig(t, ibvtest.InfiniBand()), ibv.QPTUD, nil)
	port, err := w.dev.Port(1)
	require.NoError(t, err)
	require.NotZero(t, port.LID)
	w.receive(w.b, 7, 512)
	copy(w.memory.Bytes(), "0123456789")
	got, wcs := w.datagram(w.handle(0, int(port.LID), nil), w.b.Number(), 10)
	require.Len(t, wcs, 1)
	require.Zero(t, wcs[0].WCFlags&ibv.WCGRH)
	require.Equal(t, port.LID, wcs[0].SLID)
	require.EqualValues(t, 50, wcs[0].ByteLen)
	require.Equal(t, "0123456789", string(got[40:50]))
	_, wcs = w.datagram(w.handle(0, int(port.LID)+1, nil), w.b.Number(), 10)
	require.Empty(t, wcs)
}

// Datagrams are lost, and come twice, when the test says so; and their sender never hears of it.
func TestLostAndDoubled(t *testing.T) {
	w := wire(t, newRig(t), ibv.QPTUD, nil)
	w.f.OnMessage(func(m *ibvtest.Message) {
		require.True(t, m.Datagram)
		switch m.Nth {
		case 1:
			m.Lose()
		case 2:
			m.Double()
		}
	})
	for i := range 4 {
		w.receive(w.b, uint64(i), 512)
	}
	for _, want := range []int{0, 2, 1} {
		_, wcs := w.datagram(w.ah.Raw(), w.b.Number(), 3)
		require.Len(t, wcs, want)
	}
}

// What is longer than a packet is not sent, and ends well (IBTA C10-93.1.1).
func TestDatagramTooLong(t *testing.T) {
	w := wire(t, newRig(t), ibv.QPTUD, nil)
	port, err := w.dev.Port(1)
	require.NoError(t, err)
	most := 128 << port.ActiveMTU
	w.receive(w.b, 1, 1<<15)
	sends, err := ibv.NewSendChain(1, 1)
	require.NoError(t, err)
	require.NoError(t, sends.SetUD(0, 2, ibv.WRSend, ibv.SendSignaled, w.memory.SGE(0, most+1), w.ah.Raw(), w.b.Number(), 1<<31))
	_, err = w.a.PostSend(sends)
	require.NoError(t, err)
	require.Equal(t, []ended{{2, ibv.WCSuccess}}, w.poll())
	_, wcs := w.datagram(w.ah.Raw(), w.b.Number(), most)
	require.Len(t, wcs, 1)
	require.EqualValues(t, 40+most, wcs[0].ByteLen)
}
