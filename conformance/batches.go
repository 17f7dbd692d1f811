//go:build !freebsd

package conformance

import (
	"encoding/binary"
	"errors"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var batchScenarios = []Scenario{
	{"batch", "sends", "ibv_wr_post(3)", batchSends},
	{"batch", "a list of entries", "ibv_wr_post(3)", batchList},
	{"batch", "inline data", "ibv_wr_post(3)", batchInline},
	{"batch", "immediate data", "ibv_wr_post(3)", batchImmediate},
	{"batch", "writes and reads", "ibv_wr_post(3)", batchRDMA},
	{"batch", "atomic operations", "ibv_wr_post(3); IBTA 9.4.5", batchAtomics},
	{"batch", "datagrams", "ibv_wr_post(3)", batchDatagrams},
	{"batch", "windows", "ibv_wr_post(3)", batchWindow},
	{"batch", "in the order of the queue", "ibv_wr_post(3); IBTA 10.8.3", batchOrder},
	{"batch", "parts of it", "rdma.QP.PostBatchRange", batchParts},
	{"batch", "too much for the queue is refused as a whole", "ibv_wr_post(3)", batchFull},
	{"batch", "operations that were not asked for", "ibv_create_qp_ex(3)", batchNotAskedFor},
	{"batch", "a queue pair without batches", "ibv_qp_to_qp_ex, ibv_create_qp_ex(3)", batchNone},
	{"batch", "operations that the type does not have", "ibv_create_qp_ex(3)", batchRefused},
	{"batch", "in the error state", "ibv_wr_post(3); IBTA 10.3.1.7", batchInError},
}

const (
	batchSendOps = ibv.QPExWithSend | ibv.QPExWithSendWithImm
	batchRDMAOps = ibv.QPExWithRDMAWrite | ibv.QPExWithRDMAWriteWithImm | ibv.QPExWithRDMARead
	batchAtomOps = ibv.QPExWithAtomicCmpAndSwp | ibv.QPExWithAtomicFetchAndAdd
	batchKeyOps  = ibv.QPExWithLocalInv | ibv.QPExWithBindMW | ibv.QPExWithSendWithInv
)

func lacksBatches(t *T) string {
	cq := t.CQ(4, rdma.CQOptions{NoChannel: true})
	return missing(t, "queue pairs that take batches", func() error {
		qp, err := t.PD().CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: caps(1, 1), SendOps: ibv.QPExWithSend})
		return andClose(qp, err)
	})
}

// batchPair is a pair that takes batches, of which a has one of n.
func batchPair(t *T, typ ibv.QPType, ops ibv.QPCreateSendOpsFlags, n int) (a, b *End, batch *ibv.Batch) {
	t.Needs(Batches)
	opts := rdma.QPOptions{Type: typ, SendOps: ops, Cap: ibv.QPCap{MaxSendWR: 16, MaxInlineData: 64}}
	a, b = pairOf(t, opts, opts)
	batch, err := a.NewBatch(n, 4)
	require.NoError(t, err)
	require.Equal(t, n, batch.Len())
	return a, b, batch
}

// postBatch posts all of it, which is accepted.
func postBatch(t *T, e *End, batch *ibv.Batch) {
	accepted, err := e.PostBatch(batch)
	require.NoError(t, err)
	require.Equal(t, batch.Len(), accepted)
}

func batchSends(t *T) {
	a, b, batch := batchPair(t, ibv.QPTRC, batchSendOps, 3)
	Fill(a.Slot(0, 64), 1)
	b.Buffers(3, 64)
	for i := range 3 {
		require.NoError(t, batch.Send(i, uint64(10+i), ibv.SendSignaled))
		require.NoError(t, batch.SetSGE(i, a.Memory.SGE(i, 40+i)))
	}
	postBatch(t, a, batch)
	for i, wc := range t.Done(b.RecvCQ, 3) {
		require.EqualValues(t, 40+i, wc.ByteLen)
		require.Equal(t, a.Memory.Bytes()[i:i+40+i], b.Slot(i, 64)[:40+i])
	}
	for i, wc := range t.Done(a.SendCQ, 3) {
		require.EqualValues(t, 10+i, wc.WRID)
		require.Equal(t, ibv.WCSend, wc.Opcode)
	}
	// Once more, as it is.
	b.Buffers(3, 64)
	postBatch(t, a, batch)
	t.Done(b.RecvCQ, 3)
	t.Done(a.SendCQ, 3)
}

