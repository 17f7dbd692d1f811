package rdma_test

import (
	"bytes"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/scripted"
	"github.com/goverbs/goverbs/rdma"
)

// What an operation needs is there, or the work request is not.
func TestSendRingAddsWhatCanWork(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring := sendRing(p, 16, 1)
	remote := rdma.Remote{Addr: 0x1000, RKey: 7, Length: 16}
	ud := rdma.UDPeer{}
	refused := func(says string) func(wr *ibv.SendWR, err error) {
		return func(wr *ibv.SendWR, err error) {
			t.Helper()
			require.Nil(t, wr)
			requireRefused(t, err, syscall.EINVAL, says)
			require.Zero(t, ring.Outstanding())
		}
	}
	refused("AddRDMA")(ring.Add(ibv.WRRDMAWrite, 0))
	refused("AddRDMA")(ring.Add(ibv.WRRDMAWriteWithImm, 0))
	refused("AddRDMA")(ring.Add(ibv.WRRDMARead, 0))
	refused("AddAtomic")(ring.Add(ibv.WRAtomicCmpAndSwp, 0))
	refused("AddAtomic")(ring.AddRDMA(ibv.WRAtomicFetchAndAdd, 0, remote))
	refused("by Add")(ring.AddRDMA(ibv.WRSend, 0, remote))
	refused("AddRDMA")(ring.AddAtomic(ibv.WRRDMARead, 0, remote, ibv.SGE{Length: 8}, 0, 0))
	refused("by Add")(ring.AddUD(ibv.WRSend, 0, ud))
	refused("17 bytes together, the peer's memory (addr=0x1000 length=16 rkey=0x7) has 16")(ring.AddRDMA(ibv.WRRDMAWrite, 0, remote, ibv.SGE{Length: 8}, ibv.SGE{Length: 9}))
	part, err := remote.Slice(4, 12)
	require.NoError(t, err)
	refused("a multiple of 8")(ring.AddAtomic(ibv.WRAtomicFetchAndAdd, 0, part, ibv.SGE{Length: 8}, 0, 0))
	part, err = remote.Slice(8, 7)
	require.NoError(t, err)
	refused("has 7")(ring.AddAtomic(ibv.WRAtomicFetchAndAdd, 0, part, ibv.SGE{Length: 8}, 0, 0))
	refused("the buffer for it has 4")(ring.AddAtomic(ibv.WRAtomicFetchAndAdd, 0, remote, ibv.SGE{Length: 4}, 0, 0))
	refused("what is read cannot be inline")(ring.AddRDMAInline(ibv.WRRDMARead, 0, remote, nil))

	_, err = ring.AddRDMA(ibv.WRRDMARead, ibv.SendFence, remote, ibv.SGE{Length: 16})
	require.NoError(t, err)
	part, err = remote.Slice(8, 8)
	require.NoError(t, err)
	_, err = ring.AddAtomic(ibv.WRAtomicCmpAndSwp, 0, part, ibv.SGE{Addr: 5, Length: 8, LKey: 6}, 11, 12)
	require.NoError(t, err)
	wrs := p.during(script{Room: all}, func() { require.NoError(t, ring.Post()) })
	require.Equal(t, [3]uint64{4, 0x1000, 7}, [3]uint64{wrs[0].Opcode, wrs[0].RemoteAddr, wrs[0].RKey})
	require.Equal(t, [5]uint64{5, 0x1008, 7, 11, 12}, [5]uint64{wrs[1].Opcode, wrs[1].RemoteAddr, wrs[1].AtomicRKey, wrs[1].CompareAdd, wrs[1].Swap})
	require.Equal(t, [][3]uint64{{5, 8, 6}}, wrs[1].SGEs)
}

