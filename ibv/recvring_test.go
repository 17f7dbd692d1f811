package ibv_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibv/internal/ccall"
)

// recvRing is a ring with all its buffers posted, and the receives that the
// provider saw for them.
func recvRing(p *provider, n, size int) (*ibv.RecvRing, []sawWR) {
	p.t.Helper()
	var ring *ibv.RecvRing
	posted := p.during(script{room: all}, func() {
		var err error
		ring, err = ibv.NewRecvRing(p.qp, n, size)
		require.NoError(p.t, err)
	})
	require.Len(p.t, posted, n)
	return ring, posted
}

// receive lets a receive complete with a message of length bytes, all the same,
// as far as its buffer takes them.
func (p *provider) receive(wr sawWR, length int, content byte) {
	p.t.Helper()
	buffer := wr.sges[0]
	p.call("provider_write", uintptr(buffer[0]), uintptr(content), min(uintptr(length), uintptr(buffer[1])))
	p.complete(ibv.WC{WRID: wr.wrID, Opcode: ibv.WCRecv, ByteLen: uint32(length), QPNum: 0x11})
}

// pollRing polls, and requires so many messages.
func pollRing(t *testing.T, ring *ibv.RecvRing, want int) []ibv.Received {
	t.Helper()
	in := make([]ibv.Received, max(want, 1))
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
	require.Equal(t, 1, p.saw(calls), "one call for all of them")
	require.EqualValues(t, addressOf(p.qp), p.saw(theObject))
	require.EqualValues(t, ibv.AccessLocalWrite, p.saw(theAccess))
	for i, wr := range posted {
		require.Equal(t, posted[0].wrID+uint64(i), wr.wrID)
		require.Equal(t, [][3]uint64{{posted[0].sges[0][0] + uint64(i*size), size, 0x1234}}, wr.sges)
	}

	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	for k, i := range order {
		p.receive(posted[i], k%(size+1), byte(k))
	}
	var received []ibv.Received
	in := make([]ibv.Received, n)
	for _, poll := range []struct{ room, want int }{{0, 0}, {1, 1}, {5, 5}, {n, 64}, {n, 64}, {n, 16}, {n, 0}, {0, 0}} {
		p.play(script{room: all})
		got, err := ring.Poll(in[:poll.room])
		require.NoError(t, err)
		require.Equal(t, poll.want, got)
		if poll.room > 0 {
			require.Equal(t, 1, p.saw(calls), "there was nothing to post")
			require.EqualValues(t, addressOf(p.cq), p.saw(theObject))
		}
		received = append(received, in[:got]...)
	}
	require.Len(t, received, n)
	for k, m := range received {
		require.Equal(t, posted[order[k]].wrID, m.WC.WRID)
		require.EqualValues(t, 0x11, m.WC.QPNum)
		require.Equal(t, bytes.Repeat([]byte{byte(k)}, k%(size+1)), m.Data)
		require.EqualValues(t, posted[order[k]].sges[0][0], addressOf(unsafe.SliceData(m.Data)), "not a copy")
		require.Equal(t, size, cap(m.Data), "appending must not reach the next buffer")
	}

	// What is given back is posted in that order, by the next poll.
	require.NoError(t, ring.Release())
	require.NoError(t, ring.Release(received[10:]...))
	require.NoError(t, ring.Release(received[:10]...))
	again := p.during(script{room: all}, func() { pollRing(t, ring, 0) })
	require.Equal(t, slices.Concat(wrIDs(received[10:]), wrIDs(received[:10])), ids(again))
	require.Empty(t, p.during(script{room: all}, func() { require.NoError(t, ring.Flush()) }))
	require.Zero(t, p.saw(calls), "there was nothing to post")
}