func batchList(t *T) {
	a, b, batch := batchPair(t, ibv.QPTRC, batchSendOps, 1)
	Fill(a.Slot(0, 64), 2)
	b.Buffers(1, 64)
	require.NoError(t, batch.Send(0, 1, ibv.SendSignaled))
	err := batch.SetSGEs(0, a.Memory.SGE(32, 20), a.Memory.SGE(0, 10), a.Memory.SGE(10, 5))
	if t.Differs(BatchLists) {
		require.ErrorIs(t, err, errors.ErrUnsupported)
		return
	}
	require.NoError(t, err)
	postBatch(t, a, batch)
	require.EqualValues(t, 35, t.Done(b.RecvCQ, 1)[0].ByteLen)
	want := append(append([]byte(nil), a.Memory.Bytes()[32:52]...), a.Memory.Bytes()[:15]...)
	require.Equal(t, want, b.Slot(0, 64)[:35])
	t.Done(a.SendCQ, 1)
}

func batchInline(t *T) {
	a, b, batch := batchPair(t, ibv.QPTRC, batchSendOps|batchRDMAOps, 2)
	b.Buffers(1, 64)
	data := []byte("inline data")
	require.NoError(t, batch.Send(0, 1, ibv.SendSignaled))
	require.NoError(t, batch.SetInline(0, data))
	require.NoError(t, batch.RDMAWrite(1, 2, ibv.SendSignaled, b.Memory.SGE(128, 0).Addr, b.Memory.RKey()))
	require.NoError(t, batch.SetInline(1, []byte("written")))
	postBatch(t, a, batch)
	clear(data)
	t.Done(a.SendCQ, 2)
	require.EqualValues(t, 11, t.Done(b.RecvCQ, 1)[0].ByteLen)
	require.Equal(t, "inline data\x00", string(b.Slot(0, 64)[:12]))
	require.Equal(t, "written\x00", string(b.Memory.Bytes()[128:136]))
}

func batchImmediate(t *T) {
	t.Needs(ImmediateData)
	a, b, batch := batchPair(t, ibv.QPTRC, batchSendOps|batchRDMAOps, 2)
	b.Buffers(2, 64)
	require.NoError(t, batch.SendImm(0, 1, ibv.SendSignaled, ibv.ToBE32(0x01020304)))
	require.NoError(t, batch.SetSGE(0, a.Memory.SGE(0, 8)))
	require.NoError(t, batch.RDMAWriteImm(1, 2, ibv.SendSignaled, b.Memory.SGE(256, 0).Addr, b.Memory.RKey(), ibv.ToBE32(0x85868788)))
	require.NoError(t, batch.SetSGE(1, a.Memory.SGE(0, 16)))
	Fill(a.Slot(0, 16), 1)
	postBatch(t, a, batch)
	wcs := t.Done(b.RecvCQ, 2)
	require.Equal(t, ibv.WCRecv, wcs[0].Opcode)
	require.EqualValues(t, 0x01020304, wcs[0].ImmData().Host())
	require.Equal(t, ibv.WCRecvRDMAWithImm, wcs[1].Opcode)
	require.EqualValues(t, 0x85868788, wcs[1].ImmData().Host())
	require.EqualValues(t, 16, wcs[1].ByteLen)
	require.Equal(t, a.Slot(0, 16), b.Memory.Bytes()[256:272])
	t.Done(a.SendCQ, 2)
}

func batchRDMA(t *T) {
	a, b, batch := batchPair(t, ibv.QPTRC, batchRDMAOps, 2)
	Fill(a.Slot(0, 512), 6)
	remote := b.Memory.SGE(1024, 0).Addr
	require.NoError(t, batch.RDMAWrite(0, 20, ibv.SendSignaled, remote, b.Memory.RKey()))
	require.NoError(t, batch.SetSGE(0, a.Memory.SGE(0, 512)))
	require.NoError(t, batch.RDMARead(1, 21, ibv.SendSignaled, remote+8, b.Memory.RKey()))
	require.NoError(t, batch.SetSGE(1, a.Memory.SGE(512, 256)))
	postBatch(t, a, batch)
	wcs := t.Done(a.SendCQ, 2)
	require.Equal(t, ibv.WCRDMAWrite, wcs[0].Opcode)
	require.Equal(t, ibv.WCRDMARead, wcs[1].Opcode)
	require.Equal(t, a.Slot(0, 512), b.Memory.Bytes()[1024:1536])
	require.Equal(t, a.Memory.Bytes()[8:264], a.Memory.Bytes()[512:768])
}

