package conformance

import (
	"context"
	"encoding/binary"
	"errors"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var ringScenarios = []Scenario{
	{"rings", "messages", "rdma.RecvRing, rdma.SendRing", ringMessages},
	{"rings", "of a shared receive queue", "rdma.NewSRQRecvRing", ringShared},
	{"rings", "datagrams", "rdma.RecvRing, rdma.SendRing.AddUD", ringDatagrams},
	{"rings", "writes and reads", "rdma.SendRing.AddRDMA", ringRDMA},
	{"rings", "inline data", "rdma.SendRing.AddInline", ringInline},
	{"rings", "full", "rdma.ErrRingFull", ringFull},
	{"rings", "credit", "rdma.SendRing.SetLimit, rdma.RecvRing.Posted", ringCredit},
	{"rings", "waiting", "rdma.RecvRing.Wait, rdma.SendRing.Wait", ringWaits},
	{"rings", "many on one completion queue", "rdma.Rings", ringsTogether},
	{"rings", "given back wrongly", "rdma.RecvRing.Release", ringRelease},
	{"rings", "a failure", "rdma.SendRing.Poll, rdma.RecvRing.Poll", ringFails},
	{"rings", "closed", "rdma.RecvRing.Close, rdma.ErrClosed", ringClosed},
}

// ringPair is a pair with rings: a sends, and b receives.
type ringPair struct {
	a, b *End
	out  *rdma.SendRing
	in   *rdma.RecvRing
}

const ringBuffers = 8

func newRings(t *T, typ ibv.QPType) *ringPair {
	r := &ringPair{}
	opts := rdma.QPOptions{Type: typ, Cap: ibv.QPCap{MaxSendWR: ringBuffers, MaxRecvWR: ringBuffers, MaxInlineData: 32}}
	optsB := opts
	opts.SendCQ, optsB.RecvCQ = t.CQ(64, rdma.CQOptions{}), t.CQ(64, rdma.CQOptions{})
	pair := pairOptions(opts, optsB)
	r.a, r.b = t.Unconnected(pair)
	var err error
	r.in, err = rdma.NewRecvRing(r.b.QP, rdma.RecvRingOptions{Buffers: ringBuffers, Size: 64})
	require.NoError(t, err)
	t.Connect(r.a, r.b, pair)
	r.out, err = rdma.NewSendRing(r.a.QP, rdma.SendRingOptions{Requests: ringBuffers})
	require.NoError(t, err)
	require.Equal(t, ringBuffers, r.in.Len())
	require.Equal(t, ringBuffers, r.out.Len())
	return r
}

// receive takes n messages, which it gives back after it has looked at them.
func (r *ringPair) receive(t *T, n int, look func(m *rdma.Received)) {
	into := make([]rdma.Received, n)
	for got := 0; got < n; {
		k, err := r.in.Wait(t.Context(), into[:n-got])
		require.NoError(t, err)
		for i := range into[:k] {
			require.NoError(t, into[i].WC.Err())
			look(&into[i])
		}
		require.NoError(t, r.in.Release(into[:k]...))
		got += k
	}
}

// done waits until a work request of the ring has completed, and all before it.
func done(t *T, ring *rdma.SendRing, wr *ibv.SendWR) {
	id := wr.WRID
	t.Until(func() bool {
		_, err := ring.Poll()
		require.NoError(t, err)
		return ring.Done(id)
	}, "a work request of the ring")
}

func ringMessages(t *T) {
	const messages = 10 * ringBuffers
	r := newRings(t, ibv.QPTRC)
	for sent := 0; sent < messages; sent += ringBuffers {
		var last *ibv.SendWR
		for i := range ringBuffers {
			binary.BigEndian.PutUint32(r.a.Slot(i, 8), uint32(sent+i))
			flags := ibv.SendFlags(0)
			if i == ringBuffers-1 {
				flags = ibv.SendSignaled
			}
			var err error
			last, err = r.out.Add(ibv.WRSend, flags, r.a.Memory.SGE(8*i, 8))
			require.NoError(t, err)
		}
		require.NoError(t, r.out.Post())
		next := sent
		r.receive(t, ringBuffers, func(m *rdma.Received) {
			require.Len(t, m.Data, 8)
			require.EqualValues(t, next, binary.BigEndian.Uint32(m.Data))
			next++
		})
		require.NoError(t, r.in.Flush())
		done(t, r.out, last)
		require.Zero(t, r.out.Outstanding())
	}
}

func ringShared(t *T) {
	t.Needs(SharedReceiveQueues)
	srq := srqOf(t, ringBuffers, rdma.SRQOptions{})
	shared := t.CQ(64, rdma.CQOptions{})
	ring, err := rdma.NewSRQRecvRing(srq, shared, rdma.RecvRingOptions{Buffers: ringBuffers, Size: 64})
	require.NoError(t, err)
	numbers := map[uint32]int{}
	for k := range 2 {
		a, b := pairOf(t, rdma.QPOptions{}, rdma.QPOptions{SRQ: srq, RecvCQ: shared})
		for i := range 2 * ringBuffers {
			Fill(a.Slot(0, 16), k*100+i)
			a.Post(sends(t, a.Memory, 1, 16))
			var into [1]rdma.Received
			_, err := ring.Wait(t.Context(), into[:])
			require.NoError(t, err)
			require.Equal(t, a.Slot(0, 16), into[0].Data)
			require.Equal(t, b.Number(), into[0].WC.QPNum)
			numbers[into[0].WC.QPNum]++
			require.NoError(t, ring.Release(into[0]))
			require.NoError(t, ring.Flush())
			t.Done(a.SendCQ, 1)
		}
	}
	require.Len(t, numbers, 2)
}

func ringDatagrams(t *T) {
	t.Needs(UD)
	r := newRings(t, ibv.QPTUD)
	ah, err := t.PD().CreateAH(ahTo(t))
	require.NoError(t, err)
	Fill(r.a.Slot(0, 64), 7)
	wr, err := r.out.AddUD(ibv.WRSend, ibv.SendSignaled, rdma.UDPeer{AH: ah, QPNum: r.b.Number(), QKey: rdma.DefaultQKey}, r.a.Memory.SGE(0, 64))
	require.NoError(t, err)
	require.NoError(t, r.out.Post())
	r.receive(t, 1, func(m *rdma.Received) {
		require.Equal(t, r.a.Slot(0, 64), m.Data, "without what stands before it")
		require.Equal(t, r.a.Number(), m.WC.SrcQP)
		require.Len(t, r.in.Header(&m.WC), 40)
	})
	done(t, r.out, wr)
}

func ringRDMA(t *T) {
	r := newRings(t, ibv.QPTRC)
	remote, err := r.b.Memory.Remote(4096, 256)
	require.NoError(t, err)
	Fill(r.a.Slot(0, 256), 8)
	_, err = r.out.AddRDMA(ibv.WRRDMAWrite, 0, remote, r.a.Memory.SGE(0, 256))
	require.NoError(t, err)
	part, err := remote.Slice(16, 64)
	require.NoError(t, err)
	wr, err := r.out.AddRDMA(ibv.WRRDMARead, ibv.SendSignaled, part, r.a.Memory.SGE(1024, 64))
	require.NoError(t, err)
	require.NoError(t, r.out.Post())
	done(t, r.out, wr)
	require.Equal(t, r.a.Slot(0, 256), r.b.Memory.Bytes()[4096:4352])
	require.Equal(t, r.a.Slot(0, 256)[16:80], r.a.Memory.Bytes()[1024:1088])
}

func ringInline(t *T) {
	r := newRings(t, ibv.QPTRC)
	data := []byte("inline data")
	wr, err := r.out.AddInline(ibv.WRSend, ibv.SendSignaled, data)
	require.NoError(t, err)
	clear(data)
	require.NoError(t, r.out.Post())
	r.receive(t, 1, func(m *rdma.Received) { require.Equal(t, "inline data", string(m.Data)) })
	done(t, r.out, wr)
	_, err = r.out.AddInline(ibv.WRSend, 0, make([]byte, 1<<20))
	require.ErrorIs(t, err, syscall.EINVAL)
}

func ringFull(t *T) {
	r := newRings(t, ibv.QPTRC)
	remote, err := r.b.Memory.Remote(0, 8)
	require.NoError(t, err)
	for i := range 5 * ringBuffers {
		_, err := r.out.AddRDMA(ibv.WRRDMAWrite, 0, remote, r.a.Memory.SGE(0, 8))
		if err == nil {
			continue
		}
		require.GreaterOrEqual(t, i, ringBuffers)
		require.ErrorIs(t, err, rdma.ErrRingFull)
		require.ErrorIs(t, err, syscall.EAGAIN)
		require.Equal(t, ringBuffers, r.out.Outstanding())
		require.NoError(t, r.out.Post())
		_, err = r.out.Wait(t.Context())
		require.NoError(t, err, "some of them tell")
	}
}

// A sender that keeps to what the receiver has posted never waits for a receive.
func ringCredit(t *T) {
	r := newRings(t, ibv.QPTRC)
	require.EqualValues(t, ringBuffers, r.in.Posted())
	r.out.SetLimit(2)
	for range 2 {
		_, err := r.out.Add(ibv.WRSend, ibv.SendSignaled, r.a.Memory.SGE(0, 8))
		require.NoError(t, err)
	}
	_, err := r.out.Add(ibv.WRSend, ibv.SendSignaled, r.a.Memory.SGE(0, 8))
	require.ErrorIs(t, err, rdma.ErrNoCredit)
	require.Zero(t, r.out.Credit())
	require.NoError(t, r.out.Post())
	r.receive(t, 2, func(*rdma.Received) {})
	require.EqualValues(t, ringBuffers, r.in.Posted(), "they are given back, and not posted yet")
	require.NoError(t, r.in.Flush())
	require.EqualValues(t, ringBuffers+2, r.in.Posted())
	r.out.SetLimit(r.in.Posted())
	require.EqualValues(t, ringBuffers, r.out.Credit())
	r.out.SetLimit(2)
	require.EqualValues(t, ringBuffers, r.out.Credit(), "limits are not taken back")
	wr, err := r.out.Add(ibv.WRSend, ibv.SendSignaled, r.a.Memory.SGE(0, 8))
	require.NoError(t, err)
	require.NoError(t, r.out.Post())
	r.receive(t, 1, func(*rdma.Received) {})
	done(t, r.out, wr)
}

func ringWaits(t *T) {
	r := newRings(t, ibv.QPTRC)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
	defer cancel()
	_, err := r.in.Wait(ctx, make([]rdma.Received, 1))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	waited := make(chan error, 1)
	go func() {
		var into [1]rdma.Received
		n, err := r.in.Wait(t.Context(), into[:])
		if err == nil && n != 1 {
			err = errors.New("a wait without an error has no message")
		}
		waited <- err
	}()
	_, err = r.out.Add(ibv.WRSend, ibv.SendSignaled, r.a.Memory.SGE(0, 8))
	require.NoError(t, err)
	require.NoError(t, r.out.Post())
	require.NoError(t, ended(t, waited))
	n, err := r.out.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// One completion queue serves all connections of a server.
func ringsTogether(t *T) {
	const clients = 3
	cq := t.CQ(128, rdma.CQOptions{})
	var all rdma.Rings[int]
	var ends []*End
	for k := range clients {
		opts := pairOptions(rdma.QPOptions{}, rdma.QPOptions{RecvCQ: cq, SendCQ: cq, Cap: caps(4, 4)})
		a, b := t.Unconnected(opts)
		in, err := rdma.NewRecvRing(b.QP, rdma.RecvRingOptions{Buffers: 4, Size: 64})
		require.NoError(t, err)
		t.Connect(a, b, opts)
		require.NoError(t, all.Add(in, k))
		ends = append(ends, a)
	}
	for round := range 3 {
		for k, a := range ends {
			Fill(a.Slot(0, 16), 10*k+round)
			a.Post(sends(t, a.Memory, 1, 16))
		}
		for range ends {
			wc := t.Done(cq, 1)[0]
			ring, k := all.Of(&wc)
			require.NotNil(t, ring)
			in, ok := ring.(*rdma.RecvRing)
			require.True(t, ok)
			m, own := in.Handle(&wc)
			require.True(t, own)
			require.Equal(t, ends[k].Slot(0, 16), m.Data)
			require.NoError(t, in.Release(m))
			require.NoError(t, in.Flush())
		}
		for _, a := range ends {
			t.Done(a.SendCQ, 1)
		}
	}
}

func ringRelease(t *T) {
	r := newRings(t, ibv.QPTRC)
	require.ErrorIs(t, r.in.Release(rdma.Received{}), syscall.EINVAL)
	wr, err := r.out.Add(ibv.WRSend, ibv.SendSignaled, r.a.Memory.SGE(0, 8))
	require.NoError(t, err)
	require.NoError(t, r.out.Post())
	var into [1]rdma.Received
	_, err = r.in.Wait(t.Context(), into[:])
	require.NoError(t, err)
	require.NoError(t, r.in.Release(into[0]))
	require.ErrorIs(t, r.in.Release(into[0]), syscall.EINVAL, "given back twice")
	done(t, r.out, wr)

	wr, err = r.out.Add(ibv.WRSend, ibv.SendSignaled, r.a.Memory.SGE(0, 8))
	require.NoError(t, err)
	require.NoError(t, r.out.Post())
	var wcs [1]ibv.WC
	t.Until(func() bool {
		n, err := r.in.PollWC(wcs[:])
		require.NoError(t, err)
		return n == 1
	}, "a message of the ring")
	require.NotNil(t, r.in.Data(&wcs[0]))
	require.NoError(t, r.in.ReleaseWC(wcs[0]))
	require.ErrorIs(t, r.in.ReleaseWC(wcs[0]), syscall.EINVAL, "given back twice")
	done(t, r.out, wr)
}

// When the queue pair fails, both rings tell of it, and of each buffer.
func ringFails(t *T) {
	r := newRings(t, ibv.QPTRC)
	require.NoError(t, r.b.ToErr())
	into := make([]rdma.Received, ringBuffers)
	for got := 0; got < ringBuffers; {
		n, err := r.in.Wait(t.Context(), into)
		require.NoError(t, err)
		for _, m := range into[:n] {
			require.Equal(t, ibv.WCWRFlushErr, m.WC.Status)
			var failure *ibv.CompletionError
			require.ErrorAs(t, m.WC.Err(), &failure)
			require.Equal(t, ibv.CompletionError{WRID: m.WC.WRID, Status: ibv.WCWRFlushErr, VendorErr: m.WC.VendorErr, QPNum: r.b.Number()}, *failure)
		}
		got += n
	}
}

func ringClosed(t *T) {
	r := newRings(t, ibv.QPTRC)
	require.Error(t, r.in.Close(), "the device may write to its buffers")
	require.NoError(t, r.out.Close())
	require.ErrorIs(t, r.out.Post(), rdma.ErrClosed)
	require.NoError(t, r.b.QP.Close())
	_, err := r.in.Poll(make([]rdma.Received, 1))
	require.ErrorIs(t, err, rdma.ErrClosed)
	require.NoError(t, r.in.Close())
}
