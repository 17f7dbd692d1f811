package rdma_test

import (
	"bytes"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/rdma"
)

// recvRing is a ring with all its buffers posted, and the receives that the
// provider saw for them.
func recvRing(p *provider, n, size int) (*rdma.RecvRing, []sawWR) {
	p.T.Helper()
	var ring *rdma.RecvRing
	posted := p.during(script{Room: all}, func() {
		var err error
		ring, err = rdma.NewRecvRing(p.qp, rdma.RecvRingOptions{Buffers: n, Size: size})
		require.NoError(p.T, err)
	})
	require.Len(p.T, posted, n)
	return ring, posted
}

// receive lets a receive complete with a message of length bytes, all the same,
// as far as its buffer takes them.
func (p *provider) receive(wr sawWR, length int, content byte) {
	p.T.Helper()
	buffer := wr.SGEs[0]
	p.Call("provider_write", uintptr(buffer[0]), uintptr(content), min(uintptr(length), uintptr(buffer[1])))
	p.complete(ibv.WC{WRID: wr.WRID, Opcode: ibv.WCRecv, ByteLen: uint32(length), QPNum: 0x11})
}

// reposted takes note of buffers that were posted again: posted is by buffer. It
// returns which they are, in order.
func reposted(p *provider, posted, wrs []sawWR) []int {
	p.T.Helper()
	slots := make([]int, len(wrs))
	for k, wr := range wrs {
		slots[k] = slices.IndexFunc(posted, func(old sawWR) bool { return slices.Equal(old.SGEs[0][:], wr.SGEs[0][:]) })
		require.GreaterOrEqual(p.T, slots[k], 0, "not a buffer of the ring's")
		require.NotEqual(p.T, posted[slots[k]].WRID, wr.WRID, "a lap has its own number")
		posted[slots[k]] = wr
	}
	return slots
}

// flushed is which buffers a Flush posts again.
func flushed(p *provider, ring *rdma.RecvRing, posted []sawWR) []int {
	p.T.Helper()
	return reposted(p, posted, p.during(script{Room: all}, func() { require.NoError(p.T, ring.Flush()) }))
}

// pollRing polls, and requires so many messages.
func pollRing(t *testing.T, ring *rdma.RecvRing, want int) []rdma.Received {
	t.Helper()
	in := make([]rdma.Received, max(want, 1))
	n, err := ring.Poll(in)
	require.NoError(t, err)
	require.Equal(t, want, n)
	return in[:n]
}

// Each buffer is posted once, and what the device puts there is handed out in the
// order of the completions, however much is asked for at once.
func TestRecvRingHandsOut(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	const n, size = 150, 24
	ring, posted := recvRing(p, n, size)
	require.Equal(t, n, ring.Len())
	require.Equal(t, 1, p.Saw(calls), "one call for all of them")
	require.EqualValues(t, addressOf(p.QP), p.Saw(theObject))
	require.EqualValues(t, ibv.AccessLocalWrite, p.Saw(theAccess))
	for i, wr := range posted {
		require.Equal(t, posted[0].WRID+uint64(i), wr.WRID)
		require.Equal(t, [][3]uint64{{posted[0].SGEs[0][0] + uint64(i*size), size, 0x1234}}, wr.SGEs)
	}

	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	for k, i := range order {
		p.receive(posted[i], k%(size+1), byte(k))
	}
	var received []rdma.Received
	in := make([]rdma.Received, n)
	for _, poll := range []struct{ room, want int }{{0, 0}, {1, 1}, {5, 5}, {n, 64}, {n, 64}, {n, 16}, {n, 0}, {0, 0}} {
		p.Play(script{Room: all})
		got, err := ring.Poll(in[:poll.room])
		require.NoError(t, err)
		require.Equal(t, poll.want, got)
		if poll.room > 0 {
			require.Equal(t, 1, p.Saw(calls), "there was nothing to post")
			require.EqualValues(t, addressOf(p.CQ), p.Saw(theObject))
		}
		received = append(received, in[:got]...)
	}
	require.Len(t, received, n)
	for k, m := range received {
		require.Equal(t, posted[order[k]].WRID, m.WC.WRID)
		require.EqualValues(t, 0x11, m.WC.QPNum)
		require.Equal(t, bytes.Repeat([]byte{byte(k)}, k%(size+1)), m.Data)
		require.EqualValues(t, posted[order[k]].SGEs[0][0], addressOf(unsafe.SliceData(m.Data)), "not a copy")
		require.Equal(t, size, cap(m.Data), "appending must not reach the next buffer")
	}

	// What is given back is posted in that order, by the next poll.
	require.NoError(t, ring.Release())
	require.NoError(t, ring.Release(received[10:]...))
	require.NoError(t, ring.Release(received[:10]...))
	require.Equal(t, slices.Concat(order[10:], order[:10]), reposted(p, posted, p.during(script{Room: all}, func() { pollRing(t, ring, 0) })))
	require.Empty(t, p.during(script{Room: all}, func() { require.NoError(t, ring.Flush()) }))
	require.Zero(t, p.Saw(calls), "there was nothing to post")
}

