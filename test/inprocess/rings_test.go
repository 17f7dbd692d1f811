//go:build !freebsd

package inprocess

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// depth is how many work requests queues have room for, and rings have.
const depth = 4

// stream is a connection on which one end sends numbered messages of a byte.
type stream struct {
	t      *testing.T
	out    *rdma.SendRing
	in     *rdma.RecvRing
	memory *rdma.Region
	refuse func(receive bool) *ibvtest.Refusal // nil takes it
	asked  map[uint64]bool                     // the WRIDs that the device was asked to take while there was refuse

	once bool // none may be twice

	added, arrived byte // how many messages, modulo 256
}

func newStream(t *testing.T) *stream {
	t.Helper()
	s := &stream{t: t, asked: map[uint64]bool{}}
	f := ibvtest.New(t)
	dev, err := rdma.Open(f.Names()[0], rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.CloseAll()) })
	pd, err := dev.AllocPD()
	require.NoError(t, err)
	queuePair := func() *rdma.QP {
		cq, err := dev.CreateCQ(4*depth, rdma.CQOptions{NoChannel: true})
		require.NoError(t, err)
		room := ibv.QPCap{MaxSendWR: depth, MaxRecvWR: depth, MaxSendSGE: 1, MaxRecvSGE: 1}
		qp, err := pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: room})
		require.NoError(t, err)
		return qp
	}
	a, b := queuePair(), queuePair()
	here, there := net.Pipe()
	failed := make(chan error, 1)
	go func() {
		_, err := b.Connect(t.Context(), there, rdma.ConnectOptions{})
		failed <- err
	}()
	_, err = a.Connect(t.Context(), here, rdma.ConnectOptions{})
	require.NoError(t, err)
	require.NoError(t, <-failed)
	s.out, err = rdma.NewSendRing(a, rdma.SendRingOptions{Requests: depth, SignalEvery: 1})
	require.NoError(t, err)
	s.in, err = rdma.NewRecvRing(b, rdma.RecvRingOptions{Buffers: depth, Size: 8})
	require.NoError(t, err)
	s.memory, err = pd.AllocRegion(256, rdma.RegionOptions{})
	require.NoError(t, err)
	for i := range s.memory.Bytes() {
		s.memory.Bytes()[i] = byte(i)
	}
	f.OnPost(func(p *ibvtest.PostedWR) {
		if s.refuse == nil {
			return
		}
		require.False(t, s.once && s.asked[p.WRID], "it is posted twice")
		s.asked[p.WRID] = true
		if r := s.refuse(p.Receive); r != nil {
			p.Refuse(*r)
		}
	})
	return s
}

// newGivenBack is a stream whose buffers were all filled and given back, and are not posted again.
func newGivenBack(t *testing.T) *stream {
	t.Helper()
	s := newStream(t)
	s.add(depth)
	require.NoError(t, s.out.Post())
	received, err := s.receive()
	require.NoError(t, err)
	require.Len(t, received, depth)
	_, err = s.out.Poll()
	require.NoError(t, err)
	require.NoError(t, s.in.Release(received...))
	return s
}

// add adds the next messages to the ring, as far as there is room.
func (s *stream) add(n int) {
	s.t.Helper()
	for range n {
		if _, err := s.out.Add(ibv.WRSend, 0, s.memory.SGE(int(s.added), 1)); err != nil {
			require.ErrorIs(s.t, err, rdma.ErrRingFull)
			return
		}
		s.added++
	}
}

// receive takes what has come: the next messages, each once.
func (s *stream) receive() (received []rdma.Received, err error) {
	s.t.Helper()
	received = make([]rdma.Received, 2*depth)
	n, err := s.in.Poll(received)
	for _, m := range received[:n] {
		require.NoError(s.t, m.WC.Err())
		require.Equal(s.t, []byte{s.arrived}, slices.Clone(m.Data))
		s.arrived++
	}
	return received[:n], err
}

// at takes so many work requests of one kind, whether they are posted together or one at a time as in checked mode, and
// refuses the next one.
func at(index int, receive bool, r ibvtest.Refusal) func(bool) *ibvtest.Refusal {
	return func(isReceive bool) *ibvtest.Refusal {
		if isReceive != receive {
			return nil
		}
		index--
		if index == -1 {
			return &r
		}
		return nil
	}
}

// told is the ways to refuse that say which work request it is.
var told = []ibvtest.Refusal{
	{Errno: syscall.ENOMEM}, {Errno: syscall.ENOMEM, Result: ibvtest.NegativeErrno},
	{Errno: syscall.ENOMEM, Result: ibvtest.MinusOne}, {Errno: syscall.ENOMEM, Result: ibvtest.Zero},
}

// untold is those that do not.
var untold = []ibvtest.Refusal{
	{Errno: syscall.EIO, BadWR: ibvtest.BadWRUnset}, {Errno: syscall.EIO, Result: ibvtest.NegativeErrno, BadWR: ibvtest.BadWRNull},
	{Errno: syscall.EIO, Result: ibvtest.MinusOne, BadWR: ibvtest.BadWRStale}, {Errno: syscall.EIO, BadWR: ibvtest.BadWRForeign},
}

func each(t *testing.T, refusals []ibvtest.Refusal, test func(t *testing.T, r ibvtest.Refusal, index int)) {
	for _, r := range refusals {
		for index := range depth {
			t.Run(fmt.Sprintf("%v/%d", r, index), func(t *testing.T) { test(t, r, index) })
		}
	}
}

