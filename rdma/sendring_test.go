package rdma_test

import (
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/scripted"
	"github.com/goverbs/goverbs/rdma"
)

func sendRing(p *provider, n, every int) *rdma.SendRing {
	p.T.Helper()
	ring, err := rdma.NewSendRing(p.qp, rdma.SendRingOptions{Requests: n, MaxSGE: 1, SignalEvery: every})
	require.NoError(p.T, err)
	return ring
}

// addSends adds so many sends to a ring.
func addSends(t *testing.T, ring *rdma.SendRing, n int) {
	t.Helper()
	for range n {
		_, err := ring.Add(ibv.WRSend, 0)
		require.NoError(t, err)
	}
}

// sent is a completion of the queue pair's send with a number.
func sent(ring *rdma.SendRing, number uint64) ibv.WC { return sentWR(ring.Ticket(number)) }

// sentWR is the completion of a send by its WRID.
func sentWR(wrID uint64) ibv.WC { return ibv.WC{WRID: wrID, Opcode: ibv.WCSend, QPNum: 0x11} }

// isDone reports whether the send with a number is done.
func isDone(ring *rdma.SendRing, number uint64) bool { return ring.Done(ring.Ticket(number)) }

// numbers are those of work requests of a ring.
func numbers(ring *rdma.SendRing, wrs []sawWR) []uint64 {
	list := ids(wrs)
	for i, id := range list {
		list[i] = ring.Number(id)
	}
	return list
}

// pollSends polls a ring, and requires that it says that so many are done.
func pollSends(t *testing.T, ring *rdma.SendRing, want int) {
	t.Helper()
	n, err := ring.Poll()
	require.NoError(t, err)
	require.Equal(t, want, n)
}

// signals is what a provider saw of the signalling, a letter for each send.
func signals(wrs []sawWR) string {
	text := make([]byte, len(wrs))
	for i, wr := range wrs {
		text[i] = '.'
		if wr.SendFlags&uint64(ibv.SendSignaled) != 0 {
			text[i] = 'S'
		}
	}
	return string(text)
}

// One in so many is signalled, however full the ring is. Beside these, the first is,
// and others until so many were outstanding at once: those that would be the last if
// the queue took no more than it has shown to take.
func TestSendRingSignals(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	for _, tt := range []struct {
		n, every int
		bursts   []int // how many are added before all of it completes
		want     string
	}{
		{1, 1, []int{1, 1, 1}, "SSS"},
		{4, 1, []int{3, 4, 1}, "SSSSSSSS"},
		{8, 4, []int{4, 4, 8, 4}, "S..S...S...S...S...S"},
		{8, 4, []int{3, 1, 2, 2}, "S..S..SS"},
		{8, 3, []int{6, 6, 3}, "S.S..S..S..S..S"},
		{8, 3, []int{8, 6, 6}, "S.S..S..S..S..S..S.."},
		{5, 3, []int{5, 3, 3}, "S.S..S..S.."},
		{4, 4, []int{4, 4}, "S..S...S"},
		// What was not signalled is still outstanding when the next ones come.
		{4, 4, []int{3, 1, 1, 2, 1, 4}, "S..S..SS..SS"},
		{4, 3, []int{2, 2, 3}, "S.S..S."},
	} {
		t.Run(fmt.Sprintf("one in %d of %d, %v", tt.every, tt.n, tt.bursts), func(t *testing.T) {
			ring := sendRing(p, tt.n, tt.every)
			var seen []sawWR
			for _, burst := range tt.bursts {
				addSends(t, ring, burst)
				seen = append(seen, p.during(script{Room: all}, func() { require.NoError(t, ring.Post()) })...)
				for number, letter := range signals(seen) {
					if letter == 'S' && !isDone(ring, uint64(number)) {
						p.complete(sent(ring, uint64(number)))
					}
				}
				_, err := ring.Poll()
				require.NoError(t, err)
			}
			require.Equal(t, tt.want, signals(seen))
			for number, wr := range seen {
				require.EqualValues(t, number, ring.Number(wr.WRID))
			}
		})
	}
}