// What became of a message shows in its Data, which never is more than the
// buffer.
func TestRecvRingData(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	const size = 16
	ring, posted := recvRing(p, 2, size)
	for name, tt := range map[string]struct {
		wc   ibv.WC
		want int
	}{
		"empty":               {ibv.WC{Opcode: ibv.WCRecv}, 0},
		"one byte":            {ibv.WC{Opcode: ibv.WCRecv, ByteLen: 1}, 1},
		"full":                {ibv.WC{Opcode: ibv.WCRecv, ByteLen: size}, size},
		"longer than full":    {ibv.WC{Opcode: ibv.WCRecv, ByteLen: size + 1}, size},
		"the next one's too":  {ibv.WC{Opcode: ibv.WCRecv, ByteLen: 2 * size}, size},
		"beyond all":          {ibv.WC{Opcode: ibv.WCRecv, ByteLen: math.MaxUint32}, size},
		"too long":            {ibv.WC{Opcode: ibv.WCRecv, ByteLen: size, Status: ibv.WCLocLenErr}, 0},
		"flushed":             {ibv.WC{ByteLen: math.MaxUint32, Status: ibv.WCWRFlushErr}, 0},
		"unknown failure":     {ibv.WC{ByteLen: 3, Status: 99}, 0},
		"written by the peer": {ibv.WC{Opcode: ibv.WCRecvRDMAWithImm, ByteLen: 8}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for slot := range 2 {
				wc := tt.wc
				wc.WRID = posted[slot].WRID
				p.complete(wc)
				m := pollRing(t, ring, 1)[0]
				require.NotNil(t, m.Data)
				require.Len(t, m.Data, tt.want)
				require.Equal(t, size, cap(m.Data), "appending must not reach the next buffer")
				require.Equal(t, tt.wc.Status, m.WC.Status)
				require.Equal(t, tt.wc.Status == ibv.WCSuccess, m.WC.Err() == nil)

				require.NoError(t, ring.Release(m))
				require.Equal(t, []int{slot}, flushed(p, ring, posted))
			}
		})
	}
}

