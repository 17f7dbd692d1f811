package ibv_test

import (
	"fmt"
	"math"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/scripted"
)

// sge is an entry that no other has.
func sge(i, j int) ibv.SGE {
	return ibv.SGE{Addr: 0x1111_2222_0000_0000 + uint64(i)<<8 + uint64(j), Length: uint32(i)<<16 | uint32(j) | 1<<31, LKey: ^uint32(i<<4 | j)}
}

func sges(i, n int) []ibv.SGE {
	var s []ibv.SGE
	for j := range n {
		s = append(s, sge(i, j))
	}
	return s
}

// requireSGEs requires that C saw what Go set.
func requireSGEs(t *testing.T, want []ibv.SGE, got sawWR) {
	t.Helper()
	require.EqualValues(t, len(want), got.NumSGE)
	require.Len(t, got.SGEs, len(want))
	for j, s := range want {
		require.Equal(t, [3]uint64{s.Addr, uint64(s.Length), uint64(s.LKey)}, got.SGEs[j])
	}
}

// The provider sees one block: the work requests, then their entries.
func TestChainIsOneBlock(t *testing.T) {
	p := newProvider(t, wholeContext)
	for _, maxSGE := range []int{0, 1, 3} {
		for _, n := range []int{1, 2, 7} {
			t.Run(fmt.Sprintf("%d of %d", n, maxSGE), func(t *testing.T) {
				recv, err := ibv.NewRecvChain(n, maxSGE)
				require.NoError(t, err)
				send, err := ibv.NewSendChain(n, maxSGE)
				require.NoError(t, err)
				for _, c := range []struct {
					size uint64
					post func() (int, error)
				}{
					{uint64(unsafe.Sizeof(ibv.RecvWR{})), func() (int, error) { return recv.Post(p.QP) }},
					{uint64(unsafe.Sizeof(ibv.RecvWR{})), func() (int, error) { return recv.PostSRQ(p.SRQ) }},
					{uint64(unsafe.Sizeof(ibv.SendWR{})), func() (int, error) { return send.Post(p.QP) }},
				} {
					p.Play(script{Room: all})
					got, err := c.post()
					require.NoError(t, err)
					require.Equal(t, n, got)
					start := p.SawWR(0).Address
					for i := range n {
						saw := p.SawWR(i)
						require.EqualValues(t, i, saw.WRID, "numbered from 0 at first")
						require.Zero(t, saw.NumSGE)
						require.Equal(t, start+uint64(i)*c.size, saw.Address)
						if i+1 < n {
							require.Equal(t, start+uint64(i+1)*c.size, saw.Next)
						} else {
							require.Zero(t, saw.Next)
						}
						require.Zero(t, saw.SGList, "no entries, no list")
					}
				}
			})
		}
	}
}

func TestChainSetRecv(t *testing.T) {
	p := newProvider(t, wholeContext)
	const n, maxSGE = 5, 4
	c, err := ibv.NewRecvChain(n, maxSGE)
	require.NoError(t, err)
	counts := [n]int{maxSGE, 0, 1, 3, 2}
	for i, count := range counts {
		require.NoError(t, c.Set(i, math.MaxUint64-uint64(i), sges(i, count)...))
	}
	p.Play(script{Room: all})
	got, err := c.Post(p.QP)
	require.NoError(t, err)
	require.Equal(t, n, got)
	for i, count := range counts {
		require.Equal(t, math.MaxUint64-uint64(i), p.SawWR(i).WRID)
		requireSGEs(t, sges(i, count), p.SawWR(i))
	}

	// Patched in place, one through Set and one by hand; the others stay.
	require.NoError(t, c.Set(1, 7, sges(9, 2)...))
	c.WR(3).WRID = 8
	c.WR(3).SGEs()[1].Length = 9
	_, err = c.Post(p.QP)
	require.NoError(t, err)
	requireSGEs(t, sges(0, maxSGE), p.SawWR(0))
	require.EqualValues(t, 7, p.SawWR(1).WRID)
	requireSGEs(t, sges(9, 2), p.SawWR(1))
	require.EqualValues(t, 8, p.SawWR(3).WRID)
	patched := sges(3, 3)
	patched[1].Length = 9
	requireSGEs(t, patched, p.SawWR(3))
	requireSGEs(t, sges(4, 2), p.SawWR(4))
}