// All flags are the caller's. What the caller wants signalled is, and those
// behind it are counted from there.
func TestSendRingFlags(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring := sendRing(p, 12, 3)
	for _, signalled := range ".....S.S..SS" {
		flags := ibv.SendFence | ibv.SendSolicited
		if signalled == 'S' {
			flags |= ibv.SendSignaled
		}
		_, err := ring.Add(ibv.WRSend, flags)
		require.NoError(t, err)
	}
	wrs := p.during(script{Room: all}, func() { require.NoError(t, ring.Post()) })
	require.EqualValues(t, addressOf(p.QP), p.Saw(theObject))
	require.Equal(t, "S.S..S.S..SS", signals(wrs))
	for _, wr := range wrs {
		require.EqualValues(t, ibv.SendFence|ibv.SendSolicited, wr.SendFlags&^uint64(ibv.SendSignaled))
	}

	// So nothing need stay outstanding.
	for _, number := range []uint64{2, 5, 7, 10, 11} {
		p.complete(sent(ring, number))
	}
	pollSends(t, ring, 12)
	require.Zero(t, ring.Outstanding())
}

// Only what is known to be done makes room, and a completion tells of all before
// it.
func TestSendRingFillsUp(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	const n = 6
	ring := sendRing(p, n, 2)
	require.Equal(t, n, ring.Len())
	addSends(t, ring, n)
	require.Equal(t, n, ring.Outstanding())
	full := func() {
		t.Helper()
		wr, err := ring.Add(ibv.WRSend, 0)
		require.Nil(t, wr)
		require.ErrorIs(t, err, rdma.ErrRingFull)
		require.ErrorIs(t, err, syscall.EAGAIN)
		require.ErrorContains(t, err, "poll the ring")
	}
	full()
	p.Play(script{Room: all})
	require.NoError(t, ring.Post())
	require.NoError(t, ring.Post())
	require.Equal(t, 1, p.Saw(calls), "nothing is posted twice")
	full()
	pollSends(t, ring, 0)
	require.EqualValues(t, addressOf(p.SendCQ), p.Saw(theObject))
	require.False(t, isDone(ring, 0))
	p.complete(sent(ring, 3))
	pollSends(t, ring, 4)
	require.True(t, isDone(ring, 0))
	require.True(t, isDone(ring, 3))
	require.False(t, isDone(ring, 4))
	require.Equal(t, 2, ring.Outstanding())
	addSends(t, ring, 4)
	full()
	require.Equal(t, []uint64{6, 7, 8, 9}, numbers(ring, p.during(script{Room: all}, func() { require.NoError(t, ring.Post()) })))
	p.complete(sent(ring, 5), sent(ring, 7), sent(ring, 9))
	pollSends(t, ring, n)
	require.Zero(t, ring.Outstanding())
	require.False(t, isDone(ring, 10))
}

// More completions than one poll takes are for the next ones.
func TestSendRingManyCompletions(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	const n = 150
	ring := sendRing(p, n, 1)
	addSends(t, ring, n)
	require.Len(t, p.during(script{Room: all}, func() { require.NoError(t, ring.Post()) }), n)
	for number := range uint64(n) {
		p.complete(sent(ring, number))
	}
	for _, want := range []int{64, 64, n - 128, 0} {
		pollSends(t, ring, want)
	}
}

// What failed is told, once, and all before it are done; those behind it fail
// too, signalled or not.
func TestSendRingTellsOfFailures(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	for _, foreign := range []bool{false, true} {
		ring := sendRing(p, 8, 8)
		addSends(t, ring, 8)
		p.Play(script{Room: all})
		require.NoError(t, ring.Post())
		if foreign {
			p.complete(sent(ring, 100)) // must not hide what comes behind it
		}
		// Of a failure, the other fields say nothing.
		p.complete(ibv.WC{WRID: ring.Ticket(2), Status: ibv.WCRemAccessErr, Opcode: ibv.WCRecv, ByteLen: math.MaxUint32, QPNum: 0x11},
			ibv.WC{WRID: ring.Ticket(3), Status: ibv.WCWRFlushErr, Opcode: math.MaxUint32, QPNum: 0x11})
		n, err := ring.Poll()
		require.Equal(t, 4, n)
		var failed *ibv.CompletionError
		require.ErrorAs(t, err, &failed)
		if foreign {
			requireForeign(t, err, "poll send ring", sent(ring, 100))
		}
		require.Equal(t, &ibv.CompletionError{WRID: ring.Ticket(2), Status: ibv.WCRemAccessErr, VendorErr: 0x17, QPNum: 0x11}, failed)
		require.True(t, isDone(ring, 3))
		require.False(t, isDone(ring, 4))
		for number := range uint64(4) {
			p.complete(ibv.WC{WRID: ring.Ticket(4 + number), Status: ibv.WCWRFlushErr, QPNum: 0x11})
		}
		n, err = ring.Poll()
		require.Equal(t, 4, n)
		require.ErrorAs(t, err, &failed)
		require.EqualValues(t, ring.Ticket(4), failed.WRID)
		require.Zero(t, ring.Outstanding())
		pollSends(t, ring, 0)
	}
}

