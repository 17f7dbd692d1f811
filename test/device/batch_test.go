//go:build device && linux

package device

import (
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// batchRig is two connected sides, and memory with room for windows and atomics.
type batchRig struct {
	*rig
	ops           ibv.QPCreateSendOpsFlags
	a, b          extendedSide
	local, remote *ibv.MR
	batch         *ibv.Batch
	recvs         *ibv.RecvChain // into slots 4 to 7 of remote
}

const batchAccess = access | ibv.AccessRemoteAtomic | ibv.AccessMWBind

func newBatchRig(t *testing.T, n int) *batchRig {
	t.Helper()
	r := &batchRig{rig: newRig(t), ops: rxeOps(t)}
	r.a, r.b = r.extendedSide(ibv.QPTRC, r.ops, uint32(n), 4), r.extendedSide(ibv.QPTRC, r.ops, uint32(n), 4)
	r.connectFor(&r.a.QPBase, &r.b.QPBase, batchAccess)
	r.local, r.remote = r.windowed(8), r.windowed(8)
	var err error
	r.batch, err = ibv.NewBatch(r.a.QPEx, r.ops, n, 4)
	require.NoError(t, err)
	r.recvs, err = ibv.NewRecvChain(4, 1)
	require.NoError(t, err)
	for i := range 4 {
		require.NoError(t, r.recvs.SetSGE(i, uint64(100+i), r.remote.SGE((4+i)*slot, slot)))
	}
	return r
}

// windowed is memory that windows can be bound to.
func (r *rig) windowed(n int) *ibv.MR {
	r.t.Helper()
	buf, err := ibv.AllocBuffer(n * slot)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, buf.Free()) })
	mr, err := r.pd.RegMR(buf, batchAccess)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, mr.Close()) })
	return mr
}

// window is a memory window of type 2.
func (r *rig) window() *ibv.MW {
	r.t.Helper()
	guest.Needs(r.t, guest.Windows)
	mw, err := r.pd.AllocMW(ibv.MWType2)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, mw.Close()) })
	return mw
}

// post posts the first n work requests, all of which are accepted.
func (r *batchRig) post(n int) {
	r.t.Helper()
	accepted, err := r.batch.PostRange(0, n)
	require.NoError(r.t, err)
	require.Equal(r.t, n, accepted)
}

// receive posts n receives.
func (r *batchRig) receive(n int) {
	r.t.Helper()
	_, err := r.recvs.PostRange(&r.b.QPBase, 0, n)
	require.NoError(r.t, err)
}

func at(mr *ibv.MR, i int) uint64 { return uint64(mr.Addr) + uint64(i*slot) }

// Sends with all kinds of data, in one batch, and what the extended poll tells of
// both ends.
func TestBatchOfSends(t *testing.T) {
	r := newBatchRig(t, 4)
	b := r.batch
	fill(bytesOf(r.local, 0)[:100], 1)
	fill(bytesOf(r.local, 1)[:64], 2)
	inline := []byte("inline data")
	require.NoError(t, b.Send(0, 10, ibv.SendSignaled))
	require.NoError(t, b.SetSGE(0, r.local.SGE(0, 100)))
	require.NoError(t, b.SendImm(1, 11, ibv.SendSignaled|ibv.SendSolicited, ibv.ToBE32(0x91929394)))
	require.NoError(t, b.SetSGEs(1, r.local.SGE(slot+32, 32), r.local.SGE(slot, 32)))
	require.NoError(t, b.Send(2, 12, ibv.SendSignaled))
	require.NoError(t, b.SetInline(2, inline))
	require.NoError(t, b.Send(3, 13, ibv.SendSignaled))
	require.NoError(t, b.SetSGEs(3))
	r.receive(4)
	wipe(r.remote.Bytes(), 0xee)
	accepted, err := b.Post()
	require.NoError(t, err)
	require.Equal(t, 4, accepted)
	wipe(inline, 'x')

	swapped := append(append([]byte(nil), bytesOf(r.local, 1)[32:64]...), bytesOf(r.local, 1)[:32]...)
	for i, wc := range r.takeGood(r.b.pollRecv, 4) {
		require.Equal(t, uint64(100+i), wc.WRID)
		require.Equal(t, ibv.WCRecv, wc.Opcode())
		require.Equal(t, []uint32{100, 64, 11, 0}[i], wc.ByteLen())
		require.Equal(t, r.b.QPBase.QPNum, wc.QPNum())
		require.Equal(t, i == 1, wc.WCFlags()&ibv.WCWithImm != 0)
		require.Zero(t, uint32(wc.SL())+uint32(wc.DLIDPathBits())+wc.SLID())
		if i == 1 {
			require.Equal(t, uint32(0x91929394), wc.ImmData().Host())
		}
	}
	requireFilled(t, bytesOf(r.remote, 4), 100, 1, 0xee)
	require.Equal(t, swapped, bytesOf(r.remote, 5)[:64])
	require.Equal(t, "inline data\xee", string(bytesOf(r.remote, 6)[:12]))
	require.Equal(t, byte(0xee), bytesOf(r.remote, 7)[0])
	for i, wc := range r.takeGood(r.a.pollSend, 4) {
		require.Equal(t, uint64(10+i), wc.WRID)
		require.Equal(t, ibv.WCSend, wc.Opcode())
		require.Equal(t, r.a.QPBase.QPNum, wc.QPNum())
	}
	r.none(r.a.pollSend)
	r.none(r.b.pollRecv)
}