func TestChainSetSend(t *testing.T) {
	p := newProvider(t, wholeContext)
	c, err := ibv.NewSendChain(7, 2)
	require.NoError(t, err)
	ah := scripted.Part[ibv.AH](&p.Object, "provider_context") // an address of C's, which is all that an AH is here

	const flags = ibv.SendSignaled | ibv.SendFence | ibv.SendSolicited | ibv.SendInline
	set := func(i int, opcode ibv.WROpcode, flags ibv.SendFlags) *ibv.SendWR {
		require.NoError(t, c.Set(i, uint64(i)<<40, opcode, flags, sges(i, i%3)...))
		return c.WR(i)
	}
	set(0, ibv.WRSend, 0)
	ud := set(1, ibv.WRSendWithImm, flags).WR.UD()
	ud.AH, ud.RemoteQPN, ud.RemoteQKey = ibv.ToPtr(ah), 0x123456, 0x87654321
	c.WR(1).SetImmData(ibv.ToBE32(0x01020304))
	write := set(2, ibv.WRRDMAWrite, ibv.SendSignaled).WR.RDMA()
	write.RemoteAddr, write.RKey = 0x1122334455667788, 0x99aabbcc
	c.WR(3).SetImmData(ibv.ToBE32(0xfffefdfc))
	imm := set(3, ibv.WRRDMAWriteWithImm, ibv.SendInline).WR.RDMA()
	imm.RemoteAddr, imm.RKey = 1, 2
	read := set(4, ibv.WRRDMARead, ibv.SendFence).WR.RDMA()
	read.RemoteAddr, read.RKey = math.MaxUint64, math.MaxUint32
	swap := set(5, ibv.WRAtomicCmpAndSwp, 0).WR.Atomic()
	swap.RemoteAddr, swap.CompareAdd, swap.Swap, swap.RKey = 3, 4, 5, 6
	add := set(6, ibv.WRAtomicFetchAndAdd, 0).WR.Atomic()
	add.RemoteAddr, add.CompareAdd, add.RKey = 7, 8, 9

	p.Play(script{Room: all})
	n, err := c.Post(p.QP)
	require.NoError(t, err)
	require.Equal(t, 7, n)
	// The numbers are C's, in enum ibv_wr_opcode and enum ibv_send_flags; the
	// immediates are as they lie in memory.
	want := []sawWR{
		{Opcode: 2},
		{Opcode: 3, SendFlags: 1 | 2 | 4 | 8, Imm: bigEndian(0x01020304), AH: addressOf(ah), RemoteQPN: 0x123456, RemoteQKey: 0x87654321},
		{Opcode: 0, SendFlags: 2, RemoteAddr: 0x1122334455667788, RKey: 0x99aabbcc},
		{Opcode: 1, SendFlags: 8, Imm: bigEndian(0xfffefdfc), RemoteAddr: 1, RKey: 2},
		{Opcode: 4, SendFlags: 1, RemoteAddr: math.MaxUint64, RKey: math.MaxUint32},
		{Opcode: 5, RemoteAddr: 3, CompareAdd: 4, Swap: 5, AtomicRKey: 6},
		{Opcode: 6, RemoteAddr: 7, CompareAdd: 8, AtomicRKey: 9},
	}
	for i, w := range want {
		got := p.SawWR(i)
		require.EqualValues(t, uint64(i)<<40, got.WRID)
		requireSGEs(t, sges(i, i%3), got)
		got.Address, got.Next, got.SGList, got.WRID, got.NumSGE, got.SGEs = 0, 0, 0, 0, 0, nil
		require.Equal(t, w, got, "work request %d", i)
	}
}