// Completions that are not those of outstanding sends are told, and change
// nothing; the others count.
func TestSendRingTellsForeignCompletions(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring, another := sendRing(p, 4, 1), sendRing(p, 4, 1)
	next := uint64(0)
	for name, foreign := range map[string]func(next uint64) ibv.WC{
		"done before":                 func(next uint64) ibv.WC { return sent(ring, next-1) },
		"not added yet":               func(next uint64) ibv.WC { return sent(ring, next+3) },
		"a large number":              func(uint64) ibv.WC { return sentWR(math.MaxUint64) },
		"a number of somebody else's": func(next uint64) ibv.WC { return sentWR(next + 1) },
		"another ring's":              func(next uint64) ibv.WC { return sent(another, next+1) },
		"another queue pair's":        func(next uint64) ibv.WC { return ibv.WC{WRID: ring.Ticket(next + 1), Opcode: ibv.WCSend, QPNum: 0x12} },
		"another queue pair's failure": func(next uint64) ibv.WC {
			return ibv.WC{WRID: ring.Ticket(next + 1), Status: ibv.WCWRFlushErr, QPNum: 0x12}
		},
		"a receive": func(next uint64) ibv.WC { return ibv.WC{WRID: ring.Ticket(next + 1), Opcode: ibv.WCRecv, QPNum: 0x11} },
		"a write with immediate": func(next uint64) ibv.WC {
			return ibv.WC{WRID: ring.Ticket(next + 1), Opcode: ibv.WCRecvRDMAWithImm, QPNum: 0x11}
		},
	} {
		t.Run(name, func(t *testing.T) {
			addSends(t, ring, 3)
			p.Play(script{Room: all})
			require.NoError(t, ring.Post())
			wc := foreign(next)
			p.complete(wc)
			n, err := ring.Poll()
			require.Zero(t, n)
			requireForeign(t, err, "poll send ring", wc)
			require.False(t, isDone(ring, next))
			p.complete(wc, sent(ring, next), sent(ring, next+2), wc)
			n, err = ring.Poll()
			require.Equal(t, 3, n)
			requireForeign(t, err, "poll send ring", wc, wc)
			require.Zero(t, ring.Outstanding())
			next += 3
		})
	}

	// What is not posted yet cannot have completed.
	addSends(t, ring, 1)
	p.complete(sent(ring, next))
	n, err := ring.Poll()
	require.Zero(t, n)
	requireForeign(t, err, "poll send ring", sent(ring, next))
}

func TestSendRingPollFails(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring := sendRing(p, 4, 1)
	addSends(t, ring, 2)
	p.Play(script{Room: all})
	require.NoError(t, ring.Post())
	p.complete(sent(ring, 1))
	p.Play(script{Result: -1, Errno: syscall.EIO})
	n, err := ring.Poll()
	require.Zero(t, n)
	requireRefused(t, err, syscall.EIO, "poll completion queue")
	require.Equal(t, 2, ring.Outstanding())
	p.Play(script{})
	pollSends(t, ring, 2)
}