func batchAtomics(t *T) {
	t.Needs(Atomics)
	a, b, batch := batchPair(t, ibv.QPTRC, batchAtomOps, 3)
	word := b.Memory.Bytes()[64:72]
	binary.NativeEndian.PutUint64(word, 1000)
	remote, rkey := b.Memory.SGE(64, 8).Addr, b.Memory.RKey()
	require.NoError(t, batch.AtomicFetchAdd(0, 1, ibv.SendSignaled, remote, rkey, 1<<40))
	require.NoError(t, batch.AtomicCmpSwp(1, 2, ibv.SendSignaled, remote, rkey, 1<<40+1000, 77))
	require.NoError(t, batch.AtomicCmpSwp(2, 3, ibv.SendSignaled, remote, rkey, 1, 2)) // finds something else
	for i := range 3 {
		require.NoError(t, batch.SetSGE(i, a.Memory.SGE(8*i, 8)))
	}
	postBatch(t, a, batch)
	for i, wc := range t.Done(a.SendCQ, 3) {
		require.Equal(t, []ibv.WCOpcode{ibv.WCFetchAdd, ibv.WCCompSwap, ibv.WCCompSwap}[i], wc.Opcode)
		require.Equal(t, []uint64{1000, 1<<40 + 1000, 77}[i], binary.NativeEndian.Uint64(a.Memory.Bytes()[8*i:]))
	}
	require.EqualValues(t, 77, binary.NativeEndian.Uint64(word))
}

func batchDatagrams(t *T) {
	t.Needs(UD)
	a, b, batch := batchPair(t, ibv.QPTUD, batchSendOps, 2)
	ah, err := t.PD().CreateAH(ahTo(t))
	require.NoError(t, err)
	b.Buffers(2, 256)
	Fill(a.Slot(0, 128), 1)
	require.NoError(t, batch.Send(0, 1, ibv.SendSignaled))
	require.NoError(t, batch.SendImm(1, 2, ibv.SendSignaled, ibv.ToBE32(5)))
	for i := range 2 {
		require.NoError(t, batch.SetSGE(i, a.Memory.SGE(64*i, 64)))
		require.NoError(t, batch.SetUD(i, ah.Raw(), b.Number(), rdma.DefaultQKey))
	}
	postBatch(t, a, batch)
	t.Done(a.SendCQ, 2)
	for i, wc := range t.Done(b.RecvCQ, 2) {
		require.EqualValues(t, 104, wc.ByteLen)
		require.Equal(t, a.Number(), wc.SrcQP)
		require.Equal(t, i == 1, wc.WCFlags&ibv.WCWithImm != 0)
		require.Equal(t, a.Slot(i, 64), b.Slot(i, 256)[40:104])
	}
}

func batchWindow(t *T) {
	t.Needs(Windows2)
	a, b, batch := batchPair(t, ibv.QPTRC, batchSendOps|batchKeyOps, 1)
	window, err := t.PD().AllocWindow(ibv.MWType2)
	require.NoError(t, err)
	region := bindable(t, 256)
	rkey := ibv.IncRKey(window.RKey())
	require.NoError(t, batch.BindMW(0, 5, ibv.SendSignaled, window.Raw(), rkey, &ibv.MWBindInfo{
		MR: ibv.ToPtr(region.Raw()), Addr: region.SGE(0, 0).Addr, Length: 64, MWAccessFlags: ibv.AccessRemoteWrite,
	}))
	postBatch(t, a, batch)
	require.Equal(t, ibv.WCBindMW, t.Done(a.SendCQ, 1)[0].Opcode)
	Fill(b.Slot(0, 64), 9)
	writes(t, b, a, 64, region.SGE(0, 0).Addr, rkey)
	require.Equal(t, b.Slot(0, 64), region.Bytes()[:64])
	require.NoError(t, batch.LocalInv(0, 6, ibv.SendSignaled, rkey))
	postBatch(t, a, batch)
	require.Equal(t, ibv.WCLocalInv, t.Done(a.SendCQ, 1)[0].Opcode)
	Fill(b.Slot(0, 64), 10)
	refused(t, b, a, 8, region.SGE(0, 0).Addr, rkey, region.Bytes())
	require.NoError(t, window.Close())
}