// Lists are sent as they are, or refused where the library's Soft-RoCE is known to
// spoil them.
func TestBatchOfLists(t *testing.T) {
	r := newBatchRig(t, 2)
	b := r.batch
	fill(bytesOf(r.local, 0)[:100], 7)
	require.NoError(t, b.Send(0, 1, ibv.SendSignaled))
	require.NoError(t, b.Send(1, 2, ibv.SendSignaled))
	entries := b.SetSGEs(0, r.local.SGE(0, 8), r.local.SGE(8, 92))
	pieces := b.SetInlineList(1, []byte("in "), []byte("pieces"))
	if guest.Release(t) < 64 {
		require.ErrorIs(t, entries, syscall.EOPNOTSUPP)
		require.ErrorIs(t, pieces, syscall.EOPNOTSUPP)
		require.NoError(t, b.SetSGE(0, r.local.SGE(0, 100)))
		require.NoError(t, b.SetInlineList(1, []byte("in pieces")))
	} else {
		require.NoError(t, entries)
		require.NoError(t, pieces)
	}
	r.receive(2)
	r.post(2)
	wcs := r.takeGood(r.b.pollRecv, 2)
	require.Equal(t, []uint32{100, 9}, []uint32{wcs[0].ByteLen(), wcs[1].ByteLen()})
	requireFilled(t, bytesOf(r.remote, 4), 100, 7, 0)
	require.Equal(t, "in pieces", string(bytesOf(r.remote, 5)[:9]))
	r.takeGood(r.a.pollSend, 2)
}

