//go:build !freebsd

package ibvtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/rdma"
)

// wired is two connected queue pairs in RTS, and memory.
type wired struct {
	*rig
	a, b   *rdma.QP
	ah     *rdma.AH // the way to the device itself
	memory *rdma.Region
}

// wire connects two queue pairs. change changes what a moves with, and then b.
func wire(t *testing.T, r *rig, typ ibv.QPType, change func(end int, attr *ibv.QPAttr)) *wired {
	t.Helper()
	w := &wired{rig: r, a: r.qp(typ), b: r.qp(typ)}
	gid, err := r.dev.ChooseGID(rdma.GIDChoice{})
	require.NoError(t, err)
	if !r.dev.Raw().Device.IsIWARP() { // which has no address handles
		w.ah, err = r.pd.CreateAH(rdma.AHOptions{GID: gid.GID, From: gid})
		require.NoError(t, err)
	}
	w.connect(w.a, w.b, 0, change)
	w.connect(w.b, w.a, 1, change)
	w.memory, err = r.pd.AllocRegion(1<<16, rdma.RegionOptions{Access: ibv.AccessLocalWrite | ibv.AccessRemoteWrite | ibv.AccessRemoteRead | ibv.AccessRemoteAtomic})
	require.NoError(t, err)
	return w
}

// connect moves a queue pair to RTS.
func (r *rig) connect(qp, peer *rdma.QP, end int, change func(end int, attr *ibv.QPAttr)) {
	r.t.Helper()
	gid, err := r.dev.ChooseGID(rdma.GIDChoice{})
	require.NoError(r.t, err)
	rtr := ibv.QPAttr{QPState: ibv.QPSRTR}
	if qp.Type() != ibv.QPTUD {
		rtr.PathMTU, rtr.DestQPNum, rtr.RQPSN = ibv.MTU1024, peer.Number(), 0xfffff0
		rtr.MaxDestRdAtomic, rtr.MinRNRTimer = 4, 14
		rtr.AHAttr = ibv.AHAttr{PortNum: 1, IsGlobal: 1, GRH: ibv.GlobalRoute{DGID: gid.GID, SGIDIndex: uint8(gid.GIDIndex), HopLimit: 64}}
	}
	rts := ibv.QPAttr{QPState: ibv.QPSRTS, SQPSN: 0xfffff0, Timeout: 14, RetryCnt: 6, RNRRetry: 7, MaxRdAtomic: 4}
	if change != nil {
		change(end, &rtr)
		change(end, &rts)
	}
	if r.dev.Raw().Device.IsIWARP() { // where rdma leaves it to librdmacm to move queue pairs
		init := ibv.QPAttr{QPState: ibv.QPSInit, PortNum: 1, QPAccessFlags: ibv.AccessRemoteWrite}
		for i, attr := range []*ibv.QPAttr{&init, &rtr, &rts} {
			from := ibv.QPState(i) // RESET, INIT and RTR
			require.NoError(r.t, qp.Raw().Modify(attr, ibv.QPTRC.Needs(from, attr.QPState)))
		}
		return
	}
	require.NoError(r.t, qp.Modify(&rtr, qp.Type().Needs(ibv.QPSInit, ibv.QPSRTR)))
	require.NoError(r.t, qp.Modify(&rts, qp.Type().Needs(ibv.QPSRTR, ibv.QPSRTS)))
}

// send posts a signaled send of n bytes.
func (w *wired) send(qp *rdma.QP, id uint64, n int) {
	w.t.Helper()
	chain, err := ibv.NewSendChain(1, 1)
	require.NoError(w.t, err)
	require.NoError(w.t, chain.Set(0, id, ibv.WRSend, ibv.SendSignaled, w.memory.SGE(0, n)))
	_, err = qp.PostSend(chain)
	require.NoError(w.t, err)
}

// receive posts a receive of n bytes.
func (w *wired) receive(qp *rdma.QP, id uint64, n int) {
	w.t.Helper()
	chain, err := ibv.NewRecvChain(1, 1)
	require.NoError(w.t, err)
	require.NoError(w.t, chain.Set(0, id, w.memory.SGE(1<<15, n)))
	_, err = qp.PostRecv(chain)
	require.NoError(w.t, err)
}

