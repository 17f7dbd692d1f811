//go:build !freebsd

package conformance

import (
	"errors"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var extendedScenarios = []Scenario{
	{"extended cq", "what it tells of a message", "ibv_create_cq_ex(3)", extendedMessage},
	{"extended cq", "what it tells of immediate data", "ibv_create_cq_ex(3)", extendedImmediate},
	{"extended cq", "what it tells of a datagram", "ibv_create_cq_ex(3); IBTA 11.4.2.1", extendedDatagram},
	{"extended cq", "each kind of work", "ibv_create_cq_ex(3)", extendedOpcodes},
	{"extended cq", "a failure", "ibv_create_cq_ex(3)", extendedFailure},
	{"extended cq", "polled in pieces", "ibv_create_cq_ex(3)", extendedPieces},
	{"extended cq", "waited for", "rdma.CQ.WaitExtended", extendedWait},
	{"extended cq", "refused", "ibv_create_cq_ex(3)", extendedRefused},
	{"extended cq", "a plain queue is none", "rdma.CQ.PollExtended", extendedPlain},
	{"extended cq", "when it completed", "ibv_create_cq_ex(3), ibv_query_rt_values_ex(3)", extendedTimes},
}

// whatAllTell is the fields that every extended queue has.
const whatAllTell = ibv.WCFieldByteLen | ibv.WCFieldImm | ibv.WCFieldQPNum | ibv.WCFieldSrcQP | ibv.WCFieldSL | ibv.WCFieldOpcode | ibv.WCFieldWCFlags

func lacksExtendedCQs(t *T) string {
	return missing(t, "extended completion queues", func() error {
		cq, err := t.Device().CreateCQ(1, rdma.CQOptions{NoChannel: true, Fields: whatAllTell})
		return andClose(cq, err)
	})
}

func extendedCQ(t *T, entries int) *rdma.CQ {
	t.Needs(ExtendedCQs)
	return t.CQ(entries, rdma.CQOptions{Fields: whatAllTell})
}

// extendedPair is a pair with extended completion queues.
func extendedPair(t *T, typ ibv.QPType) (a, b *End) {
	return pairOf(t,
		rdma.QPOptions{Type: typ, SendCQ: extendedCQ(t, 32), RecvCQ: extendedCQ(t, 32)},
		rdma.QPOptions{SendCQ: extendedCQ(t, 32), RecvCQ: extendedCQ(t, 32)})
}

// pollExtended takes exactly n completions.
func pollExtended(t *T, cq *rdma.CQ, n int) []ibv.ExtendedWC {
	wcs := make([]ibv.ExtendedWC, n)
	got := 0
	t.Until(func() bool {
		k, err := cq.PollExtended(wcs[got:])
		require.NoError(t, err)
		got += k
		return got == n
	}, "%d completions", n)
	return wcs
}

// doneExtended is pollExtended for successes.
func doneExtended(t *T, cq *rdma.CQ, n int) []ibv.ExtendedWC {
	wcs := pollExtended(t, cq, n)
	for i := range wcs {
		require.NoError(t, wcs[i].Err())
	}
	return wcs
}

func quietExtended(t *T, cq *rdma.CQ) {
	wcs := make([]ibv.ExtendedWC, 2)
	for range 20 {
		n, err := cq.PollExtended(wcs)
		require.NoError(t, err)
		require.Zero(t, n, "a completion that nobody expects: %v", &wcs[0])
	}
}

func extendedMessage(t *T) {
	a, b := extendedPair(t, ibv.QPTRC)
	quietExtended(t, b.RecvCQ)
	b.Buffers(3, 64)
	a.Post(sends(t, a.Memory, 3, 40))
	for i, wc := range doneExtended(t, b.RecvCQ, 3) {
		require.EqualValues(t, i, wc.WRID)
		require.Equal(t, ibv.WCRecv, wc.Opcode())
		require.EqualValues(t, 40, wc.ByteLen())
		require.Equal(t, b.Number(), wc.QPNum())
		require.Zero(t, wc.WCFlags()&(ibv.WCWithImm|ibv.WCWithInv))
	}
	for i, wc := range doneExtended(t, a.SendCQ, 3) {
		require.EqualValues(t, i, wc.WRID)
		require.Equal(t, ibv.WCSend, wc.Opcode())
		require.Equal(t, a.Number(), wc.QPNum())
	}
	quietExtended(t, b.RecvCQ)
	quietExtended(t, a.SendCQ)
}

func extendedImmediate(t *T) {
	t.Needs(ImmediateData)
	a, b := extendedPair(t, ibv.QPTRC)
	b.Buffers(1, 64)
	chain := t.Sends(1, 1)
	require.NoError(t, chain.Set(0, 1, ibv.WRSendWithImm, ibv.SendSignaled, a.Memory.SGE(0, 8)))
	chain.WR(0).SetImmData(ibv.ToBE32(0x91929394))
	a.Post(chain)
	wc := doneExtended(t, b.RecvCQ, 1)[0]
	require.NotZero(t, wc.WCFlags()&ibv.WCWithImm)
	require.EqualValues(t, 0x91929394, wc.ImmData().Host())
	doneExtended(t, a.SendCQ, 1)
}

func extendedDatagram(t *T) {
	t.Needs(UD)
	a, b := extendedPair(t, ibv.QPTUD)
	b.Buffers(1, 256)
	a.Post(datagramsTo(t, a.Memory, 1, 64, b))
	doneExtended(t, a.SendCQ, 1)
	wc := doneExtended(t, b.RecvCQ, 1)[0]
	require.EqualValues(t, 40+64, wc.ByteLen())
	require.Equal(t, a.Number(), wc.SrcQP())
	require.Zero(t, wc.SL())
	if t.Port().LinkLayer == ibv.LinkLayerEthernet {
		require.NotZero(t, wc.WCFlags()&ibv.WCGRH)
	}
}

func extendedOpcodes(t *T) {
	a, b := extendedPair(t, ibv.QPTRC)
	b.Buffers(1, 64)
	chain := t.Sends(3, 1)
	remote := b.Memory.SGE(128, 8)
	require.NoError(t, chain.SetRDMA(0, 10, ibv.WRRDMAWrite, ibv.SendSignaled, a.Memory.SGE(0, 8), remote.Addr, b.Memory.RKey()))
	require.NoError(t, chain.SetRDMA(1, 11, ibv.WRRDMARead, ibv.SendSignaled, a.Memory.SGE(64, 8), remote.Addr, b.Memory.RKey()))
	require.NoError(t, chain.Set(2, 12, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8)))
	Fill(a.Slot(0, 8), 1)
	a.Post(chain)
	for i, wc := range doneExtended(t, a.SendCQ, 3) {
		require.EqualValues(t, 10+i, wc.WRID)
		require.Equal(t, []ibv.WCOpcode{ibv.WCRDMAWrite, ibv.WCRDMARead, ibv.WCSend}[i], wc.Opcode())
	}
	require.Equal(t, a.Slot(0, 8), a.Memory.Bytes()[64:72])
	doneExtended(t, b.RecvCQ, 1)
}