// What is sent inline is the caller's again at once.
func TestSendRingInline(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	const room = 20
	p.Call("provider_inline", room)
	p.adopt()
	ring := sendRing(p, 3, 1)
	remote := rdma.Remote{Addr: 0x1000, RKey: 7, Length: room}
	data := make([]byte, room)
	for round := range 7 {
		for i := range data {
			data[i] = byte(round)
		}
		var err error
		if round%2 == 0 {
			_, err = ring.AddInline(ibv.WRSend, 0, data[:room-round])
		} else {
			_, err = ring.AddRDMAInline(ibv.WRRDMAWrite, 0, remote, data[:room-round])
		}
		require.NoError(t, err)
		_, err = ring.AddInline(ibv.WRSend, 0, nil)
		require.NoError(t, err)
		clear(data)
		wrs := p.during(script{Room: all}, func() { require.NoError(t, ring.Post()) })
		for _, wr := range wrs {
			require.NotZero(t, wr.SendFlags&uint64(ibv.SendInline))
		}
		require.EqualValues(t, room-round, wrs[0].SGEs[0][1])
		// Safe: the ring has it.
		at := uintptr(wrs[0].SGEs[0][0])
		require.Equal(t, bytes.Repeat([]byte{byte(round)}, room-round), unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), room-round))
		require.Empty(t, wrs[1].SGEs)
		p.complete(sentWR(wrs[1].WRID))
		pollSends(t, ring, 2)
	}
	_, err := ring.AddInline(ibv.WRSend, 0, make([]byte, room+1))
	requireRefused(t, err, syscall.EINVAL, "21 bytes are to be inline, and the queue pair has room for 20")
	_, err = ring.Add(ibv.WRSend, ibv.SendInline, ibv.SGE{Length: room + 1})
	requireRefused(t, err, syscall.EINVAL, "21 bytes are to be inline")
	_, err = ring.AddRDMAInline(ibv.WRRDMAWrite, 0, rdma.Remote{Length: 3}, make([]byte, 4))
	requireRefused(t, err, syscall.EINVAL, "has 3")
	require.Zero(t, ring.Outstanding())
	for range 3 {
		_, err = ring.AddInline(ibv.WRSend, 0, data)
		require.NoError(t, err)
	}
	_, err = ring.AddInline(ibv.WRSend, 0, data)
	require.ErrorIs(t, err, rdma.ErrRingFull)
}

// On UD, a send says where it goes, and a message comes without what stands in
// front of it.
func TestRingsOnUD(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	p.Call("provider_type", uintptr(ibv.QPTUD))
	p.adopt()
	const n, size = 3, 16
	ring, posted := recvRing(p, n, size)
	for i, wr := range posted {
		require.EqualValues(t, posted[0].SGEs[0][0]+uint64(i)*(size+40), wr.SGEs[0][0])
		require.EqualValues(t, size+40, wr.SGEs[0][1])
		for _, length := range []int{0, 39, 40, 41, 40 + size, 41 + size} {
			wr := posted[i]
			p.Call("provider_write", uintptr(wr.SGEs[0][0]), 1, 40)
			p.Call("provider_write", uintptr(wr.SGEs[0][0])+40, 2, size)
			p.complete(ibv.WC{WRID: wr.WRID, Opcode: ibv.WCRecv, ByteLen: uint32(length), QPNum: 0x11})
			m := pollRing(t, ring, 1)[0]
			require.Equal(t, bytes.Repeat([]byte{2}, min(max(length-40, 0), size)), m.Data)
			require.Equal(t, size, cap(m.Data))
			require.Equal(t, bytes.Repeat([]byte{1}, 40), ring.Header(&m.WC))
			require.NoError(t, ring.Release(m))
			require.Nil(t, ring.Header(&m.WC), "given back")
			require.Equal(t, []int{i}, flushed(p, ring, posted))
		}
	}

	sends := sendRing(p, 4, 1)
	ah, err := p.pd.AdoptAH(scripted.Part[ibv.AH](&p.Object, "provider_qp")) // something that begins with its context
	require.NoError(t, err)
	_, err = sends.Add(ibv.WRSend, 0)
	requireRefused(t, err, syscall.EINVAL, "AddUD")
	_, err = sends.AddRDMA(ibv.WRRDMAWrite, 0, rdma.Remote{})
	requireRefused(t, err, syscall.EINVAL, "nothing that a UD queue pair can do")
	_, err = sends.AddUD(ibv.WRSendWithInv, 0, rdma.UDPeer{AH: ah, QPNum: 5, QKey: 6}, sge(1, 1))
	requireRefused(t, err, syscall.EINVAL, "nothing that a UD queue pair can do")
	_, err = sends.AddUD(ibv.WRSend, 0, rdma.UDPeer{QPNum: 5})
	requireRefused(t, err, syscall.EINVAL, "needs an address handle")
	_, err = sends.AddUD(ibv.WRSendWithImm, 0, rdma.UDPeer{AH: ah, QPNum: 5, QKey: 6}, sge(1, 1))
	require.NoError(t, err)
	wrs := p.during(script{Room: all}, func() { require.NoError(t, sends.Post()) })
	require.Equal(t, [3]uint64{addressOf(ah.Raw()), 5, 6}, [3]uint64{wrs[0].AH, wrs[0].RemoteQPN, wrs[0].RemoteQKey})
	require.NoError(t, ah.Close())
	_, err = sends.AddUD(ibv.WRSend, 0, rdma.UDPeer{AH: ah, QPNum: 5})
	requireRefused(t, err, syscall.EINVAL, "an address handle that is open")
	require.Equal(t, 1, sends.Outstanding())
}