// Nothing of the work request that had the place before lives on.
func TestSendRingClearsWhatWasBefore(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring := sendRing(p, 1, 1)
	add := func(opcode ibv.WROpcode, flags ibv.SendFlags, sges ...ibv.SGE) *ibv.SendWR {
		var wr *ibv.SendWR
		var err error
		if opcode == ibv.WRRDMAWriteWithImm {
			wr, err = ring.AddRDMA(opcode, flags, rdma.Remote{Addr: 3, RKey: 4, Length: 1 << 40}, sges...)
		} else {
			wr, err = ring.Add(opcode, flags, sges...)
		}
		require.NoError(t, err)
		return wr
	}
	finish := func() sawWR {
		wrs := p.during(script{Room: all}, func() { require.NoError(t, ring.Post()) })
		require.Len(t, wrs, 1)
		p.complete(sentWR(wrs[0].WRID))
		pollSends(t, ring, 1)
		return wrs[0]
	}
	ah := scripted.Part[ibv.AH](&p.Object, "provider_context") // an address of C's, which is all that an AH is here
	fillIn := []func(wr *ibv.SendWR){
		func(wr *ibv.SendWR) { wr.SetImmData(ibv.ToBE32(1)) },
		func(wr *ibv.SendWR) { wr.SetInvalidateRKey(2) },
		func(wr *ibv.SendWR) { *wr.WR.RDMA() = ibv.SendWRWRRDMA{RemoteAddr: 3, RKey: 4} },
		func(wr *ibv.SendWR) {
			*wr.WR.Atomic() = ibv.SendWRWRAtomic{RemoteAddr: 5, CompareAdd: 6, Swap: 7, RKey: 8}
		},
		func(wr *ibv.SendWR) { *wr.WR.UD() = ibv.SendWRWRUD{AH: ibv.ToPtr(ah), RemoteQPN: 9, RemoteQKey: 10} },
		func(wr *ibv.SendWR) { wr.QPType.XRC().RemoteSRQN = 11 },
		func(wr *ibv.SendWR) { wr.TSO().HdrSz, wr.TSO().MSS = 12, 13 },
		func(wr *ibv.SendWR) { wr.BindMW().RKey = 14 },
		func(wr *ibv.SendWR) { wr.BindMW().BindInfo.Length, wr.BindMW().BindInfo.MWAccessFlags = 15, 16 },
	}
	fresh := *add(ibv.WRSend, 0)
	fresh.WRID = 0
	finish()
	for i, fill := range fillIn {
		fill(add(ibv.WRRDMAWriteWithImm, ibv.SendFence, sge(1, 1)))
		finish()
		wr := *add(ibv.WRSend, 0)
		wr.WRID = 0
		require.Equal(t, fresh, wr, "number %d of what is filled in", i)
		saw := finish()
		require.Zero(t, saw.Imm)
		require.Zero(t, saw.AH)
		require.Zero(t, saw.RemoteQPN)
		require.Zero(t, saw.NumSGE)
	}

	// What is added after is the provider's as it is.
	wr := add(ibv.WRRDMAWriteWithImm, 0, sge(2, 3))
	wr.SetImmData(ibv.ToBE32(0x01020304))
	saw := finish()
	require.Equal(t, [][3]uint64{{sge(2, 3).Addr, uint64(sge(2, 3).Length), uint64(sge(2, 3).LKey)}}, saw.SGEs)
	require.EqualValues(t, 1, saw.Opcode) // IBV_WR_RDMA_WRITE_WITH_IMM
	require.EqualValues(t, ibv.ToBE32(0x01020304), saw.Imm)
	require.Equal(t, [2]uint64{3, 4}, [2]uint64{saw.RemoteAddr, saw.RKey})
}

// An Add that is refused changes nothing: neither the count nor the signalling.
func TestSendRingAddRefused(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring := sendRing(p, 4, 2)
	for range 2 {
		for range 3 {
			wr, err := ring.Add(ibv.WRSend, 0, sge(0, 0), sge(0, 1))
			require.Nil(t, wr)
			requireRefused(t, err, syscall.EINVAL, "2 scatter/gather entries are given, the chain has room for 1")
		}
		addSends(t, ring, 1)
	}
	wrs := p.during(script{Room: all}, func() { require.NoError(t, ring.Post()) })
	require.Equal(t, []uint64{0, 1}, numbers(ring, wrs))
	require.Equal(t, "SS", signals(wrs))
}