// Completions that are not those of posted buffers are told, as they are, and not
// handed out; the others are.
func TestRecvRingTellsForeignCompletions(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	another, foreign := recvRing(p, 4, 8)
	ring, posted := recvRing(p, 4, 8)
	first := posted[0].WRID
	p.receive(posted[0], 1, 0)
	out := pollRing(t, ring, 1)
	p.receive(posted[1], 1, 0)
	require.NoError(t, ring.Release(pollRing(t, ring, 1)...)) // not posted again yet
	for name, wrID := range map[string]uint64{
		"zero":                  0,
		"a small number":        2,
		"a large number":        math.MaxUint64,
		"another ring's":        foreign[2].WRID,
		"before the first":      first - 1,
		"behind the last":       first + 4,
		"of no buffer":          first + math.MaxUint32,
		"of one that was freed": posted[1].WRID,
	} {
		t.Run(name, func(t *testing.T) {
			wcs := []ibv.WC{
				{WRID: wrID, Opcode: ibv.WCRecv, ByteLen: 8, VendorErr: 0x17, QPNum: 6},
				{WRID: wrID, Status: ibv.WCWRFlushErr, VendorErr: 0x17},
			}
			for _, withWC := range []bool{false, true} {
				p.complete(wcs[0])
				p.receive(posted[3], 3, 5)
				p.complete(wcs[1])
				in := make([]rdma.Received, 4)
				var err error
				// It is not posted, for the buffer that was given back must stay so.
				require.Empty(t, p.during(full(0), func() {
					var n int
					if withWC {
						taken := make([]ibv.WC, 4)
						n, err = ring.PollWC(taken)
						require.Equal(t, 3, n)
						require.Equal(t, []ibv.WC{wcs[0], wcs[1]}, []ibv.WC{taken[0], taken[2]})
						require.Nil(t, ring.Data(&taken[0]))
						require.Nil(t, ring.Data(&taken[2]))
						requireRefused(t, ring.ReleaseWC(taken[0], taken[2]), syscall.EINVAL, "2 such in all")
						in[0].WC, in[0].Data = taken[1], ring.Data(&taken[1])
					} else {
						n, err = ring.Poll(in)
						require.Equal(t, 1, n)
					}
				}))
				require.ErrorIs(t, err, syscall.ENOMEM, "one error must not hide the other")
				if !withWC {
					requireForeign(t, err, "poll receive ring", wcs...)
				}
				require.Equal(t, posted[3].WRID, in[0].WC.WRID)
				require.Equal(t, []byte{5, 5, 5}, in[0].Data)
				require.Zero(t, in[1])
				require.NoError(t, ring.Release(in[0]))
				require.Equal(t, []int{1, 3}, flushed(p, ring, posted))

				p.receive(posted[1], 1, 0)
				require.NoError(t, ring.Release(pollRing(t, ring, 1)...))
			}
		})
	}
	require.NoError(t, ring.Flush())

	// One that comes twice is given back once.
	p.complete(ibv.WC{WRID: first, Opcode: ibv.WCRecv, ByteLen: 8})
	twice := append(out, pollRing(t, ring, 1)...)
	requireRefused(t, ring.Release(twice...), syscall.EINVAL, "1 such in all")
	require.Equal(t, []int{0}, flushed(p, ring, posted))
	p.receive(foreign[2], 1, 0)
	pollRing(t, another, 1)
}

// No two rings have a number in common, however many there are.
func TestRecvRingsNumberTheirBuffersApart(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	seen := map[uint64]bool{}
	for range 2000 {
		ring, posted := recvRing(p, 2, 1)
		for _, wr := range posted {
			require.False(t, seen[wr.WRID], "%#x", wr.WRID)
			seen[wr.WRID] = true
		}
		p.close(ring)
	}
}

// Only what is out can be given back, once, to the ring that it came from.
func TestRecvRingRelease(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring, posted := recvRing(p, 4, 8)
	another, others := recvRing(p, 4, 8)
	p.receive(others[2], 1, 0)
	pollRing(t, another, 1) // its own one is out as often
	refused := func(of *rdma.RecvRing, in ...rdma.Received) {
		t.Helper()
		requireRefused(t, of.Release(in...), syscall.EINVAL, "release a buffer of")
	}
	p.receive(posted[2], 1, 0)
	p.receive(posted[1], 1, 0)
	in := pollRing(t, ring, 2)
	refused(ring, rdma.Received{})
	refused(another, in[0])
	require.NoError(t, ring.Release(in[0]))
	refused(ring, in[0])
	require.Equal(t, []int{2}, flushed(p, ring, posted))
	refused(ring, in[0])

	// The same buffer, a lap later.
	p.receive(posted[2], 1, 0)
	later := pollRing(t, ring, 1)
	require.Equal(t, unsafe.SliceData(in[0].Data), unsafe.SliceData(later[0].Data))
	refused(ring, in[0])

	// Those beside the wrong ones are given back.
	refused(ring, in[0], in[1], in[0], later[0], in[1])
	require.Equal(t, []int{1, 2}, flushed(p, ring, posted))
	refused(ring, in[1], later[0])
	require.Empty(t, flushed(p, ring, posted))
}