// A post of sends that is cut short goes on with the next one, and what is added meanwhile comes behind.
func TestSendRingGoesOnAfterAShortPost(t *testing.T) {
	each(t, told, func(t *testing.T, r ibvtest.Refusal, index int) {
		s := newStream(t)
		s.add(depth)
		s.refuse = at(index, false, r)
		require.ErrorIs(t, s.out.Post(), syscall.ENOMEM)
		n, err := s.out.Poll()
		require.NoError(t, err)
		require.Equal(t, index, n)
		received, err := s.receive()
		require.NoError(t, err)
		require.Len(t, received, index)
		require.NoError(t, s.in.Release(received...))

		s.add(depth)
		s.refuse = at(0, false, r)
		require.ErrorIs(t, s.out.Post(), syscall.ENOMEM)
		s.refuse = nil
		require.NoError(t, s.out.Post())
		require.NoError(t, s.out.Post())
		for s.arrived < s.added {
			time.Sleep(time.Millisecond) // a message that finds no receive comes again
			received, err := s.receive()
			require.NoError(t, err)
			require.NoError(t, s.in.Release(received...))
		}
		for s.out.Outstanding() > 0 {
			_, err := s.out.Poll()
			require.NoError(t, err)
		}
		require.EqualValues(t, depth+index, s.arrived)
	})
}

// Where it is not known how many sends were taken, none is posted twice, and the ring goes on behind them. In checked mode,
// it is one that nobody knows of.
func TestSendRingPostsNothingTwice(t *testing.T) {
	each(t, untold, func(t *testing.T, r ibvtest.Refusal, index int) {
		if index == depth-1 {
			return // the last place is for the one behind them
		}
		s := newStream(t)
		s.add(depth - 1)
		s.once, s.refuse = true, at(index, false, r)
		require.ErrorIs(t, s.out.Post(), ibv.ErrAcceptedUnknown)
		require.NoError(t, s.out.Post())
		_, err := s.out.Poll()
		require.NoError(t, err)
		s.add(1)
		require.NoError(t, s.out.Post())
		_, err = s.out.Poll()
		require.NoError(t, err)
		require.Zero(t, s.out.Outstanding())

		received := make([]rdma.Received, 2*depth)
		n, err := s.in.Poll(received)
		require.NoError(t, err)
		var messages []byte
		for _, m := range received[:n] {
			messages = append(messages, m.Data...)
		}
		require.True(t, slices.IsSorted(messages))
		require.GreaterOrEqual(t, n, index+1)
		require.NotContains(t, messages, byte(index), "it was refused")
		require.Equal(t, byte(depth-1), messages[n-1])
	})
}

// A post of buffers that is cut short goes on with the next one, and polls hand out meanwhile.
func TestRecvRingGoesOnAfterAShortPost(t *testing.T) {
	each(t, told, func(t *testing.T, r ibvtest.Refusal, index int) {
		s := newGivenBack(t)
		s.refuse = at(index, true, r)
		require.ErrorIs(t, s.in.Flush(), syscall.ENOMEM)
		require.EqualValues(t, depth+index, s.in.Posted())

		s.add(index)
		require.NoError(t, s.out.Post())
		s.refuse = at(0, true, r)
		received, err := s.receive()
		require.ErrorIs(t, err, syscall.ENOMEM)
		require.Len(t, received, index)
		require.NoError(t, s.in.Release(received...))
		s.refuse = nil
		require.NoError(t, s.in.Flush())
		require.EqualValues(t, 2*depth+index, s.in.Posted())
		_, err = s.out.Poll()
		require.NoError(t, err)
		s.add(depth)
		require.NoError(t, s.out.Post())
		received, err = s.receive()
		require.NoError(t, err)
		require.Len(t, received, depth)
	})
}

// Where it is not known how many buffers were taken, none is posted twice.
func TestRecvRingPostsNothingTwice(t *testing.T) {
	each(t, untold, func(t *testing.T, r ibvtest.Refusal, index int) {
		s := newGivenBack(t)
		s.once, s.refuse = true, at(index, true, r)
		require.ErrorIs(t, s.in.Flush(), ibv.ErrAcceptedUnknown)
		require.NoError(t, s.in.Flush())
		received, err := s.receive()
		require.NoError(t, err)
		require.Empty(t, received)

		// Those that were posted complete, and go on.
		if index > 0 {
			for range 3 {
				s.add(index)
				require.NoError(t, s.out.Post())
				received, err = s.receive()
				require.NoError(t, err)
				require.Len(t, received, index)
				_, err = s.out.Poll()
				require.NoError(t, err)
				require.NoError(t, s.in.Release(received...))
				require.NoError(t, s.in.Flush())
			}
		}
	})
}

// Whatever is refused, and however often, all messages arrive, in order and once.
func TestRingsNeverGetStuck(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { neverStuck(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func neverStuck(t *testing.T, random *rand.Rand) {
	s := newStream(t)
	s.refuse = func(bool) *ibvtest.Refusal {
		if random.IntN(4) == 0 {
			return &told[random.IntN(len(told))]
		}
		return nil
	}
	var out []rdma.Received
	for total := 0; total < 1000; {
		before := s.arrived
		s.add(random.IntN(depth + 1))
		if err := s.out.Post(); err != nil {
			require.ErrorIs(t, err, syscall.ENOMEM)
		}
		time.Sleep(time.Millisecond) // a message that finds no receive comes again
		received, err := s.receive()
		if err != nil {
			require.ErrorIs(t, err, syscall.ENOMEM)
		}
		total += int(s.arrived - before)
		out = append(out, received...)
		random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		n := random.IntN(len(out) + 1)
		require.NoError(t, s.in.Release(out[:n]...))
		out = out[n:]
		_, err = s.out.Poll()
		require.NoError(t, err)
	}
}