func TestSendRingRefused(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	const cqe, queue = 8, 6
	usual := sizes{cqe: cqe, send: queue, recv: 1}
	p.Play(script{Room: all})
	for _, tt := range []struct {
		name             string
		n, maxSGE, every int
		sizes            sizes
		errno            syscall.Errno
		says             string
	}{
		{"fewer than none", 4, 1, -1, usual, syscall.EINVAL, "one in -1"},
		{"one in more than there are", 4, 1, 5, usual, syscall.EINVAL, "one in 5"},
		{"fewer than no work requests", -1, 1, 1, usual, syscall.EINVAL, "of -1 work requests"},
		{"no entries but fewer", 4, -1, 1, usual, syscall.EINVAL, "0 entries or more"},
		{"more than the queue", 7, 1, 1, usual, syscall.EINVAL, "the send queue has room for 6"},
		{"more than anything", math.MaxInt, 1, 1, usual, syscall.EINVAL, "the send queue has room for 6"},
		{"more than the completion queue", 6, 1, 1, sizes{cqe: 5, send: queue, recv: 1}, syscall.EINVAL, "the completion queue has room for 5"},
		{"more entries than a work request has", 4, 3, 1, usual, syscall.EINVAL, "3 scatter/gather entries each are asked for, its work requests have at most 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.resize(tt.sizes)
			p.entries(2, 0, 0)
			ring, err := rdma.NewSendRing(p.qp, rdma.SendRingOptions{Requests: tt.n, MaxSGE: tt.maxSGE, SignalEvery: tt.every})
			require.Nil(t, ring)
			requireRefused(t, err, tt.errno, tt.says)
		})
	}
	// Drivers that do not tell whether all is signalled say that it is.
	for _, all := range []bool{false, true} {
		p.resize(sizes{cqe: queue, send: queue, signalAllSends: all})
		for _, every := range []int{1, queue} {
			for maxSGE := range 3 {
				_, err := rdma.NewSendRing(p.qp, rdma.SendRingOptions{Requests: queue, MaxSGE: maxSGE, SignalEvery: every})
				require.NoError(t, err, "as large as the queues")
			}
		}
	}
	require.Zero(t, p.Saw(calls), "nothing is posted by making a ring")
}

// sendQueue is a device's send queue as strict as any: what was taken keeps its
// place until a completion of it, or of a later one, was polled.
type sendQueue struct {
	p        *provider
	size     int
	occupied []sawWR
	executed int // how many of them the device is done with
}

func (q *sendQueue) take(wrs []sawWR) {
	q.occupied = append(q.occupied, wrs...)
	require.LessOrEqual(q.p.T, len(q.occupied), q.size, "the send queue overflows")
}

// execute lets the device do at most so many in order, and complete those that
// are signalled.
func (q *sendQueue) execute(n int) {
	for ; n > 0 && q.executed < len(q.occupied); n-- {
		wr := q.occupied[q.executed]
		q.executed++
		if wr.SendFlags&uint64(ibv.SendSignaled) != 0 {
			q.p.complete(sentWR(wr.WRID))
		}
	}
}

// free takes away the first n, whose end was heard of.
func (q *sendQueue) free(n int) {
	require.LessOrEqual(q.p.T, n, q.executed, "said to be done before the device was")
	q.occupied, q.executed = q.occupied[n:], q.executed-n
}