func wrIDs(received []ibv.Received) []uint64 {
	var list []uint64
	for i := range received {
		list = append(list, received[i].WC.WRID)
	}
	return list
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
				wc.WRID = posted[slot].wrID
				p.complete(wc)
				m := pollRing(t, ring, 1)[0]
				require.NotNil(t, m.Data)
				require.Len(t, m.Data, tt.want)
				require.Equal(t, size, cap(m.Data), "appending must not reach the next buffer")
				require.Equal(t, tt.wc.Status, m.WC.Status)
				require.Equal(t, tt.wc.Status == ibv.WCSuccess, m.WC.Err() == nil)

				require.NoError(t, ring.Release(m))
				again := p.during(script{room: all}, func() { require.NoError(t, ring.Flush()) })
				require.Equal(t, []uint64{wc.WRID}, ids(again))
			}
		})
	}
}

// A post that is cut short goes on with the next one, in order, and what is given
// back meanwhile comes behind.
func TestRecvRingGoesOnAfterAShortPost(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	const n = 6
	ring, posted := recvRing(p, n, 8)
	id := func(slots ...int) []uint64 {
		list := make([]uint64, len(slots))
		for i, slot := range slots {
			list[i] = posted[slot].wrID
		}
		return list
	}
	for _, slot := range []int{3, 1, 4, 0, 5} {
		p.receive(posted[slot], 1, 0)
	}
	in := pollRing(t, ring, 5)
	require.NoError(t, ring.Release(in...))
	flush := func() { requireRefused(t, ring.Flush(), syscall.ENOMEM, "post receive") }
	require.Equal(t, id(3, 1), ids(p.during(full(2), flush)))
	require.Empty(t, p.during(full(0), flush))

	// A poll that cannot post hands out all the same.
	p.receive(posted[2], 4, 7)
	p.receive(posted[1], 2, 8)
	in = make([]ibv.Received, 4)
	require.Equal(t, id(4), ids(p.during(full(1), func() {
		got, err := ring.Poll(in)
		requireRefused(t, err, syscall.ENOMEM, "post receive")
		require.Equal(t, 2, got)
	})))
	require.Equal(t, id(2, 1), wrIDs(in[:2]))
	require.Equal(t, []byte{7, 7, 7, 7}, in[0].Data)
	require.NoError(t, ring.Release(in[1], in[0]))
	require.Equal(t, id(0, 5, 1, 2), ids(p.during(script{room: all}, func() { require.NoError(t, ring.Flush()) })))
}

// Where it is not known how many buffers were taken, none is posted twice.
func TestRecvRingPostsNothingTwice(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring, posted := recvRing(p, 4, 8)
	for _, wr := range posted {
		p.receive(wr, 1, 0)
	}
	require.NoError(t, ring.Release(pollRing(t, ring, 4)...))
	require.Len(t, p.during(silent(2), func() { require.ErrorIs(t, ring.Flush(), ibv.ErrAcceptedUnknown) }), 2)
	p.play(script{room: all})
	require.NoError(t, ring.Flush())
	pollRing(t, ring, 0)
	require.Equal(t, 1, p.saw(calls), "the poll, and no post")

	// Those that were posted complete, and go on.
	p.receive(posted[1], 5, 9)
	in := pollRing(t, ring, 1)
	require.Equal(t, bytes.Repeat([]byte{9}, 5), in[0].Data)
	require.NoError(t, ring.Release(in...))
	require.Equal(t, []uint64{posted[1].wrID}, ids(p.during(script{room: all}, func() { pollRing(t, ring, 0) })))
}

