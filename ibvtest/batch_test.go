//go:build !freebsd

package ibvtest_test

import (
	"encoding/binary"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

const allRC = ibv.QPExWithSend | ibv.QPExWithSendWithImm | ibv.QPExWithRDMAWrite | ibv.QPExWithRDMAWriteWithImm | ibv.QPExWithRDMARead |
	ibv.QPExWithAtomicCmpAndSwp | ibv.QPExWithAtomicFetchAndAdd

// batches is two connected queue pairs whose send queues take batches of up to 16.
func batches(t *testing.T) *wired {
	t.Helper()
	r := newRig(t)
	w := &wired{rig: r}
	var err error
	for _, qp := range []**rdma.QP{&w.a, &w.b} {
		*qp, err = r.pd.CreateQP(rdma.QPOptions{
			SendCQ: r.cq, RecvCQ: r.cq, SendOps: allRC, Access: ibv.AccessRemoteWrite | ibv.AccessRemoteRead | ibv.AccessRemoteAtomic,
			Cap: ibv.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInlineData: 64},
		})
		require.NoError(t, err)
	}
	w.connect(w.a, w.b, 0, nil)
	w.connect(w.b, w.a, 1, nil)
	w.memory, err = r.pd.AllocRegion(1<<16, rdma.RegionOptions{Access: ibv.AccessLocalWrite | ibv.AccessRemoteWrite | ibv.AccessRemoteRead | ibv.AccessRemoteAtomic})
	require.NoError(t, err)
	return w
}

// Every operation of a batch does what the same work request of a chain does.
func TestBatch(t *testing.T) {
	w := batches(t)
	b, err := w.a.NewBatch(16, 2)
	require.NoError(t, err)
	bytes, key := w.memory.Bytes(), w.memory.RKey()
	at := func(offset int) uint64 { return w.memory.SGE(offset, 1).Addr }
	copy(bytes, "abcdefgh")
	binary.NativeEndian.PutUint64(bytes[512:], 5)
	data := []byte("inline")
	for _, err := range []error{
		b.Send(0, 0, ibv.SendSignaled), b.SetSGEs(0, w.memory.SGE(4, 4), w.memory.SGE(0, 4)),
		b.SendImm(1, 1, ibv.SendSignaled, ibv.ToBE32(77)), b.SetInline(1, data),
		b.RDMAWrite(2, 2, ibv.SendSignaled, at(256), key), b.SetSGE(2, w.memory.SGE(0, 8)),
		b.RDMAWriteImm(3, 3, ibv.SendSignaled, at(264), key, ibv.ToBE32(78)), b.SetInlineList(3, data[:2], data[2:]),
		b.RDMARead(4, 4, ibv.SendSignaled, at(256), key), b.SetSGE(4, w.memory.SGE(300, 14)),
		b.AtomicCmpSwp(5, 5, ibv.SendSignaled, at(512), key, 5, 9), b.SetSGE(5, w.memory.SGE(520, 8)),
		b.AtomicFetchAdd(6, 6, ibv.SendSignaled, at(512), key, 3), b.SetSGE(6, w.memory.SGE(528, 8)),
		b.Send(7, 7, 0), b.SetSGEs(7),
	} {
		require.NoError(t, err)
	}
	for id := range 4 {
		w.receive(w.b, uint64(100+id), 64)
	}
	n, err := w.a.PostBatchRange(b, 0, 8)
	require.NoError(t, err)
	require.Equal(t, 8, n)
	wcs := make([]ibv.WC, 16)
	n, err = w.cq.Poll(wcs)
	require.NoError(t, err)
	sent, received := []ibv.WCOpcode{}, []ibv.WC{}
	for _, wc := range wcs[:n] {
		require.NoError(t, wc.Err())
		if wc.WRID < 100 {
			require.Len(t, sent, int(wc.WRID))
			sent = append(sent, wc.Opcode)
		} else {
			received = append(received, wc)
		}
	}
	require.Equal(t, []ibv.WCOpcode{ibv.WCSend, ibv.WCSend, ibv.WCRDMAWrite, ibv.WCRDMAWrite, ibv.WCRDMARead, ibv.WCCompSwap, ibv.WCFetchAdd}, sent)
	require.Len(t, received, 4)
	require.EqualValues(t, 8, received[0].ByteLen)
	require.EqualValues(t, 77, received[1].ImmData().Host())
	require.EqualValues(t, 78, received[2].ImmData().Host())
	require.Zero(t, received[3].ByteLen)
	require.Equal(t, "abcdefghinline", string(bytes[300:314]))
	require.EqualValues(t, 12, binary.NativeEndian.Uint64(bytes[512:]))
	require.EqualValues(t, 5, binary.NativeEndian.Uint64(bytes[520:]))
	require.EqualValues(t, 9, binary.NativeEndian.Uint64(bytes[528:]))
}

// A batch that does not fit is refused as a whole, and so is one with a work request that is refused.
func TestBatchIsTakenAsAWhole(t *testing.T) {
	w := batches(t)
	b, err := w.a.NewBatch(17, 1)
	require.NoError(t, err)
	for i := range 17 {
		require.NoError(t, b.RDMAWrite(i, uint64(i), ibv.SendSignaled, w.memory.SGE(i, 1).Addr, w.memory.RKey()))
		require.NoError(t, b.SetSGE(i, w.memory.SGE(1024, 1)))
	}
	w.memory.Bytes()[1024] = 1
	n, err := w.a.PostBatch(b)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Zero(t, n)
	refused := w.f.OnPost(func(p *ibvtest.PostedWR) {
		if p.WRID == 9 {
			p.Refuse(ibvtest.Refusal{Errno: syscall.EIO})
		}
	})
	n, err = w.a.PostBatchRange(b, 0, 16)
	require.ErrorIs(t, err, syscall.EIO)
	require.Zero(t, n)
	require.NotContains(t, w.memory.Bytes()[:17], byte(1))
	refused()
	n, err = w.a.PostBatchRange(b, 0, 16)
	require.NoError(t, err)
	require.Equal(t, 16, n)
	require.Len(t, w.poll(), 16)
	require.NotContains(t, w.memory.Bytes()[:16], byte(0))
}

// Batches of several goroutines on one queue pair do not mix.
func TestBatchesOfManyGoroutines(t *testing.T) {
	w := batches(t)
	var all sync.WaitGroup
	for g := range 4 {
		b, err := w.a.NewBatch(4, 1)
		require.NoError(t, err)
		for i := range 4 {
			require.NoError(t, b.AtomicFetchAdd(i, uint64(4*g+i), 0, w.memory.SGE(0, 8).Addr, w.memory.RKey(), 1))
			require.NoError(t, b.SetSGE(i, w.memory.SGE(64+8*(4*g+i), 8)))
		}
		require.NoError(t, b.SetFlags(3, ibv.SendSignaled))
		all.Go(func() {
			if _, err := w.a.PostBatch(b); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := w.poll()
	seen := map[uint64]bool{}
	for g := range 4 {
		before := binary.NativeEndian.Uint64(w.memory.Bytes()[64+32*g:])
		for i := range 4 {
			require.Equal(t, before+uint64(i), binary.NativeEndian.Uint64(w.memory.Bytes()[64+32*g+8*i:]))
		}
		seen[before] = true
	}
	require.Len(t, seen, 4)
	require.Len(t, got, 4)
}