// ended is what a completion says that counts in each.
type ended struct {
	id     uint64
	status ibv.WCStatus
}

// poll takes what completions there are.
func (w *wired) poll() (all []ended) {
	w.t.Helper()
	wcs := make([]ibv.WC, 64)
	n, err := w.cq.Poll(wcs)
	require.NoError(w.t, err)
	for _, wc := range wcs[:n] {
		all = append(all, ended{wc.WRID, wc.Status})
	}
	return all
}

// A send that finds no receive is sent again when the receiver's timer says so, as often as rnr_retry says.
func TestReceiverNotReady(t *testing.T) {
	for _, c := range []struct {
		retries uint8
		after   time.Duration // 0 is never
	}{{0, 0}, {3, 3 * 1280 * time.Microsecond}} {
		synctest.Test(t, func(t *testing.T) {
			w := wire(t, newRig(t), ibv.QPTRC, func(_ int, attr *ibv.QPAttr) { attr.RNRRetry = c.retries })
			w.send(w.a, 1, 8)
			w.send(w.a, 2, 8)
			if c.after > 0 {
				time.Sleep(c.after - time.Nanosecond)
				require.Empty(t, w.poll())
				time.Sleep(time.Nanosecond)
				synctest.Wait()
			}
			require.Equal(t, []ended{{1, ibv.WCRNRRetryExcErr}, {2, ibv.WCWRFlushErr}}, w.poll())
		})
	}
}

// With 7 it waits for as long as it takes.
func TestReceiverNotReadyForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wire(t, newRig(t), ibv.QPTRC, nil)
		w.send(w.a, 1, 8)
		time.Sleep(time.Minute)
		require.Empty(t, w.poll())
		w.receive(w.b, 2, 8)
		require.Empty(t, w.poll())
		time.Sleep(1280 * time.Microsecond)
		synctest.Wait()
		require.Equal(t, []ended{{2, ibv.WCSuccess}, {1, ibv.WCSuccess}}, w.poll())
	})
}

// A peer that does not answer ends the queue pair when retries are used up.
func TestPeerGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wire(t, newRig(t), ibv.QPTRC, nil)
		w.receive(w.a, 3, 8)
		require.NoError(t, w.b.Close())
		w.send(w.a, 1, 8)
		w.send(w.a, 2, 8)
		const all = 7 * 4096 * time.Nanosecond << 14
		time.Sleep(all - time.Nanosecond)
		require.Empty(t, w.poll())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, []ended{{1, ibv.WCRetryExcErr}, {2, ibv.WCWRFlushErr}, {3, ibv.WCWRFlushErr}}, w.poll())
		// What is posted in ERR is flushed too.
		w.send(w.a, 4, 8)
		w.receive(w.a, 5, 8)
		require.Equal(t, []ended{{4, ibv.WCWRFlushErr}, {5, ibv.WCWRFlushErr}}, w.poll())
	})
}

// Sends without completions keep their places until the completion of a later one is polled.
func TestPlacesOfUnsignaledSends(t *testing.T) {
	w := wire(t, newRig(t), ibv.QPTRC, nil)
	chain, err := ibv.NewSendChain(8, 1)
	require.NoError(t, err)
	for i := range 8 {
		require.NoError(t, chain.Set(i, uint64(i), ibv.WRSend, ibv.SendFlags(0), w.memory.SGE(0, 1)))
		w.receive(w.b, uint64(10+i), 8)
	}
	chain.WR(6).SendFlags = ibv.SendSignaled
	_, err = w.a.PostSend(chain)
	require.NoError(t, err)
	n, err := w.a.PostSend(chain)
	require.Error(t, err)
	require.Zero(t, n)
	require.Len(t, w.poll(), 9)
	for i := range 8 {
		w.receive(w.b, uint64(10+i), 8)
	}
	n, err = w.a.PostSend(chain)
	require.Error(t, err)
	require.Equal(t, 7, n)
}