// Completions that are not those of posted buffers are told, and not handed out;
// the others are.
func TestRecvRingTellsForeignCompletions(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	another, foreign := recvRing(p, 4, 8)
	ring, posted := recvRing(p, 4, 8)
	tag := posted[0].wrID
	p.receive(posted[0], 1, 0)
	out := pollRing(t, ring, 1)
	p.receive(posted[1], 1, 0)
	require.NoError(t, ring.Release(pollRing(t, ring, 1)...)) // not posted again yet
	for name, wrID := range map[string]uint64{
		"a small number":        2,
		"a large number":        math.MaxUint64,
		"another ring's":        foreign[2].wrID,
		"before the first":      tag - 1,
		"behind the last":       tag + 4,
		"of no buffer":          tag + math.MaxUint32,
		"of a buffer in use":    tag,
		"of one that was freed": tag + 1,
	} {
		t.Run(name, func(t *testing.T) {
			p.complete(ibv.WC{WRID: wrID, Opcode: ibv.WCRecv, ByteLen: 8})
			p.receive(posted[3], 3, 5)
			p.complete(ibv.WC{WRID: wrID, Status: ibv.WCWRFlushErr})
			in := make([]ibv.Received, 4)
			// It is not posted, for the buffer that was given back must stay so.
			require.Empty(t, p.during(full(0), func() {
				n, err := ring.Poll(in)
				require.Equal(t, 1, n)
				require.ErrorIs(t, err, syscall.ENOMEM, "the earlier error comes first")
			}))
			require.Equal(t, posted[3].wrID, in[0].WC.WRID)
			require.Equal(t, []byte{5, 5, 5}, in[0].Data)
			require.Zero(t, in[1])
			require.NoError(t, ring.Release(in[0]))
			require.Equal(t, []uint64{tag + 1, tag + 3}, ids(p.during(script{room: all}, func() { require.NoError(t, ring.Flush()) })))

			p.receive(posted[1], 1, 0)
			require.NoError(t, ring.Release(pollRing(t, ring, 1)...))
		})
	}
	require.NoError(t, ring.Flush())
	p.complete(ibv.WC{WRID: foreign[2].wrID, Opcode: ibv.WCRecv, ByteLen: 8})
	n, err := ring.Poll(make([]ibv.Received, 4))
	require.Zero(t, n)
	require.ErrorContains(t, err, fmt.Sprintf("a completion with WRID %#x is not the ring's", foreign[2].wrID))

	require.NoError(t, ring.Release(out...), "still out")
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
			require.False(t, seen[wr.wrID], "%#x", wr.wrID)
			seen[wr.wrID] = true
		}
		require.NoError(t, ring.Close())
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
	refused := func(of *ibv.RecvRing, in ...ibv.Received) {
		t.Helper()
		requireRefused(t, of.Release(in...), syscall.EINVAL, "release receive buffer")
	}
	p.receive(posted[2], 1, 0)
	p.receive(posted[1], 1, 0)
	in := pollRing(t, ring, 2)
	refused(ring, ibv.Received{})
	refused(another, in[0])
	require.NoError(t, ring.Release(in[0]))
	refused(ring, in[0])
	require.Equal(t, []uint64{posted[2].wrID}, ids(p.during(script{room: all}, func() { require.NoError(t, ring.Flush()) })))
	refused(ring, in[0])

	// The same buffer, a lap later.
	p.receive(posted[2], 1, 0)
	later := pollRing(t, ring, 1)
	require.Equal(t, in[0].WC, later[0].WC)
	refused(ring, in[0])

	// Those before the wrong one are given back, those behind it are not.
	refused(ring, in[1], in[0], later[0])
	require.Equal(t, []uint64{posted[1].wrID}, ids(p.during(script{room: all}, func() { require.NoError(t, ring.Flush()) })))
	require.NoError(t, ring.Release(later[0]))
	require.Equal(t, []uint64{posted[2].wrID}, ids(p.during(script{room: all}, func() { require.NoError(t, ring.Flush()) })))
}