// Whatever the sizes and whatever is done in whatever order, the send queue never
// overflows, every send is posted once and in order, and the ring goes on: also
// when the queue takes fewer than it promised.
func TestSendRingNeverGetsStuck(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	for n := 1; n <= 9; n++ {
		for try := range n * n {
			every, size := 1+try/n, 1+try%n
			p.resize(sizes{cqe: n, send: uint32(n)})
			random := rand.New(rand.NewPCG(uint64(n), uint64(try)))
			ring := sendRing(p, n, every)
			queue := &sendQueue{p: p, size: size}
			added, posted, done, signalled := 0, 0, 0, 0
			post := func(room int) {
				room = min(room, size-len(queue.occupied))
				s := script{Room: all}
				if waiting := added - posted; room < waiting {
					s = full(room)
				}
				wrs := p.during(s, func() { require.Equal(t, s.Room != all, ring.Post() != nil) })
				for _, wr := range wrs {
					require.EqualValues(t, posted, ring.Number(wr.WRID))
					posted++
				}
				signalled += len(signals(wrs)) - len(signals(unsignalled(wrs)))
				queue.take(wrs)
			}
			poll := func() int {
				k, err := ring.Poll()
				require.NoError(t, err)
				queue.free(k)
				done += k
				return k
			}
			for range 500 {
				switch random.IntN(4) {
				case 0:
					for range random.IntN(n + 1) {
						wr, err := ring.Add(ibv.WRSend, 0)
						require.Equal(t, added-done == n, err != nil)
						if err != nil {
							require.ErrorIs(t, err, rdma.ErrRingFull)
							break
						}
						require.Equal(t, ring.Ticket(uint64(added)), wr.WRID)
						added++
					}
				case 1:
					post(random.IntN(n + 1))
				case 2:
					queue.execute(random.IntN(n + 1))
				case 3:
					poll()
				}
				require.Equal(t, added-done, ring.Outstanding())
				require.Equal(t, done > 0, isDone(ring, uint64(max(done, 1)-1)))
				require.False(t, isDone(ring, uint64(done)))
				if added-done == n {
					// Full: it must be enough that the device does its work.
					post(n)
					queue.execute(n)
					require.Positive(t, poll(), "stuck: one in %d of %d is signalled, %d fit", every, n, size)
				}
			}
			for range n {
				post(n)
				queue.execute(n)
				poll()
			}
			require.Equal(t, added, posted)
			require.Less(t, ring.Outstanding(), every, "so many in a row are not signalled")
			require.Greater(t, added, 30, "the test must do something")
			if min(every, size) > 1 {
				require.Less(t, signalled, added)
			}
		}
	}
}

// unsignalled are those of the work requests that complete in silence.
func unsignalled(wrs []sawWR) []sawWR {
	var list []sawWR
	for _, wr := range wrs {
		if wr.SendFlags&uint64(ibv.SendSignaled) == 0 {
			list = append(list, wr)
		}
	}
	return list
}

// A queue pair that sends nothing yet is told before the provider is asked, for
// providers refuse without saying that they took none. Over iWARP, C does not know
// the state.
func TestSendRingBeforeRTS(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring := sendRing(p, 4, 2)
	addSends(t, ring, 3)
	p.Play(script{Room: all})
	for _, state := range []ibv.QPState{ibv.QPSReset, ibv.QPSInit, ibv.QPSRTR} {
		p.state(state)
		requireRefused(t, ring.Post(), syscall.EINVAL, "it sends nothing before RTS")
		require.Zero(t, p.Saw(calls))
		require.Equal(t, 3, ring.Outstanding())
	}
	p.Context.Device.TransportType = ibv.TransportIWARP
	require.Equal(t, []uint64{0, 1, 2}, numbers(ring, p.during(script{Room: all}, func() { require.NoError(t, ring.Post()) })))
	p.Context.Device.TransportType = ibv.TransportIB
}

func TestSendRingClose(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	for _, what := range []string{"send ring of 4 work requests for queue pair 0x11 on scripted0", "queue pair 0x11 on scripted0"} {
		ring := sendRing(p, 4, 1)
		addSends(t, ring, 2)
		p.Play(script{Room: all})
		require.NoError(t, ring.Post())
		p.complete(sent(ring, 0))
		pollSends(t, ring, 1)
		addSends(t, ring, 1)
		require.Equal(t, "send ring of 4 work requests for queue pair 0x11 on scripted0", ring.String())
		if what == ring.String() {
			require.NoError(t, ring.Close())
			require.ErrorIs(t, ring.Close(), rdma.ErrClosed)
		} else {
			require.NoError(t, p.qp.Close())
		}
		p.Play(script{Room: all})
		never := &rdma.SendRing{}
		requireRefused(t, never.Close(), syscall.EINVAL, "not made by this package")
		for _, closed := range []*rdma.SendRing{ring, never} {
			_, addErr := closed.Add(ibv.WRSend, 0)
			n, pollErr := closed.Poll()
			require.Zero(t, n)
			for op, err := range map[string]error{"add to": addErr, "post": closed.Post(), "poll": pollErr} {
				require.ErrorContains(t, err, "rdma: "+op)
				if closed == never {
					requireRefused(t, err, syscall.EINVAL, "not made by this package")
					continue
				}
				require.ErrorIs(t, err, rdma.ErrClosed)
				require.ErrorIs(t, err, fs.ErrClosed)
				require.ErrorContains(t, err, what+": it is closed")
			}
			require.Zero(t, closed.Len())
			require.Zero(t, closed.Outstanding())
		}
		require.True(t, isDone(ring, 0))
		require.False(t, isDone(ring, 1))
		require.Zero(t, p.Saw(calls))
	}
}