// The setters of the usual shapes do what Set and patching by hand do.
func TestChainSetShapes(t *testing.T) {
	p := newProvider(t, wholeContext)
	c, err := ibv.NewSendChain(6, 2)
	require.NoError(t, err)
	ah := scripted.Part[ibv.AH](&p.Object, "provider_context") // an address of C's, which is all that an AH is here
	inline := []byte("kept until it is posted")
	start := addressOf(&inline[0])
	require.NoError(t, c.Set(0, 9, ibv.WRSend, 0, sges(8, 2)...)) // of which nothing is left
	require.NoError(t, c.SetSGE(0, 0<<40, ibv.WRSendWithImm, ibv.SendSolicited, sge(0, 0)))
	require.NoError(t, c.SetRDMA(1, 1<<40, ibv.WRRDMARead, ibv.SendFence, sge(1, 0), math.MaxUint64, math.MaxUint32))
	require.NoError(t, c.SetAtomic(2, 2<<40, ibv.WRAtomicCmpAndSwp, 0, sge(2, 0), 3, 6, 4, 5))
	require.NoError(t, c.SetUD(3, 3<<40, ibv.WRSend, ibv.SendSignaled, sge(3, 0), ah, 0x123456, 0x87654321))
	require.NoError(t, c.SetInline(4, 4<<40, ibv.WRSend, ibv.SendSignaled, inline))
	require.NoError(t, c.SetInline(5, 5<<40, ibv.WRSend, 0, nil))
	inline = nil
	runtime.GC() // the chain alone has it
	p.Play(script{Room: all})
	n, err := c.Post(p.QP)
	require.NoError(t, err)
	require.Equal(t, 6, n)
	want := []sawWR{
		{Opcode: 3, SendFlags: 4},
		{Opcode: 4, SendFlags: 1, RemoteAddr: math.MaxUint64, RKey: math.MaxUint32},
		{Opcode: 5, RemoteAddr: 3, CompareAdd: 4, Swap: 5, AtomicRKey: 6},
		{Opcode: 2, SendFlags: 2, AH: addressOf(ah), RemoteQPN: 0x123456, RemoteQKey: 0x87654321},
		{Opcode: 2, SendFlags: 2 | 8},
		{Opcode: 2, SendFlags: 8},
	}
	for i, w := range want {
		got := p.SawWR(i)
		require.EqualValues(t, uint64(i)<<40, got.WRID)
		switch i {
		case 4:
			requireSGEs(t, []ibv.SGE{{Addr: start, Length: 23}}, got)
			require.Equal(t, "kept until it is posted", unsafe.String((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&start))), 23))
		case 5:
			require.Zero(t, got.SGList)
			requireSGEs(t, nil, got)
		default:
			requireSGEs(t, sges(i, 1), got)
		}
		got.Address, got.Next, got.SGList, got.WRID, got.NumSGE, got.SGEs = 0, 0, 0, 0, 0, nil
		require.Equal(t, w, got, "work request %d", i)
	}
	for _, err := range []error{
		c.SetSGE(6, 0, ibv.WRSend, 0, sge(0, 0)),
		c.SetRDMA(-1, 0, ibv.WRRDMAWrite, 0, sge(0, 0), 1, 2),
		c.SetAtomic(6, 0, ibv.WRAtomicFetchAndAdd, 0, sge(0, 0), 8, 1, 1, 0),
		c.SetUD(6, 0, ibv.WRSend, 0, sge(0, 0), ah, 1, 2),
		c.SetUD(0, 0, ibv.WRSend, 0, sge(0, 0), nil, 1, 2),
		c.SetInline(6, 0, ibv.WRSend, 0, []byte{1}),
	} {
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "set work request")
	}
	none, err := ibv.NewSendChain(1, 0)
	require.NoError(t, err)
	require.ErrorIs(t, none.SetSGE(0, 1, ibv.WRSend, 0, sge(0, 0)), syscall.EINVAL)
}