// When the queue takes a part of a new ring, the caller gets the ring, whose
// memory stays until it is closed; when it takes nothing, nothing is left.
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
		"some, with a word":  {script{room: 1, result: int32(syscall.ENOMEM), bad: element, badIndex: 1}, false},
		"not known, some":    {silent(2), true},
		"not known, nothing": {silent(0), true},
	} {
		t.Run(name, func(t *testing.T) {
			var ring *ibv.RecvRing
			posted := p.during(tt.script, func() {
				var err error
				ring, err = ibv.NewRecvRing(p.qp, 5, 4096)
				require.ErrorContains(t, err, "make a ring of 5 receive buffers")
				require.Equal(t, tt.unknown, errors.Is(err, ibv.ErrAcceptedUnknown))
			})
			require.NotNil(t, ring)
			require.Len(t, posted, tt.script.room)
			require.Equal(t, 1, p.saw(regions))
			for _, wr := range posted {
				p.receive(wr, 4096, 1) // faults if the memory is gone
			}
			rest := p.during(script{room: all}, func() { pollRing(t, ring, len(posted)) })
			if tt.unknown {
				require.Empty(t, rest)
			} else {
				require.Len(t, rest, 5-len(posted))
				require.NotContains(t, ids(posted), rest[0].wrID)
			}
			require.NoError(t, ring.Close())
			require.Zero(t, p.saw(regions))
			for _, wr := range posted {
				require.False(t, p.mapped(wr.sges[0][0]))
			}
		})
	}
	for name, s := range map[string]script{"full": full(0), "refused": {result: int32(syscall.ENOMEM), bad: element}} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, p.during(s, func() {
				ring, err := ibv.NewRecvRing(p.qp, 5, 4096)
				require.Nil(t, ring)
				require.ErrorIs(t, err, syscall.ENOMEM)
			}))
			require.Equal(t, 1, p.saw(calls))
			require.Zero(t, p.saw(regions))
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
	onQP := func(n, size int) (*ibv.RecvRing, error) { return ibv.NewRecvRing(p.qp, n, size) }
	onSRQ := func(n, size int) (*ibv.RecvRing, error) { return ibv.NewSRQRecvRing(p.srq, p.cq, n, size) }
	withoutCQ := func(n, size int) (*ibv.RecvRing, error) { return ibv.NewSRQRecvRing(p.srq, nil, n, size) }
	withSRQ := func(n, size int) (*ibv.RecvRing, error) { return ibv.NewRecvRing(p.srqQP, n, size) }
	p.play(script{room: all})
	for _, tt := range []struct {
		name    string
		make    func(n, size int) (*ibv.RecvRing, error)
		n, size int
		refused verb
		errno   syscall.Errno
		says    string
	}{
		{"no buffers", onQP, 0, 8, none, syscall.EINVAL, "at least one buffer of at least one byte"},
		{"fewer than none", onQP, -1, 8, none, syscall.EINVAL, "make a ring of -1 receive buffers of 8 bytes"},
		{"no bytes", onQP, 1, 0, none, syscall.EINVAL, "at least one buffer of at least one byte"},
		{"fewer bytes than none", onQP, 1, -8, none, syscall.EINVAL, "at least one buffer of at least one byte"},
		{"more than a block", onQP, 2, 1 << 30, none, syscall.EINVAL, "1 GiB"},
		{"more than there is", onQP, math.MaxInt, math.MaxInt, none, syscall.EINVAL, "1 GiB"},
		{"more than the queue", onQP, 7, 8, none, syscall.ENOMEM, "the receive queue has room for 6"},
		{"more than the completion queue", onQP, 9, 8, none, syscall.ENOMEM, "the completion queue has room for 8"},
		{"more than the shared queue", onSRQ, 8, 8, none, syscall.ENOMEM, "the receive queue has room for 7"},
		{"more than its completion queue", onSRQ, 9, 8, none, syscall.ENOMEM, "the completion queue has room for 8"},
		{"no completion queue", withoutCQ, 1, 8, none, syscall.EINVAL, "the completion queue is missing"},
		{"queue pair with a shared queue", withSRQ, 1, 8, none, syscall.EINVAL, "SRQ"},
		{"no answer", onQP, 1, 8, queryQP, syscall.EACCES, "query queue pair 0x11"},
		{"no answer of the shared queue", onSRQ, 1, 8, querySRQ, syscall.EACCES, "query shared receive queue"},
		{"no memory region", onQP, 1, 8, regMR, syscall.ENOMEM, "register 8 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.refuse(tt.refused, tt.errno)
			defer p.refuse(none, 0)
			ring, err := tt.make(tt.n, tt.size)
			require.Nil(t, ring)
			requireRefused(t, err, tt.errno, tt.says)
			require.Zero(t, p.saw(calls))
			require.Zero(t, p.saw(regions))
			require.Equal(t, tt.refused == regMR, p.saw(theList) != 0)
			require.False(t, p.mapped(uint64(p.saw(theList))), "the buffers must be freed")
		})
	}
	ring, err := onQP(6, 8)
	require.NoError(t, err, "as large as the queue")
	require.NoError(t, ring.Close())
	ring, err = onSRQ(7, 8)
	require.NoError(t, err, "as large as the shared queue")
	require.NoError(t, ring.Close())

	p.play(script{room: all})
	p.state(ibv.QPSReset)
	_, err = onQP(1, 8)
	requireRefused(t, err, syscall.EINVAL, "RESET")
	p.state(ibv.QPSInit)
	p.call("provider_share_cq")
	_, err = onQP(1, 8)
	requireRefused(t, err, syscall.EINVAL, "its sends complete on the same completion queue")
	require.Zero(t, p.saw(calls))
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
	p.play(script{room: all})
	for range 2 {
		requireRefused(t, ring.Flush(), syscall.EINVAL, "RESET")
	}
	require.Zero(t, p.saw(calls))
	p.state(ibv.QPSInit)
	require.Equal(t, []uint64{posted[1].wrID}, ids(p.during(script{room: all}, func() { require.NoError(t, ring.Flush()) })))
}