// Batches and posts of work requests go to one queue.
func batchOrder(t *T) {
	a, b, batch := batchPair(t, ibv.QPTRC, batchSendOps, 2)
	b.Buffers(6, 64)
	for i := range 2 {
		require.NoError(t, batch.Send(i, uint64(100+i), ibv.SendSignaled))
		require.NoError(t, batch.SetSGE(i, a.Memory.SGE(0, 20+i)))
	}
	postBatch(t, a, batch)
	a.Post(sends(t, a.Memory, 2, 30))
	postBatch(t, a, batch)
	for i, wc := range t.Done(a.SendCQ, 6) {
		require.EqualValues(t, []int{100, 101, 0, 1, 100, 101}[i], wc.WRID)
	}
	for i, wc := range t.Done(b.RecvCQ, 6) {
		require.EqualValues(t, []int{20, 21, 30, 30, 20, 21}[i], wc.ByteLen)
	}
}

func batchParts(t *T) {
	a, b, batch := batchPair(t, ibv.QPTRC, batchSendOps, 4)
	b.Buffers(4, 64)
	for i := range 4 {
		require.NoError(t, batch.Send(i, uint64(i), ibv.SendSignaled))
		require.NoError(t, batch.SetSGE(i, a.Memory.SGE(0, 8)))
	}
	for _, part := range [][2]int{{2, 3}, {0, 2}, {3, 3}, {3, 4}} {
		accepted, err := a.PostBatchRange(batch, part[0], part[1])
		require.NoError(t, err)
		require.Equal(t, part[1]-part[0], accepted)
	}
	for i, wc := range t.Done(a.SendCQ, 4) {
		require.EqualValues(t, []int{2, 0, 1, 3}[i], wc.WRID)
	}
	t.Done(b.RecvCQ, 4)
	accepted, err := a.PostBatchRange(batch, 3, 5)
	require.Error(t, err, "there is no work request 4")
	require.Zero(t, accepted)
}

func batchFull(t *T) {
	const n = 200
	a, b, batch := batchPair(t, ibv.QPTRC, batchSendOps, n)
	b.Buffers(1, 64)
	for i := range n {
		require.NoError(t, batch.Send(i, uint64(i), ibv.SendSignaled))
		require.NoError(t, batch.SetSGE(i, a.Memory.SGE(0, 8)))
	}
	accepted, err := a.PostBatch(batch)
	require.True(t, errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.ENOSPC), "%v", err)
	require.Zero(t, accepted)
	t.Quiet(a.SendCQ)
	accepted, err = a.PostBatchRange(batch, 0, 1)
	require.NoError(t, err, "and the queue is as it was")
	require.Equal(t, 1, accepted)
	require.Zero(t, t.Done(a.SendCQ, 1)[0].WRID)
	t.Done(b.RecvCQ, 1)
}

func batchNotAskedFor(t *T) {
	_, b, batch := batchPair(t, ibv.QPTRC, ibv.QPExWithSend, 1)
	require.ErrorIs(t, batch.RDMAWrite(0, 1, 0, b.Memory.SGE(0, 0).Addr, b.Memory.RKey()), syscall.EINVAL)
}

func batchNone(t *T) {
	cq := t.CQ(4, rdma.CQOptions{})
	qp, err := t.PD().CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: caps(1, 1)})
	require.NoError(t, err)
	_, err = qp.NewBatch(1, 1)
	require.Error(t, err)
}

func batchRefused(t *T) {
	t.Needs(Batches, UD)
	cq := t.CQ(4, rdma.CQOptions{})
	_, err := t.PD().CreateQP(rdma.QPOptions{Type: ibv.QPTUD, SendCQ: cq, RecvCQ: cq, Cap: caps(1, 1), SendOps: ibv.QPExWithRDMARead})
	require.Error(t, err, "datagrams do not read")
	_, err = t.PD().CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: caps(1, 1), SendOps: 1 << 30})
	require.Error(t, err, "an operation that nobody knows")
}

func batchInError(t *T) {
	a, _, batch := batchPair(t, ibv.QPTRC, batchSendOps, 1)
	require.NoError(t, batch.Send(0, 4, ibv.SendSignaled))
	require.NoError(t, batch.SetSGE(0, a.Memory.SGE(0, 8)))
	require.NoError(t, a.ToErr())
	accepted, err := a.PostBatch(batch)
	if err != nil { // which a device may see at once
		require.Zero(t, accepted)
		return
	}
	require.NoError(t, a.ToErr(), "rxe looks again when it is told")
	wc := t.Poll(a.SendCQ, 1)[0]
	require.EqualValues(t, 4, wc.WRID)
	require.Equal(t, ibv.WCWRFlushErr, wc.Status)
}