func extendedFailure(t *T) {
	a, b := extendedPair(t, ibv.QPTRC)
	b.Buffers(2, 64)
	require.NoError(t, b.ToErr())
	for i, wc := range pollExtended(t, b.RecvCQ, 2) {
		require.EqualValues(t, i, wc.WRID)
		require.Equal(t, ibv.WCWRFlushErr, wc.Status)
		require.Error(t, wc.Err())
	}
	quietExtended(t, a.RecvCQ)
}

func extendedPieces(t *T) {
	const n = 9
	a, b := extendedPair(t, ibv.QPTRC)
	b.Buffers(n, 64)
	a.Post(sends(t, a.Memory, n, 8))
	doneExtended(t, a.SendCQ, n)
	none, err := b.RecvCQ.PollExtended(nil)
	require.NoError(t, err)
	require.Zero(t, none)
	var got []uint64
	for room := 1; len(got) < n; room++ {
		for _, wc := range doneExtended(t, b.RecvCQ, min(room, n-len(got))) {
			got = append(got, wc.WRID)
		}
	}
	require.Equal(t, upTo(n), got)
	quietExtended(t, b.RecvCQ)
}

func extendedWait(t *T) {
	a, b := extendedPair(t, ibv.QPTRC)
	b.Buffers(2, 64)
	for i := range 2 {
		type result struct {
			n   int
			wc  ibv.ExtendedWC
			err error
		}
		done := make(chan result, 1)
		go func() {
			var r result
			wcs := make([]ibv.ExtendedWC, 1)
			r.n, r.err = b.RecvCQ.WaitExtended(t.Context(), wcs)
			r.wc = wcs[0]
			done <- r
		}()
		a.Post(sends(t, a.Memory, 1, 8))
		r := <-done
		require.NoError(t, r.err)
		require.Equal(t, 1, r.n)
		require.EqualValues(t, i, r.wc.WRID)
		require.EqualValues(t, 8, r.wc.ByteLen())
	}
	doneExtended(t, a.SendCQ, 2)
}