// RDMA and atomics, in one batch in which each depends on the one before.
func TestBatchOfRDMA(t *testing.T) {
	r := newBatchRig(t, 8)
	b := r.batch
	rkey := r.remote.RKey
	fill(bytesOf(r.local, 0), 3)
	wipe(bytesOf(r.remote, 2), 0)
	binary.NativeEndian.PutUint64(bytesOf(r.remote, 2), 1000)
	require.NoError(t, b.RDMAWrite(0, 20, ibv.SendSignaled, at(r.remote, 0), rkey))
	require.NoError(t, b.SetSGE(0, r.local.SGE(0, slot)))
	require.NoError(t, b.RDMAWriteImm(1, 21, ibv.SendSignaled, at(r.remote, 1), rkey, ibv.ToBE32(0x81828384)))
	require.NoError(t, b.SetInline(1, []byte("written inline")))
	require.NoError(t, b.RDMARead(2, 22, ibv.SendSignaled, at(r.remote, 0), rkey))
	require.NoError(t, b.SetSGEs(2, r.local.SGE(1*slot, slot/2), r.local.SGE(2*slot, slot/2)))
	require.NoError(t, b.AtomicFetchAdd(3, 23, ibv.SendSignaled, at(r.remote, 2), rkey, 1<<40))
	require.NoError(t, b.SetSGE(3, r.local.SGE(3*slot, 8)))
	require.NoError(t, b.AtomicCmpSwp(4, 24, ibv.SendSignaled, at(r.remote, 2), rkey, 1<<40+1000, 0x1122334455667788))
	require.NoError(t, b.SetSGE(4, r.local.SGE(3*slot+8, 8)))
	require.NoError(t, b.AtomicCmpSwp(5, 25, ibv.SendSignaled, at(r.remote, 2), rkey, 1, 2)) // finds something else
	require.NoError(t, b.SetSGE(5, r.local.SGE(3*slot+16, 8)))
	require.NoError(t, b.RDMAWrite(6, 26, 0, at(r.remote, 3), rkey)) // not signalled
	require.NoError(t, b.SetSGE(6, r.local.SGE(0, 8)))
	require.NoError(t, b.Send(7, 27, ibv.SendSignaled|ibv.SendFence))
	require.NoError(t, b.SetSGEs(7))
	r.receive(2)
	r.post(8)
	opcodes := []ibv.WCOpcode{ibv.WCRDMAWrite, ibv.WCRDMAWrite, ibv.WCRDMARead, ibv.WCFetchAdd, ibv.WCCompSwap, ibv.WCCompSwap, ibv.WCSend}
	for i, wc := range r.takeGood(r.a.pollSend, 7) {
		require.Equal(t, []uint64{20, 21, 22, 23, 24, 25, 27}[i], wc.WRID)
		require.Equal(t, opcodes[i], wc.Opcode(), "%v", &wc)
	}
	wcs := r.takeGood(r.b.pollRecv, 2)
	require.Equal(t, ibv.WCRecvRDMAWithImm, wcs[0].Opcode())
	require.Equal(t, uint32(0x81828384), wcs[0].ImmData().Host())
	require.EqualValues(t, 14, wcs[0].ByteLen())
	requireFilled(t, bytesOf(r.remote, 0), slot, 3, 0)
	require.Equal(t, "written inline", string(bytesOf(r.remote, 1)[:14]))
	require.Equal(t, bytesOf(r.local, 0)[:slot/2], bytesOf(r.local, 1)[:slot/2])
	require.Equal(t, bytesOf(r.local, 0)[slot/2:], bytesOf(r.local, 2)[:slot/2])
	results := bytesOf(r.local, 3)
	require.EqualValues(t, 1000, binary.NativeEndian.Uint64(results))
	require.EqualValues(t, 1<<40+1000, binary.NativeEndian.Uint64(results[8:]))
	require.EqualValues(t, 0x1122334455667788, binary.NativeEndian.Uint64(results[16:]))
	require.EqualValues(t, 0x1122334455667788, binary.NativeEndian.Uint64(bytesOf(r.remote, 2)))
	requireFilled(t, bytesOf(r.remote, 3)[:8], 8, 3, 0)

	// Patched in place, and posted in part.
	fill(bytesOf(r.local, 0), 4)
	require.NoError(t, b.SetWRID(0, 99))
	require.NoError(t, b.SetRemote(0, at(r.remote, 3), rkey))
	require.NoError(t, b.SetSGE(0, r.local.SGE(0, 50)))
	wipe(r.remote.Bytes(), 0xee)
	r.post(1)
	require.Equal(t, uint64(99), r.takeGood(r.a.pollSend, 1)[0].WRID)
	requireFilled(t, bytesOf(r.remote, 3), 50, 4, 0xee)
}

// A memory window of type 2 is bound, written through, made invalid by its owner
// and by the peer.
func TestBatchOfWindows(t *testing.T) {
	r := newBatchRig(t, 2)
	mw := r.window()
	b := r.batch
	writer, err := ibv.NewBatch(r.b.QPEx, r.ops, 2, 1)
	require.NoError(t, err)
	bind := func(key uint32) {
		t.Helper()
		require.NoError(t, b.BindMW(0, 30, ibv.SendSignaled, mw, key, &ibv.MWBindInfo{
			MR: ibv.ToPtr(r.local), Addr: at(r.local, 1), Length: slot, MWAccessFlags: ibv.AccessRemoteWrite | ibv.AccessRemoteRead,
		}))
		r.post(1)
		wc := r.takeGood(r.a.pollSend, 1)[0]
		require.Equal(t, ibv.WCBindMW, wc.Opcode())
		mw.RKey = key
	}
	write := func() ibv.ExtendedWC {
		t.Helper()
		wipe(bytesOf(r.local, 1), 0)
		require.NoError(t, writer.RDMAWrite(0, 31, ibv.SendSignaled, at(r.local, 1)+8, mw.RKey))
		require.NoError(t, writer.SetInline(0, []byte("through a window")))
		_, err := writer.PostRange(0, 1)
		require.NoError(t, err)
		return r.take(r.b.pollSend, 1)[0]
	}
	bind(ibv.IncRKey(mw.RKey))
	wc := write()
	require.NoError(t, wc.Err())
	require.Equal(t, "through a window", string(bytesOf(r.local, 1)[8:24]))

	require.NoError(t, b.LocalInv(1, 32, ibv.SendSignaled, mw.RKey))
	_, err = b.PostRange(1, 2)
	require.NoError(t, err)
	require.Equal(t, ibv.WCLocalInv, r.takeGood(r.a.pollSend, 1)[0].Opcode())
	bind(ibv.IncRKey(mw.RKey))

	// The peer makes it invalid, and can write no more.
	recvs, err := ibv.NewRecvChain(1, 1)
	require.NoError(t, err)
	require.NoError(t, recvs.SetSGE(0, 33, r.local.SGE(2*slot, slot)))
	_, err = recvs.Post(&r.a.QPBase)
	require.NoError(t, err)
	require.NoError(t, writer.SendInv(1, 34, ibv.SendSignaled, mw.RKey))
	require.NoError(t, writer.SetInline(1, []byte("with invalidation")))
	_, err = writer.PostRange(1, 2)
	require.NoError(t, err)
	got := r.takeGood(r.a.pollRecv, 1)[0]
	// Soft-RoCE passes the kernel's flag on, which is another one in C.
	require.NotZero(t, got.WCFlags()&(ibv.WCWithInv|ibv.WCIPCsumOk))
	require.Equal(t, mw.RKey, got.InvalidatedRKey())
	require.Equal(t, "with invalidation", string(bytesOf(r.local, 2)[:got.ByteLen()]))
	require.Equal(t, uint64(34), r.takeGood(r.b.pollSend, 1)[0].WRID)
	wc = write()
	require.Equal(t, ibv.WCRemAccessErr, wc.Status, "%v", &wc)
	require.Zero(t, bytesOf(r.local, 1)[8])
}