// bigEndian is a number as C sees it when its bytes are in network order.
func bigEndian(n uint32) uint64 {
	bytes := [4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	return uint64(*(*uint32)(unsafe.Pointer(&bytes)))
}

// A Set that is refused changes nothing.
func TestChainSetRefused(t *testing.T) {
	recv, err := ibv.NewRecvChain(3, 2)
	require.NoError(t, err)
	send, err := ibv.NewSendChain(3, 2)
	require.NoError(t, err)
	require.NoError(t, recv.Set(1, 5, sges(1, 2)...))
	require.NoError(t, send.Set(1, 5, ibv.WRRDMARead, ibv.SendFence, sges(1, 2)...))
	for _, tt := range []struct {
		i, entries int
		says       string
	}{
		{-1, 0, "the chain has 3"},
		{3, 0, "the chain has 3"},
		{math.MaxInt, 0, "the chain has 3"},
		{math.MinInt, 3, "the chain has 3"},
		{1, 3, "3 scatter/gather entries are given, the chain has room for 2"},
	} {
		for _, err := range []error{
			recv.Set(tt.i, 6, sges(2, tt.entries)...),
			send.Set(tt.i, 6, ibv.WRSend, 0, sges(2, tt.entries)...),
		} {
			require.ErrorIs(t, err, syscall.EINVAL)
			require.ErrorContains(t, err, fmt.Sprintf("set work request %d", tt.i))
			require.ErrorContains(t, err, tt.says)
		}
	}
	require.EqualValues(t, 5, recv.WR(1).WRID)
	require.Equal(t, sges(1, 2), recv.WR(1).SGEs())
	require.EqualValues(t, 5, send.WR(1).WRID)
	require.Equal(t, ibv.WRRDMARead, send.WR(1).Opcode)
	require.Equal(t, sges(1, 2), send.WR(1).SGEs())
	require.Zero(t, recv.WR(2).NumSGE)

	none, err := ibv.NewRecvChain(1, 0)
	require.NoError(t, err)
	require.NoError(t, none.Set(0, 1))
	require.ErrorIs(t, none.Set(0, 1, ibv.SGE{}), syscall.EINVAL)
}

func TestChainOfAbsurdSize(t *testing.T) {
	tests := []struct {
		n, maxSGE int
		errno     syscall.Errno
	}{
		{0, 1, syscall.EINVAL},
		{-1, 1, syscall.EINVAL},
		{math.MinInt, 1, syscall.EINVAL},
		{1, -1, syscall.EINVAL},
		{1, math.MinInt, syscall.EINVAL},
		{1, math.MaxInt, syscall.EINVAL},
		{1, math.MaxInt32 + 1, syscall.EINVAL},
		{1, math.MaxInt32, syscall.ENOMEM},
		{math.MaxInt, 0, syscall.ENOMEM},
		{math.MaxInt, math.MaxInt32, syscall.ENOMEM},
		{math.MaxInt / 48, 1, syscall.ENOMEM},
		{1 << 59, 0, syscall.ENOMEM},
		{1 << 60, 1 << 30, syscall.ENOMEM},
		{1 << 31, 1, syscall.ENOMEM},
		{1 << 26, 0, syscall.ENOMEM}, // 2 GiB of the smaller kind
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d of %d", tt.n, tt.maxSGE), func(t *testing.T) {
			recv, err := ibv.NewRecvChain(tt.n, tt.maxSGE)
			require.Nil(t, recv)
			require.ErrorIs(t, err, tt.errno)
			require.ErrorContains(t, err, fmt.Sprintf("make a chain of %d receive work requests with %d scatter/gather entries each", tt.n, tt.maxSGE))
			send, err := ibv.NewSendChain(tt.n, tt.maxSGE)
			require.Nil(t, send)
			require.ErrorIs(t, err, tt.errno)
			require.ErrorContains(t, err, fmt.Sprintf("make a chain of %d send work requests", tt.n))
		})
	}
}