// When the queue takes a part of a new ring, the caller has a ring and no error,
// for the memory stays the device's; the next post tells. When it takes nothing,
// there is an error and nothing is left.
func TestRecvRingThatTheQueueDoesNotTake(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	for name, tt := range map[string]struct {
		script  script
		unknown bool
	}{
		"some":               {full(3), false},
		"all but one":        {full(4), false},
		"some, with a word":  {script{Room: 1, Result: int32(syscall.ENOMEM), Bad: element, BadIndex: 1}, false},
		"not known, some":    {silent(2), true},
		"not known, nothing": {silent(0), true},
	} {
		t.Run(name, func(t *testing.T) {
			var ring *rdma.RecvRing
			posted := p.during(tt.script, func() {
				var err error
				ring, err = rdma.NewRecvRing(p.qp, rdma.RecvRingOptions{Buffers: 5, Size: 4096})
				require.NoError(t, err)
			})
			require.NotNil(t, ring)
			require.Len(t, posted, tt.script.Room)
			require.Equal(t, 1, p.Saw(regions))
			for _, wr := range posted {
				p.receive(wr, 4096, 1) // faults if the memory is gone
			}
			in := make([]rdma.Received, 5)
			if tt.unknown {
				// Nothing is tried again, so that this is told once.
				p.Play(script{Room: all})
				n, err := ring.Poll(in)
				require.Equal(t, len(posted), n)
				require.ErrorIs(t, err, ibv.ErrAcceptedUnknown)
				require.Equal(t, 1, p.Saw(calls), "the poll, and no post")
				pollRing(t, ring, 0)
			} else {
				require.Empty(t, p.during(full(0), func() { requireRefused(t, ring.Flush(), syscall.ENOMEM, "post receive") }))
				rest := p.during(script{Room: all}, func() { pollRing(t, ring, len(posted)) })
				require.Len(t, rest, 5-len(posted))
				require.NotContains(t, ids(posted), rest[0].WRID)
			}
			p.close(ring)
			require.Zero(t, p.Saw(regions))
			for _, wr := range posted {
				require.False(t, p.holds(wr.SGEs[0][0], 1))
			}
		})
	}
	for name, s := range map[string]script{"full": full(0), "refused": {Result: int32(syscall.ENOMEM), Bad: element}} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, p.during(s, func() {
				ring, err := rdma.NewRecvRing(p.qp, rdma.RecvRingOptions{Buffers: 5, Size: 4096})
				require.Nil(t, ring)
				require.ErrorIs(t, err, syscall.ENOMEM)
			}))
			require.Equal(t, 1, p.Saw(calls))
			require.Zero(t, p.Saw(regions))
		})
	}
}