// What is too much for the queue is refused as a whole.
func TestBatchOntoFullQueue(t *testing.T) {
	r := newBatchRig(t, 4)
	const n = 100 // more than the queue has, whatever it is rounded to
	b, err := ibv.NewBatch(r.a.QPEx, r.ops, n, 1)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, b.RDMAWrite(i, uint64(i), ibv.SendSignaled, at(r.remote, 0), r.remote.RKey))
		require.NoError(t, b.SetInline(i, []byte{1, 2, 3, 4}))
	}
	accepted, err := b.Post()
	require.Zero(t, accepted)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.ErrorContains(t, err, "the queue is full")
	requireNoAllocations(t, func() { _, _ = b.Post() })
	r.none(r.a.pollSend)
	require.Zero(t, r.remote.Bytes()[0])
	accepted, err = b.PostRange(3, 7)
	require.NoError(t, err)
	require.Equal(t, 4, accepted)
	for i, wc := range r.takeGood(r.a.pollSend, 4) {
		require.Equal(t, uint64(3+i), wc.WRID)
	}
	// Too many bytes of inline data.
	require.NoError(t, b.SetInline(50, make([]byte, 10000)))
	accepted, err = b.PostRange(49, 51)
	require.Zero(t, accepted)
	require.ErrorIs(t, err, syscall.ENOSPC)
	r.none(r.a.pollSend)
}

// Before RTS, Soft-RoCE refuses a batch and keeps it all the same, for the next one
// in RTS. So the error does not say that none was accepted.
func TestBatchBeforeRTS(t *testing.T) {
	r := newRig(t)
	ops := rxeOps(t)
	a, b := r.extendedSide(ibv.QPTRC, ops, 4, 4), r.extendedSide(ibv.QPTRC, ops, 4, 4)
	remote := r.windowed(1)
	batch, err := ibv.NewBatch(a.QPEx, ops, 1, 1)
	require.NoError(t, err)
	require.NoError(t, batch.RDMAWrite(0, 1, ibv.SendSignaled, at(remote, 0), remote.RKey))
	require.NoError(t, batch.SetInline(0, []byte("kept")))
	require.NoError(t, toInit(&a.QPBase, access))
	accepted, err := batch.Post()
	require.Equal(t, -1, accepted)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorIs(t, err, ibv.ErrAcceptedUnknown)
	r.connect(&a.QPBase, &b.QPBase)
	require.NoError(t, batch.SetWRID(0, 2))
	accepted, err = batch.Post()
	require.NoError(t, err)
	require.Equal(t, 1, accepted)
	wcs := r.takeGood(a.pollSend, 2)
	require.Equal(t, []uint64{1, 2}, []uint64{wcs[0].WRID, wcs[1].WRID})
	require.Equal(t, "kept", string(remote.Bytes()[:4]))
}