func FuzzChainSize(f *testing.F) {
	f.Add(1, 1)
	f.Add(-1, 1<<40)
	f.Add(1<<40, 30)
	f.Fuzz(func(t *testing.T, n, maxSGE int) {
		if n > 0 && maxSGE >= 0 && n < 1<<30 && maxSGE < 1<<30 && n*(maxSGE+8) > 1<<16 {
			t.Skip("a large chain that might be made: not thousands of times")
		}
		recv, err := ibv.NewRecvChain(n, maxSGE)
		if err != nil {
			require.Nil(t, recv)
			return
		}
		require.Equal(t, n, recv.Len())
		require.NoError(t, recv.Set(n-1, 1, make([]ibv.SGE, maxSGE)...))
		require.EqualValues(t, maxSGE, recv.WR(n-1).NumSGE)
	})
}

func TestChainOfAMillion(t *testing.T) {
	const n = 1 << 20
	p := newProvider(t, wholeContext)
	recv, err := ibv.NewRecvChain(n, 1)
	require.NoError(t, err)
	require.Equal(t, n, recv.Len())
	p.Play(script{Room: all})
	got, err := recv.Post(p.QP)
	require.NoError(t, err)
	require.Equal(t, n, got)
	require.Equal(t, n, p.Saw(accepted))

	// The last one is refused, and found.
	p.Play(script{Room: n - 1, Result: -int32(syscall.ENOMEM), Bad: element, BadIndex: n - 1})
	got, err = recv.Post(p.QP)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Equal(t, n-1, got)
	bad, err := p.QP.PostRecv(recv.WR(0))
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Same(t, recv.WR(n-1), bad)
}

// The collector neither frees nor moves a chain that something still points to.
func TestChainLives(t *testing.T) {
	p := newProvider(t, wholeContext)
	p.Play(script{Room: all})
	var heads []*ibv.RecvWR
	for range 50 {
		heads = append(heads, recvChain(t, 100, 0).WR(0))
		runtime.GC()
	}
	for _, head := range heads {
		_, err := p.QP.PostRecv(head)
		require.NoError(t, err)
		require.Equal(t, 100, p.Saw(accepted))
		for i := range 100 {
			require.EqualValues(t, firstID+i, p.SawWR(i).WRID)
			require.Equal(t, [][3]uint64{{uint64(i), 7, 8}}, p.SawWR(i).SGEs)
		}
	}
}

// A chain over a memory region is what setting each work request makes.
func TestRecvChainOverMemoryRegion(t *testing.T) {
	p := newProvider(t, wholeContext)
	const size = 3000
	for _, n := range []int{1, 2, 255, 256, 257, 600} {
		mr := &ibv.MR{Addr: 1 << 40, Length: uint64(n) * size, LKey: 77}
		chain, err := mr.RecvChain(n, size)
		require.NoError(t, err)
		require.Equal(t, n, chain.Len())
		const most = 100 // the provider does not remember many more
		for first := 0; first < n; first += most {
			end := min(first+most, n)
			p.Play(script{Room: all})
			accepted, err := chain.PostRange(p.QP, first, end)
			require.NoError(t, err)
			require.Equal(t, end-first, accepted)
			for i := first; i < end; i++ {
				saw := p.SawWR(i - first)
				require.EqualValues(t, i, saw.WRID)
				requireSGEs(t, []ibv.SGE{mr.SGE(i*size, size)}, saw)
			}
		}
	}
}

func TestRecvChainOverMemoryRegionErrors(t *testing.T) {
	mr := &ibv.MR{Addr: 1 << 40, Length: 1000, LKey: 77}
	for _, tt := range []struct {
		n, size int
		want    string
	}{
		{0, 10, "ibv: make a chain of 0 receive"},
		{-1, 10, "ibv: make a chain of -1 receive"},
		{1, -1, "a receive has 0 to 4294967295 bytes"},
		{1, 1 << 32, "a receive has 0 to 4294967295 bytes"},
		{11, 100, "the memory region has 1000 bytes"},
		{math.MaxInt, math.MaxUint32, "the memory region has 1000 bytes"},
	} {
		_, err := mr.RecvChain(tt.n, tt.size)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, tt.want)
	}
	for _, fits := range [][2]int{{10, 100}, {1000, 1}, {5000, 0}} {
		chain, err := mr.RecvChain(fits[0], fits[1])
		require.NoError(t, err)
		require.Equal(t, fits[0], chain.Len())
	}
}