// What cannot work is refused before anything is posted, and nothing is left.
func TestRecvRingRefused(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	p.resize(sizes{8, 1, 6, 7, false})
	onQP := func(n, size int) (*rdma.RecvRing, error) {
		return rdma.NewRecvRing(p.qp, rdma.RecvRingOptions{Buffers: n, Size: size})
	}
	onSRQ := func(n, size int) (*rdma.RecvRing, error) {
		return rdma.NewSRQRecvRing(p.srq, p.cq, rdma.RecvRingOptions{Buffers: n, Size: size})
	}
	withoutCQ := func(n, size int) (*rdma.RecvRing, error) {
		return rdma.NewSRQRecvRing(p.srq, nil, rdma.RecvRingOptions{Buffers: n, Size: size})
	}
	withSRQ := func(n, size int) (*rdma.RecvRing, error) {
		return rdma.NewRecvRing(p.srqQP, rdma.RecvRingOptions{Buffers: n, Size: size})
	}
	onUD := func(n, size int) (*rdma.RecvRing, error) {
		p.Call("provider_type", uintptr(ibv.QPTUD))
		defer p.Call("provider_type", uintptr(ibv.QPTRC))
		return rdma.NewRecvRing(p.qp, rdma.RecvRingOptions{Buffers: n, Size: size})
	}
	p.Play(script{Room: all})
	for _, tt := range []struct {
		name    string
		make    func(n, size int) (*rdma.RecvRing, error)
		n, size int
		refused verb
		errno   syscall.Errno
		says    string
	}{
		{"fewer than none", onSRQ, -1, 8, none, syscall.EINVAL, "at least one buffer of at least one byte"},
		{"fewer than none", onQP, -1, 8, none, syscall.EINVAL, "make a ring of -1 receive buffers of 8 bytes"},
		{"fewer bytes than none", onQP, 1, -8, none, syscall.EINVAL, "at least one buffer of at least one byte"},
		{"more than a block", onQP, 2, 1 << 30, none, syscall.EINVAL, "1 GiB"},
		{"more than there is", onQP, math.MaxInt, math.MaxInt, none, syscall.EINVAL, "1 GiB"},
		{"more than the queue", onQP, 7, 8, none, syscall.EINVAL, "the receive queue has room for 6"},
		{"more than the completion queue", onQP, 9, 8, none, syscall.EINVAL, "the completion queue has room for 8"},
		{"more than the shared queue", onSRQ, 8, 8, none, syscall.EINVAL, "the receive queue has room for 7"},
		{"more than its completion queue", onSRQ, 9, 8, none, syscall.EINVAL, "the completion queue has room for 8"},
		{"no completion queue", withoutCQ, 1, 8, none, syscall.EINVAL, "the completion queue is missing"},
		{"headers that are more than a block", onUD, 1 << 29, 1, none, syscall.EINVAL, "1 GiB"},
		{"queue pair with a shared queue", withSRQ, 1, 8, none, syscall.EINVAL, "SRQ"},
		{"no memory region", onQP, 1, 8, regMR, syscall.ENOMEM, "register 8 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.refuse(tt.refused, tt.errno)
			defer p.refuse(none, 0)
			ring, err := tt.make(tt.n, tt.size)
			require.Nil(t, ring)
			requireRefused(t, err, tt.errno, tt.says)
			require.Zero(t, p.Saw(calls))
			require.Zero(t, p.Saw(regions))
			require.Equal(t, tt.refused == regMR, p.Saw(theList) != 0)
			require.False(t, p.holds(uint64(p.Saw(theList)), 1), "the buffers must be freed")
		})
	}
	p.entries(1, 0, 0)
	for _, make := range []func(n, size int) (*rdma.RecvRing, error){onQP, onSRQ} {
		ring, err := make(1, 8)
		require.Nil(t, ring)
		requireRefused(t, err, syscall.EINVAL, "made for receives without scatter/gather entries")
		require.Zero(t, p.Saw(calls))
	}
	p.entries(1, 1, 1)
	ring, err := onQP(6, 8)
	require.NoError(t, err, "as large as the queue")
	p.close(ring)
	ring, err = onSRQ(7, 8)
	require.NoError(t, err, "as large as the shared queue")
	p.close(ring)
	// A provider that cannot tell leaves it to the queue.
	for _, errno := range []syscall.Errno{syscall.ENOSYS, syscall.EOPNOTSUPP} {
		p.refuse(querySRQ, errno)
		p.adopt()
		require.Len(t, p.during(script{Room: all}, func() {
			ring, err = onSRQ(8, 8)
			require.NoError(t, err)
		}), 8)
		p.close(ring)
		require.Empty(t, p.during(full(0), func() {
			ring, err = onSRQ(8, 8)
			requireRefused(t, err, syscall.ENOMEM, "post shared receive")
		}))
		require.Nil(t, ring)
	}
	p.refuse(none, 0)
	require.Zero(t, p.Saw(regions))

	p.Play(script{Room: all})
	p.state(ibv.QPSReset)
	_, err = onQP(1, 8)
	requireRefused(t, err, syscall.EINVAL, "RESET")
	require.Zero(t, p.Saw(calls))
}