func TestRecvRingOfASharedReceiveQueue(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	var ring *ibv.RecvRing
	posted := p.during(script{room: all}, func() {
		var err error
		ring, err = ibv.NewSRQRecvRing(p.srq, p.cq, 3, 8)
		require.NoError(t, err)
	})
	require.Len(t, posted, 3)
	require.EqualValues(t, addressOf(p.srq), p.saw(theObject))
	// The queue pairs' messages come as they like.
	for slot, qpNum := range map[int]uint32{2: 5, 0: 6} {
		p.complete(ibv.WC{WRID: posted[slot].wrID, Opcode: ibv.WCRecv, ByteLen: 8, QPNum: qpNum})
		in := pollRing(t, ring, 1)
		require.EqualValues(t, addressOf(p.cq), p.saw(theObject))
		require.Equal(t, qpNum, in[0].WC.QPNum)
		require.NoError(t, ring.Release(in...))
		require.Equal(t, []uint64{posted[slot].wrID}, ids(p.during(script{room: all}, func() { require.NoError(t, ring.Flush()) })))
		require.EqualValues(t, addressOf(p.srq), p.saw(theObject))
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
	in := make([]ibv.Received, 2)
	p.play(script{room: all, result: -1, errno: syscall.EIO})
	n, err := ring.Poll(in)
	require.Zero(t, n)
	requireRefused(t, err, syscall.EIO, "poll completion queue")

	p.play(script{room: all})
	in = pollRing(t, ring, 1)
	require.Equal(t, []byte{4, 4, 4}, in[0].Data)
	require.NoError(t, ring.Release(in...))
	p.play(silent(1))
	n, err = ring.Poll(in)
	require.Zero(t, n)
	require.ErrorIs(t, err, ibv.ErrAcceptedUnknown, "the earlier error comes first")
	require.Equal(t, 2, p.saw(calls), "the queue is polled although the post failed")
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
	p.refuse(deregMR, syscall.EBUSY)
	requireRefused(t, ring.Close(), syscall.EBUSY, "deregister memory region")
	p.receive(posted[0], 8, 3) // faults if the memory is gone
	require.Equal(t, byte(3), in[0].Data[7])
	p.refuse(none, 0)
	require.NoError(t, ring.Close())
	require.Zero(t, p.saw(regions))
	require.False(t, p.mapped(posted[0].sges[0][0]))

	// Whatever is done with it then does no harm.
	requireRefused(t, ring.Close(), syscall.EINVAL, "close receive ring")
	requireRefused(t, new(ibv.RecvRing).Close(), syscall.EINVAL, "close receive ring")
	requireRefused(t, ring.Release(in...), syscall.EINVAL, "release receive buffer")
	require.NoError(t, ring.Flush())
	n, err := ring.Poll(make([]ibv.Received, 2))
	require.Zero(t, n)
	require.ErrorContains(t, err, "not the ring's")
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
		buffers := map[uint64]sawWR{}
		for _, wr := range posted {
			buffers[wr.wrID] = wr
		}
		require.Len(t, buffers, n)
		// The model: numbers of the buffers in each place.
		device := ids(posted) // posted and not completed
		var completed []message
		var out []ibv.Received
		waiting := []uint64{}
		accept := func(wrs []sawWR) {
			got := ids(wrs)
			require.Equal(t, waiting[:len(got)], got, "seed %d", seed)
			waiting = waiting[len(got):]
			for _, wr := range wrs {
				require.NotContains(t, device, wr.wrID, "posted twice")
				require.Equal(t, buffers[wr.wrID].sges, wr.sges)
				device = append(device, wr.wrID)
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
					p.receive(buffers[m.wrID], m.length, m.content)
					completed = append(completed, m)
				}
			case 1: // giving back
				random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
				k := random.IntN(len(out) + 1)
				require.NoError(t, ring.Release(out[:k]...))
				waiting = append(waiting, wrIDs(out[:k])...)
				out = out[k:]
			case 2: // polling, with a queue that may be full
				s := script{room: all}
				if random.IntN(2) == 0 && len(waiting) > 0 {
					s = full(random.IntN(len(waiting)))
				}
				in := make([]ibv.Received, random.IntN(n+2))
				accept(p.during(s, func() {
					got, err := ring.Poll(in)
					require.Equal(t, s.room != all, err != nil)
					require.Equal(t, min(len(in), len(completed), 64), got)
					in = in[:got]
				}))
				for i := range in {
					require.Equal(t, completed[i].wrID, in[i].WC.WRID)
					require.Equal(t, bytes.Repeat([]byte{completed[i].content}, completed[i].length), in[i].Data)
				}
				completed = completed[len(in):]
				out = append(out, in...)
			case 3:
				accept(p.during(script{room: all}, func() { require.NoError(t, ring.Flush()) }))
				require.Empty(t, waiting)
			}
			require.Equal(t, n, len(device)+len(completed)+len(out)+len(waiting))
		}
		// In the end, the device has all of them again.
		flush := func() { require.NoError(t, ring.Flush()) }
		accept(p.during(script{room: all}, flush))
		for len(completed) > 0 {
			in := pollRing(t, ring, min(len(completed), 64))
			completed, out = completed[len(in):], append(out, in...)
		}
		require.NoError(t, ring.Release(out...))
		waiting = append(waiting, wrIDs(out)...)
		accept(p.during(script{room: all}, flush))
		require.Len(t, device, n)
		require.NoError(t, ring.Close())
	}
}

