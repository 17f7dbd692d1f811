package conformance

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// objects is the scenarios of all that is made besides queue pairs.
var objects = slices.Concat(
	cqScenarios, newerScenarios, notifyScenarios, srqScenarios, regionScenarios, windowScenarios, addressScenarios, xrcScenarios,
	queryScenarios, closingScenarios, connectScenarios, ringScenarios, eventScenarios,
)

// caps is room for so many sends and receives, of four entries each.
func caps(sends, recvs uint32) ibv.QPCap {
	return ibv.QPCap{MaxSendWR: sends, MaxRecvWR: recvs, MaxSendSGE: 4, MaxRecvSGE: 4}
}

// upTo is the numbers below n.
func upTo(n int) (all []uint64) {
	for i := range n {
		all = append(all, uint64(i))
	}
	return all
}

// pairOf is a pair whose ends are made each with options of its own. Of a's, the type
// counts for both.
func pairOf(t *T, a, b rdma.QPOptions) (*End, *End) {
	return t.Pair(pairOptions(a, b))
}

func pairOptions(a, b rdma.QPOptions) PairOptions {
	return PairOptions{Type: a.Type, Access: a.Access, Make: func(end int, opts *rdma.QPOptions) {
		own := [2]rdma.QPOptions{a, b}[end]
		opts.SendCQ, opts.RecvCQ, opts.SRQ, opts.SendOps, opts.SignalAll = own.SendCQ, own.RecvCQ, own.SRQ, own.SendOps, own.SignalAll
		opts.Cap.MaxSendWR = cmp.Or(own.Cap.MaxSendWR, opts.Cap.MaxSendWR)
		opts.Cap.MaxRecvWR = cmp.Or(own.Cap.MaxRecvWR, opts.Cap.MaxRecvWR)
		opts.Cap.MaxInlineData = own.Cap.MaxInlineData
	}}
}

// recvs is n receives of size bytes, one behind the other in the region, and from its
// start again where it ends.
func recvs(t *T, into *rdma.Region, n, size int) *ibv.RecvChain {
	chain := t.Recvs(n, 1)
	for i := range n {
		require.NoError(t, chain.SetSGE(i, uint64(i), into.SGE(around(i, size, into.Len()), size)))
	}
	return chain
}

// sends is n signalled sends of size bytes, from where recvs would receive them.
func sends(t *T, from *rdma.Region, n, size int) *ibv.SendChain {
	chain := t.Sends(n, 1)
	for i := range n {
		require.NoError(t, chain.SetSGE(i, uint64(i), ibv.WRSend, ibv.SendSignaled, from.SGE(around(i, size, from.Len()), size)))
	}
	return chain
}

// datagramsTo is sends to a UD queue pair of the same device.
func datagramsTo(t *T, from *rdma.Region, n, size int, to *End) *ibv.SendChain {
	ah, err := t.PD().CreateAH(rdma.AHOptions{GID: t.GID().GID, LID: t.Port().LID, From: t.GID()})
	require.NoError(t, err)
	chain := sends(t, from, n, size)
	for i := range n {
		sge := chain.SGEs(i)[0]
		require.NoError(t, chain.SetUD(i, uint64(i), ibv.WRSend, ibv.SendSignaled, sge, ah.Raw(), to.Number(), rdma.DefaultQKey))
	}
	return chain
}

// around is where slot i is of as many as there is room for.
func around(i, size, room int) int { return i % max(1, room/max(1, size)) * size }

// writeChain is a signalled RDMA write of the first bytes of a region.
func writeChain(t *T, from *rdma.Region, size int, addr uint64, rkey uint32) *ibv.SendChain {
	chain := t.Sends(1, 1)
	require.NoError(t, chain.SetRDMA(0, 1, ibv.WRRDMAWrite, ibv.SendSignaled, from.SGE(0, size), addr, rkey))
	return chain
}

// writes requires that b accepts a write of the first bytes of a's memory. A message
// behind it tells that it is there.
func writes(t *T, a, b *End, size int, addr uint64, rkey uint32) {
	b.Expect(recvs(t, b.Memory, 1, 8))
	a.Post(writeChain(t, a.Memory, size, addr, rkey))
	a.Post(sends(t, a.Memory, 1, 8))
	require.Equal(t, ibv.WCRDMAWrite, t.Done(a.SendCQ, 2)[0].Opcode)
	t.Done(b.RecvCQ, 1)
}