// A queue pair that was not made so has no batch.
func TestExtendedQueuePairs(t *testing.T) {
	r := newRig(t)
	plain := r.side(ibv.QPTRC, 1, 1, nil)
	_, err := plain.Ex()
	require.ErrorIs(t, err, syscall.EOPNOTSUPP)
	require.ErrorContains(t, err, "not created as extended")
	cq := r.cq(4)
	qp := r.extendedQP(ibv.QPTRC, ibv.QPExWithSend, 4, 4, cq, cq)
	_, err = ibv.NewBatch(qp, ibv.QPExWithSend|ibv.QPExWithRDMAWrite, 1, 1)
	require.ErrorContains(t, err, "created without IBV_QP_EX_WITH_RDMA_WRITE")
}

func TestBatchOnUD(t *testing.T) {
	const qkey = 0x11223344
	const ops = ibv.QPExWithSend | ibv.QPExWithSendWithImm
	r := newRig(t)
	a, b := r.extendedSide(ibv.QPTUD, ops, 4, 4), r.extendedSide(ibv.QPTUD, ops, 4, 4)
	for _, s := range []extendedSide{a, b} {
		r.connectUD(&s.QPBase, qkey)
	}
	ah, err := r.pd.CreateAHTo(port, r.gid.GIDIndex, r.gid.GID)
	require.NoError(t, err)
	defer func() { require.NoError(t, ah.Close()) }()
	from, to := r.memory(2), r.memory(2)
	_, err = r.recvChain(2, to).Post(&b.QPBase)
	require.NoError(t, err)
	batch, err := ibv.NewBatch(a.QPEx, ops, 2, 1)
	require.NoError(t, err)
	fill(bytesOf(from, 0)[:200], 5)
	require.NoError(t, batch.Send(0, 1, ibv.SendSignaled))
	require.NoError(t, batch.SetSGE(0, from.SGE(0, 200)))
	require.NoError(t, batch.SetUD(0, ah, b.QPBase.QPNum, qkey))
	require.NoError(t, batch.SendImm(1, 2, ibv.SendSignaled, ibv.ToBE32(77)))
	require.NoError(t, batch.SetInline(1, []byte("datagram")))
	_, err = batch.Post()
	require.ErrorContains(t, err, "work request 1 of the batch lacks its receiver")
	require.NoError(t, batch.SetUD(1, ah, b.QPBase.QPNum, qkey))
	_, err = batch.Post()
	require.NoError(t, err)
	wcs := r.takeGood(b.pollRecv, 2)
	require.EqualValues(t, ibv.GRHLength+200, wcs[0].ByteLen())
	require.Equal(t, a.QPBase.QPNum, wcs[0].SrcQP())
	require.NotZero(t, wcs[0].WCFlags()&ibv.WCGRH)
	requireFilled(t, bytesOf(to, 0)[ibv.GRHLength:], 200, 5, 0)
	require.Equal(t, uint32(77), wcs[1].ImmData().Host())
	require.Equal(t, "datagram", string(bytesOf(to, 1)[ibv.GRHLength:wcs[1].ByteLen()]))
	r.takeGood(a.pollSend, 2)
}

// Atomic writes and flushes are later than the guests' kernels, which then fail
// them, and later than some libraries, which then do not know them.
func TestBatchOfAtomicWritesAndFlushes(t *testing.T) {
	begin := map[ibv.QPCreateSendOpsFlags]func(r *batchRig) error{
		ibv.QPExWithAtomicWrite: func(r *batchRig) error {
			return r.batch.AtomicWrite(0, 40, ibv.SendSignaled, at(r.remote, 0), r.remote.RKey, 0x1122334455667788)
		},
		ibv.QPExWithFlush: func(r *batchRig) error {
			return r.batch.Flush(0, 40, ibv.SendSignaled, at(r.remote, 0), r.remote.RKey, 8, ibv.FlushGlobal, ibv.FlushRange)
		},
	}
	for flag, begin := range begin {
		t.Run(flag.String(), func(t *testing.T) {
			r := newBatchRig(t, 2)
			if r.ops&flag == 0 {
				require.ErrorContains(t, begin(r), "the batch was not made for")
				return
			}
			require.NoError(t, begin(r))
			r.post(1)
			wc := r.take(r.a.pollSend, 1)[0]
			require.Equal(t, uint64(40), wc.WRID)
			// The region does not allow flushes.
			require.Contains(t, []ibv.WCStatus{ibv.WCSuccess, ibv.WCLocQPOpErr, ibv.WCRemAccessErr, ibv.WCRemInvReqErr}, wc.Status)
			if wc.Status == ibv.WCSuccess && flag == ibv.QPExWithAtomicWrite {
				require.Equal(t, uint64(0x1122334455667788), binary.NativeEndian.Uint64(r.remote.Bytes()))
			}
		})
	}
}