// message is what the device received into a buffer.
type message struct {
	wrID    uint64
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
	ring, posted := recvRing(p, n, 8)
	for range times + 1 { // it runs once more than it measures
		for _, wr := range posted {
			p.receive(wr, 8, 1)
		}
	}
	in := make([]ibv.Received, n)
	sum := 0
	require.Zero(t, testing.AllocsPerRun(times, func() {
		got, err := ring.Poll(in)
		sum += got
		if err != nil || ring.Release(in[:got]...) != nil {
			panic(err)
		}
	}))
	require.Equal(t, n*(times+1), sum)
}

// The example does what it says, with buffers that are used again.
func TestRecvRingExample(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring, posted := recvRing(p, 4, 16)
	for i := range 9 {
		p.complete(ibv.WC{WRID: posted[i%4].wrID, Opcode: ibv.WCRecv, ByteLen: uint32(i), QPNum: 0x11})
	}
	var lengths []int
	require.NoError(t, receive(ring, 9, func(message []byte) { lengths = append(lengths, len(message)) }))
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, lengths)

	require.NoError(t, ring.Flush())
	p.complete(ibv.WC{WRID: posted[3].wrID, Status: ibv.WCWRFlushErr})
	var failed *ibv.CompletionError
	require.ErrorAs(t, receive(ring, 1, nil), &failed)
}