// A queue pair that was reset is told before the provider is asked, and nothing
// is lost.
func TestRecvRingOfAQueuePairInReset(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring, posted := recvRing(p, 2, 8)
	p.receive(posted[1], 1, 0)
	require.NoError(t, ring.Release(pollRing(t, ring, 1)...))
	p.state(ibv.QPSReset)
	p.Play(script{Room: all})
	for range 2 {
		requireRefused(t, ring.Flush(), syscall.EINVAL, "RESET")
	}
	require.Zero(t, p.Saw(calls))
	p.state(ibv.QPSInit)
	require.Equal(t, []int{1}, flushed(p, ring, posted))
}

func TestRecvRingOfASharedReceiveQueue(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	var ring *rdma.RecvRing
	posted := p.during(script{Room: all}, func() {
		var err error
		ring, err = rdma.NewSRQRecvRing(p.srq, p.cq, rdma.RecvRingOptions{Buffers: 3, Size: 8})
		require.NoError(t, err)
	})
	require.Len(t, posted, 3)
	require.EqualValues(t, addressOf(p.SRQ), p.Saw(theObject))
	// The queue pairs' messages come as they like.
	for slot, qpNum := range map[int]uint32{2: 5, 0: 6} {
		p.complete(ibv.WC{WRID: posted[slot].WRID, Opcode: ibv.WCRecv, ByteLen: 8, QPNum: qpNum})
		in := pollRing(t, ring, 1)
		require.EqualValues(t, addressOf(p.CQ), p.Saw(theObject))
		require.Equal(t, qpNum, in[0].WC.QPNum)
		require.NoError(t, ring.Release(in...))
		require.Equal(t, []int{slot}, flushed(p, ring, posted))
		require.EqualValues(t, addressOf(p.SRQ), p.Saw(theObject))
	}
}

// A completion queue that has failed says so, and takes nothing away.
func TestRecvRingPollFails(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring, posted := recvRing(p, 2, 8)
	p.receive(posted[0], 3, 4)
	in := make([]rdma.Received, 2)
	p.Play(script{Room: all, Result: -1, Errno: syscall.EIO})
	n, err := ring.Poll(in)
	require.Zero(t, n)
	requireRefused(t, err, syscall.EIO, "poll completion queue")

	p.Play(script{Room: all})
	in = pollRing(t, ring, 1)
	require.Equal(t, []byte{4, 4, 4}, in[0].Data)
	require.NoError(t, ring.Release(in...))
	p.Play(silent(1))
	n, err = ring.Poll(in)
	require.Zero(t, n)
	require.ErrorIs(t, err, ibv.ErrAcceptedUnknown, "the earlier error comes first")
	require.Equal(t, 2, p.Saw(calls), "the queue is polled although the post failed")
}