// BenchmarkMessages sends messages of 64 bytes, 16 a post.
func BenchmarkMessages(b *testing.B) {
	f := ibvtest.New(b)
	const batch, size = 16, 64
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	dev, err := rdma.Open(f.Names()[0], rdma.DeviceOptions{})
	must(err)
	b.Cleanup(func() { must(dev.CloseAll()) })
	pd, err := dev.AllocPD()
	must(err)
	cq, err := dev.CreateCQ(256, rdma.CQOptions{NoChannel: true})
	must(err)
	var qps [2]*rdma.QP
	for i := range qps {
		qps[i], err = pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: ibv.QPCap{MaxSendWR: 64, MaxRecvWR: 64, MaxSendSGE: 1, MaxRecvSGE: 1}})
		must(err)
	}
	gid, err := dev.ChooseGID(rdma.GIDChoice{})
	must(err)
	for i, qp := range qps {
		must(qp.Modify(&ibv.QPAttr{
			QPState: ibv.QPSRTR, PathMTU: ibv.MTU1024, DestQPNum: qps[1-i].Number(), MaxDestRdAtomic: 1, MinRNRTimer: 1,
			AHAttr: ibv.AHAttr{PortNum: 1, IsGlobal: 1, GRH: ibv.GlobalRoute{DGID: gid.GID, SGIDIndex: uint8(gid.GIDIndex), HopLimit: 64}},
		}, ibv.QPTRC.Needs(ibv.QPSInit, ibv.QPSRTR)))
		must(qp.Modify(&ibv.QPAttr{QPState: ibv.QPSRTS, Timeout: 14, RetryCnt: 6, RNRRetry: 7, MaxRdAtomic: 1}, ibv.QPTRC.Needs(ibv.QPSRTR, ibv.QPSRTS)))
	}
	memory, err := pd.AllocRegion(2*batch*size, rdma.RegionOptions{})
	must(err)
	recvs, err := ibv.NewRecvChain(batch, 1)
	must(err)
	sends, err := ibv.NewSendChain(batch, 1)
	must(err)
	for i := range batch {
		must(recvs.Set(i, uint64(i), memory.SGE(i*size, size)))
		must(sends.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, memory.SGE((batch+i)*size, size)))
	}
	wcs := make([]ibv.WC, 2*batch)
	b.ReportAllocs()
	for b.Loop() {
		_, err := qps[1].PostRecv(recvs)
		must(err)
		_, err = qps[0].PostSend(sends)
		must(err)
		n, err := cq.Poll(wcs)
		must(err)
		if n != 2*batch || wcs[0].Status != ibv.WCSuccess {
			b.Fatal(n, wcs[0].Status)
		}
	}
	b.ReportMetric(float64(b.N)*batch/b.Elapsed().Seconds(), "messages/s")
}

// Neither posts nor polls allocate, whichever way the program makes them.
func TestNoAllocations(t *testing.T) {
	for _, typ := range []ibv.QPType{ibv.QPTRC, ibv.QPTUC, ibv.QPTUD} {
		w := wire(t, newRig(t), typ, nil)
		recvs, err := ibv.NewRecvChain(4, 2)
		require.NoError(t, err)
		sends, err := ibv.NewSendChain(4, 2)
		require.NoError(t, err)
		for i := range 4 {
			require.NoError(t, recvs.Set(i, uint64(i), w.memory.SGE(0, 64), w.memory.SGE(64, 64)))
			require.NoError(t, sends.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, w.memory.SGE(128, 20), w.memory.SGE(256, 20)))
			if typ == ibv.QPTUD {
				*sends.WR(i).WR.UD() = ibv.SendWRWRUD{AH: ibv.ToPtr(w.ah.Raw()), RemoteQPN: w.b.Number(), RemoteQKey: 1 << 31}
			}
		}
		wcs := make([]ibv.WC, 16)
		var n int
		for name, round := range map[string]func(){
			"handles": func() {
				_, _ = w.b.PostRecv(recvs)
				_, _ = w.a.PostSend(sends)
				n, _ = w.cq.Poll(wcs)
			},
			"raw": func() {
				_, _ = w.b.Raw().PostRecv(recvs.WR(0))
				_, _ = w.a.Raw().PostSend(sends.WR(0))
				n, _ = w.cq.Raw().Poll(wcs)
			},
		} {
			round() // queues grow
			allocs := testing.AllocsPerRun(20, round)
			if !ccall.RaceDetector { // which is told of every buffer
				require.Zero(t, allocs, "%v %s", typ, name)
			}
			require.Equal(t, 8, n, "%v %s", typ, name)
			require.Equal(t, ibv.WCSuccess, wcs[7].Status)
		}
	}
}