func TestSendRingDoesNotAllocate(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	if !ccall.Direct() {
		return // a call costs memory then
	}
	const n, times = 4, 100
	ring := sendRing(p, n, 1) // so that each poll finds as many as it takes
	p.Play(script{Room: all})
	for number := range uint64(n * (times + 1)) { // it runs once more than it measures
		p.complete(sent(ring, number))
	}
	done := 0
	require.Zero(t, testing.AllocsPerRun(times, func() {
		for range n {
			if _, err := ring.Add(ibv.WRSend, 0, ibv.SGE{Length: 8}); err != nil {
				panic(err)
			}
		}
		if err := ring.Post(); err != nil {
			panic(err)
		}
		k, err := ring.Poll()
		if err != nil {
			panic(err)
		}
		done += k
	}))
	require.Equal(t, n*(times+1), done)
}

// The example writes all of it, and does not return before the end.
func TestSendRingExample(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	const length = 2<<16 + 5
	buf, err := ibv.AllocBuffer(length)
	require.NoError(t, err)
	from, err := p.pd.Register(buf, 0)
	require.NoError(t, err)
	to := rdma.Remote{Addr: 0x1000000, RKey: 7, Length: length}
	p.Play(script{Room: all})

	// All fit in: only the end is heard of.
	ring := sendRing(p, 4, 4)
	p.complete(sent(ring, 2))
	require.NoError(t, write(ring, from, to))
	wrs := p.took()
	require.Equal(t, "S.S", signals(wrs))
	for i, wr := range wrs {
		require.Zero(t, wr.Opcode) // IBV_WR_RDMA_WRITE
		require.Equal(t, [2]uint64{0x1000000 + uint64(i)<<16, 7}, [2]uint64{wr.RemoteAddr, wr.RKey})
		require.Equal(t, [][3]uint64{{addressOf(&buf[i<<16]), uint64([]int{1 << 16, 1 << 16, 5}[i]), 0x1234}}, wr.SGEs)
	}

	// Each has to wait for the one before.
	ring = sendRing(p, 1, 1)
	p.complete(sent(ring, 0), sent(ring, 1), ibv.WC{WRID: ring.Ticket(2), Status: ibv.WCRemAccessErr, QPNum: 0x11})
	var failed *ibv.CompletionError
	require.ErrorAs(t, write(ring, from, to), &failed)
	require.EqualValues(t, ring.Ticket(2), failed.WRID)
	require.EqualValues(t, 0x1000000+2<<16, p.took()[0].RemoteAddr)
	require.ErrorContains(t, write(ring, from, rdma.Remote{Length: 1}), "not within it")
	require.NoError(t, from.Close())
	require.NoError(t, buf.Free())
}

// When it is not known what was accepted, nothing that was signalled before is
// relied on: what follows is signalled until a completion comes.
func TestSendRingGoesOnAfterUnknownAcceptance(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	ring := sendRing(p, 8, 8)
	addSends(t, ring, 4)
	var err error
	p.during(script{Result: int32(syscall.EINVAL), Bad: null}, func() { err = ring.Post() }) // and none is
	require.ErrorIs(t, err, ibv.ErrAcceptedUnknown)
	addSends(t, ring, 4)
	took := p.during(full(3), func() { err = ring.Post() }) // a queue that takes 3
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Len(t, took, 3)
	signalled := false
	for _, wr := range took {
		signalled = signalled || wr.SendFlags&uint64(ibv.SendSignaled) != 0
	}
	require.True(t, signalled, "its completion tells that there is room")
}