func TestRecvRingClose(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring, posted := recvRing(p, 2, 8)
	p.receive(posted[0], 8, 1)
	p.receive(posted[1], 8, 2)
	in := pollRing(t, ring, 1)
	require.NoError(t, ring.Release(pollRing(t, ring, 1)...)) // there is something to post

	// The device may write to the buffers until the queue pair is closed.
	var children *rdma.ChildrenError
	require.ErrorAs(t, ring.Close(), &children)
	require.Equal(t, []string{"queue pair 0x11 on scripted0"}, children.Children)
	require.Equal(t, []int{1}, flushed(p, ring, posted), "it is as it was")
	require.NoError(t, p.qp.Close())
	wcs := make([]ibv.WC, 2)
	p.Play(script{Room: all})
	requireClosed := func(says string) {
		t.Helper()
		n, err := ring.Poll(make([]rdma.Received, 2))
		require.Zero(t, n)
		errs := map[string]error{"poll": ring.Flush(), "release": ring.Release(in...), "releasing nothing": ring.Release(), "releaseWC": ring.ReleaseWC(in[0].WC), "pollWC": err}
		n, errs["poll2"] = ring.PollWC(wcs)
		require.Zero(t, n)
		for name, err := range errs {
			require.ErrorIs(t, err, rdma.ErrClosed, name)
			require.ErrorIs(t, err, fs.ErrClosed, name)
			require.ErrorContains(t, err, says, name)
		}
	}
	requireClosed("queue pair 0x11 on scripted0: it is closed")
	require.Equal(t, in[0].Data, ring.Data(&in[0].WC), "what is out can be read")
	require.Equal(t, byte(1), in[0].Data[7])

	p.refuse(deregMR, syscall.EBUSY)
	requireRefused(t, ring.Close(), syscall.EBUSY, "deregister memory region")
	require.Equal(t, in[0].Data, ring.Data(&in[0].WC), "it is as it was")
	requireClosed("queue pair 0x11 on scripted0: it is closed")
	require.Equal(t, "receive ring of 2 buffers for queue pair 0x11 on scripted0", ring.String())
	p.refuse(none, 0)
	require.NoError(t, ring.Close())
	require.Zero(t, p.Saw(regions))
	require.False(t, p.holds(posted[0].SGEs[0][0], 1))

	// Whatever is done with it then does no harm.
	requireClosed("receive ring of 2 buffers for queue pair 0x11 on scripted0: it is closed")
	require.Zero(t, p.Saw(calls))
	require.ErrorIs(t, ring.Close(), rdma.ErrClosed)
	require.NoError(t, ring.CloseAll())
	wc, never := in[0].WC, &rdma.RecvRing{}
	for _, err := range []error{never.Close(), never.CloseAll(), never.Flush(), never.ReleaseWC(wc), never.Release()} {
		requireRefused(t, err, syscall.EINVAL, "not made by this package")
	}
	for _, closed := range []*rdma.RecvRing{ring, never} {
		require.Nil(t, closed.Data(&wc))
		require.Nil(t, closed.Header(&wc))
		require.Zero(t, closed.Len())
	}
}

// Whatever comes in whatever order, each buffer is in one place: with the device,
// with the caller, or waiting to be posted, in the order of being given back.
func TestRecvRingKeepsEveryBuffer(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	for seed := range uint64(25) {
		random := rand.New(rand.NewPCG(seed, 3))
		n, size := 1+random.IntN(90), 1+random.IntN(16)
		ring, posted := recvRing(p, n, size)
		// The model: numbers of the buffers in each place.
		var device []int // posted and not completed
		for i := range n {
			device = append(device, i)
		}
		var completed []message
		var out []rdma.Received
		slotsOf := func(received []rdma.Received) []int {
			slots := []int{}
			for i := range received {
				slots = append(slots, slices.IndexFunc(posted, func(wr sawWR) bool { return wr.WRID == received[i].WC.WRID }))
			}
			return slots
		}
		waiting, total := []int{}, n
		accept := func(wrs []sawWR) {
			total += len(wrs)
			got := reposted(p, posted, wrs)
			require.Equal(t, waiting[:len(got)], got, "seed %d", seed)
			waiting = waiting[len(got):]
			for _, slot := range got {
				require.NotContains(t, device, slot, "posted twice")
				device = append(device, slot)
			}
		}
		for range 150 {
			switch random.IntN(4) {
			case 0: // the device
				for range random.IntN(n + 1) {
					if len(device) == 0 {
						break
					}
					at := random.IntN(len(device))
					m := message{device[at], random.IntN(size + 1), byte(random.IntN(256))}
					device = slices.Delete(device, at, at+1)
					p.receive(posted[m.slot], m.length, m.content)
					completed = append(completed, m)
				}
			case 1: // giving back
				random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
				k := random.IntN(len(out) + 1)
				require.NoError(t, ring.Release(out[:k]...))
				waiting = append(waiting, slotsOf(out[:k])...)
				out = out[k:]
			case 2: // polling, with a queue that may be full
				s := script{Room: all}
				if random.IntN(2) == 0 && len(waiting) > 0 {
					s = full(random.IntN(len(waiting)))
				}
				in := make([]rdma.Received, random.IntN(n+2))
				accept(p.during(s, func() {
					got, err := ring.Poll(in)
					require.Equal(t, s.Room != all, err != nil)
					require.Equal(t, min(len(in), len(completed), 64), got)
					in = in[:got]
				}))
				for i := range in {
					require.Equal(t, posted[completed[i].slot].WRID, in[i].WC.WRID)
					require.Equal(t, bytes.Repeat([]byte{completed[i].content}, completed[i].length), in[i].Data)
				}
				completed = completed[len(in):]
				out = append(out, in...)
			case 3:
				accept(p.during(script{Room: all}, func() { require.NoError(t, ring.Flush()) }))
				require.Empty(t, waiting)
			}
			require.Equal(t, n, len(device)+len(completed)+len(out)+len(waiting))
			require.EqualValues(t, total, ring.Posted())
		}
		// In the end, the device has all of them again.
		flush := func() { require.NoError(t, ring.Flush()) }
		accept(p.during(script{Room: all}, flush))
		for len(completed) > 0 {
			in := pollRing(t, ring, min(len(completed), 64))
			completed, out = completed[len(in):], append(out, in...)
		}
		require.NoError(t, ring.Release(out...))
		waiting = append(waiting, slotsOf(out)...)
		accept(p.during(script{Room: all}, flush))
		require.Len(t, device, n)
		p.close(ring)
	}
}