func extendedRefused(t *T) {
	t.Needs(ExtendedCQs)
	ctx := t.Device().Raw()
	good := ibv.CQInitAttrEx{CQE: 4, WCFlags: uint64(ibv.WCExWithByteLen)}
	attr := good
	cq, err := ctx.CreateCQEx(&attr)
	require.NoError(t, err)
	require.GreaterOrEqual(t, cq.CQ().CQE, int32(4))
	require.NoError(t, cq.Close())
	for what, spoil := range map[string]func(*ibv.CQInitAttrEx){
		"no entries":                 func(a *ibv.CQInitAttrEx) { a.CQE = 0 },
		"more entries than MaxCQE":   func(a *ibv.CQInitAttrEx) { a.CQE = uint32(t.Attr().MaxCQE) + 1 },
		"a vector that there is not": func(a *ibv.CQInitAttrEx) { a.CompVector = uint32(ctx.NumCompVectors) },
		"a field that nobody knows":  func(a *ibv.CQInitAttrEx) { a.WCFlags |= 1 << 40 },
		"a member that nobody knows": func(a *ibv.CQInitAttrEx) { a.CompMask |= 1 << 30 },
	} {
		attr := good
		spoil(&attr)
		cq, err := ctx.CreateCQEx(&attr)
		if err == nil {
			require.NoError(t, cq.Close())
		}
		require.Error(t, err, what)
	}
	_, err = ctx.CreateCQEx(nil)
	require.ErrorIs(t, err, syscall.EINVAL)
}

func extendedPlain(t *T) {
	cq := t.CQ(4, rdma.CQOptions{})
	_, err := cq.PollExtended(make([]ibv.ExtendedWC, 1))
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = cq.WaitExtended(t.Context(), make([]ibv.ExtendedWC, 1))
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

func lacksTimestamps(t *T) string {
	return missing(t, "completions with timestamps", func() error {
		cq, err := t.Device().CreateCQ(1, rdma.CQOptions{NoChannel: true, Fields: ibv.WCFieldCompletionTS})
		return andClose(cq, err)
	})
}

// Timestamps come in the order of completions.
func extendedTimes(t *T) {
	t.Needs(Timestamps)
	cq := t.CQ(16, rdma.CQOptions{Fields: ibv.WCFieldCompletionTS | ibv.WCFieldByteLen})
	a, b := pairOf(t, rdma.QPOptions{}, rdma.QPOptions{RecvCQ: cq})
	b.Buffers(4, 64)
	a.Post(sends(t, a.Memory, 4, 8))
	last := uint64(0)
	for _, wc := range doneExtended(t, cq, 4) {
		require.GreaterOrEqual(t, wc.CompletionTS(), last)
		last = wc.CompletionTS()
	}
	require.NotZero(t, last)
}