// refused requires that b refuses a write of the first bytes of a's memory, and that
// nothing of it is written. The pair is in the error state afterwards.
func refused(t *T, a, b *End, size int, addr uint64, rkey uint32, into []byte) {
	before := append([]byte(nil), into...)
	b.Expect(recvs(t, b.Memory, 1, 8))
	a.Post(writeChain(t, a.Memory, size, addr, rkey))
	if t.Differs(RemoteErrors) {
		require.Error(t, t.Poll(b.RecvCQ, 1)[0].Err())
	} else {
		require.Equal(t, ibv.WCRemAccessErr, t.Poll(a.SendCQ, 1)[0].Status)
	}
	require.Equal(t, before, into, "nothing of it is written")
}

func postRecvs(t *T, qp *rdma.QP, chain *ibv.RecvChain) {
	accepted, err := qp.PostRecv(chain)
	require.NoError(t, err)
	require.Equal(t, chain.Len(), accepted)
}

func postSends(t *T, qp *rdma.QP, chain *ibv.SendChain) {
	accepted, err := qp.PostSend(chain)
	require.NoError(t, err)
	require.Equal(t, chain.Len(), accepted)
}

// flushes is a queue pair whose receives complete without a peer, as flushed.
type flushes struct {
	t    *T
	cq   *rdma.CQ
	qp   *rdma.QP
	room int
}

// newFlushes is a queue pair with room for n receives that complete on the queue, or on
// one of its own.
func newFlushes(t *T, n int, cq *rdma.CQ) *flushes {
	if cq == nil {
		cq = t.CQ(n, rdma.CQOptions{})
	}
	qp, err := t.PD().CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: caps(1, uint32(n))})
	require.NoError(t, err)
	return &flushes{t, cq, qp, n}
}

// flush has n receives complete. It is called once.
func (f *flushes) flush(n int) {
	require.LessOrEqual(f.t, n, f.room)
	postRecvs(f.t, f.qp, recvs(f.t, f.t.Region(8, 0), n, 8))
	require.NoError(f.t, f.qp.ToErr())
}

// channelOf is C's completion channel, which does not block.
func channelOf(t *T) *ibv.CompChannel {
	channel, err := t.Device().Raw().CreateCompChannel()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, channel.Close()) })
	require.NoError(t, channel.SetNonblock(true))
	return channel
}

// rawCQ is C's completion queue on the channel, and a handle of it for the rig.
func rawCQ(t *T, channel *ibv.CompChannel, entries int, cqContext uintptr) (*ibv.CQ, *rdma.CQ) {
	raw, err := t.Device().Raw().CreateCQWithChannel(entries, cqContext, channel, 0)
	require.NoError(t, err)
	cq, err := t.Device().AdoptCQ(raw, rdma.CQOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, cq.CloseAll())
		require.NoError(t, raw.Close())
	})
	return raw, cq
}

// awaitCQEvent takes the next event of a channel.
func awaitCQEvent(t *T, channel *ibv.CompChannel) (cq *ibv.CQ, cqContext uintptr) {
	t.Until(func() bool {
		var err error
		cq, cqContext, err = channel.GetCQEvent()
		if !errors.Is(err, syscall.EAGAIN) {
			require.NoError(t, err)
		}
		return err == nil
	}, "an event of the channel")
	return cq, cqContext
}

// noCQEvent requires that a channel has no event.
func noCQEvent(t *T, channel *ibv.CompChannel, why string) {
	for range 20 {
		_, _, err := channel.GetCQEvent()
		require.ErrorIs(t, err, syscall.EAGAIN, why)
		runtime.Gosched()
	}
}

// awaitEvent takes the next asynchronous event of a type, past others.
func awaitEvent(t *T, typ ibv.EventType) rdma.Event {
	for event, err := range t.Device().Events(t.Context()) {
		require.NoError(t, err, "waiting for %v", typ)
		if event.Type == typ {
			return event
		}
	}
	panic("a loop of events ends with an error")
}

// noEvent requires that no asynchronous event of a type comes.
func noEvent(t *T, typ ibv.EventType) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
	defer cancel()
	for event, err := range t.Device().Events(ctx) {
		if err != nil {
			require.ErrorIs(t, err, context.DeadlineExceeded)
			return
		}
		require.NotEqual(t, typ, event.Type, "%v", event)
	}
}

// noKey is a key that is no region's, where key is one.
func noKey(key uint32) uint32 { return key ^ 0x5a5a00 }

// unsupported says that the error is that there is no such thing.
func unsupported(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