// message is what the device received into a buffer.
type message struct {
	slot    int
	length  int
	content byte
}

func TestRecvRingDoesNotAllocate(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	if !ccall.Direct() {
		return // a call costs memory then
	}
	const n, times = 4, 100
	p.Call("provider_echo", 9)
	ring, _ := recvRing(p, n, 8)
	in, wcs := make([]rdma.Received, n), make([]ibv.WC, n)
	sum := 0
	require.Zero(t, testing.AllocsPerRun(times, func() {
		got, err := ring.Poll(in)
		sum += got
		if err != nil || ring.Release(in[:got]...) != nil {
			panic(err)
		}
		got, err = ring.PollWC(wcs)
		sum += got
		for i := range wcs[:got] {
			if ring.Data(&wcs[i]) == nil {
				panic(i)
			}
		}
		if err != nil || ring.ReleaseWC(wcs[:got]...) != nil {
			panic(err)
		}
	}))
	require.Equal(t, 2*n*(times+1), sum) // it runs once more than it measures
}

// The example does what it says, with buffers that are used again.
func TestRecvRingExample(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	p.Call("provider_echo", 100)
	ring, _ := recvRing(p, 4, 16)
	var lengths []int
	require.NoError(t, receive(ring, 9, func(message []byte) { lengths = append(lengths, len(message)) }))
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, lengths)

	p.Call("provider_echo", 0)
	var posted []sawWR
	ring, posted = recvRing(p, 4, 16)
	_, err := p.cq.Poll(make([]ibv.WC, 8)) // what was received beyond the 9
	require.NoError(t, err)
	p.complete(ibv.WC{WRID: posted[3].WRID, Status: ibv.WCWRFlushErr})
	var failed *ibv.CompletionError
	require.ErrorAs(t, receive(ring, 1, nil), &failed)
}

// No two rings have a WRID in common, whatever their sizes: a completion says whose
// it is, also on a completion queue for both.
func TestRingsHaveTheirOwnWRIDs(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	of := map[uint64]int{}
	var all []*rdma.RecvRing
	for k, n := range []int{64, 32, 16, 33, 1, 2, 1, 64} {
		ring, posted := recvRing(p, n, 16)
		for _, wr := range posted {
			other, taken := of[wr.WRID]
			require.False(t, taken, "rings %d and %d have WRID %#x", k, other, wr.WRID)
			of[wr.WRID] = k
		}
		all = append(all, ring)
	}
	for id, owner := range of {
		for k, ring := range all {
			wc := ibv.WC{WRID: id, ByteLen: 1}
			require.Equal(t, k == owner, ring.Data(&wc) != nil)
		}
	}
}
