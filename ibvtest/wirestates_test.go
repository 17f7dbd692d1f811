//go:build !freebsd

package ibvtest_test

import (
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// impatient gives a peer up after two tries of 1 ms.
func impatient(_ int, attr *ibv.QPAttr) { attr.Timeout, attr.RetryCnt = 8, 1 }

// giveUp is how long that takes.
const giveUp = 2 * 4096 * time.Nanosecond << 8

// state is what the device says of a queue pair.
func state(t *testing.T, qp *rdma.QP) ibv.QPState {
	t.Helper()
	s, err := qp.State()
	require.NoError(t, err)
	return s
}

// What is on its way when a send queue is drained ends; what is not waits until the queue pair sends again.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wire(t, newRig(t), ibv.QPTRC, nil)
		w.send(w.a, 1, 8)
		w.send(w.a, 2, 8) // behind one that waits for a receive
		sqd := &ibv.QPAttr{QPState: ibv.QPSSQD}
		require.NoError(t, w.a.Modify(sqd, ibv.QPAttrMaskState))
		attr, _, err := w.a.Query(ibv.QPAttrMaskState)
		require.NoError(t, err)
		require.NotZero(t, attr.SQDraining)
		w.send(w.a, 3, 8)
		for i := range 3 {
			w.receive(w.b, uint64(10+i), 8)
		}
		time.Sleep(time.Second)
		require.Equal(t, []ended{{10, ibv.WCSuccess}, {1, ibv.WCSuccess}}, w.poll())
		attr, _, err = w.a.Query(ibv.QPAttrMaskState)
		require.NoError(t, err)
		require.Zero(t, attr.SQDraining)
		require.Equal(t, ibv.QPSSQD, attr.QPState)
		require.NoError(t, w.a.Modify(&ibv.QPAttr{QPState: ibv.QPSRTS}, ibv.QPAttrMaskState))
		require.Equal(t, []ended{{11, ibv.WCSuccess}, {2, ibv.WCSuccess}, {12, ibv.WCSuccess}, {3, ibv.WCSuccess}}, w.poll())
	})
}

// An error of its own stops the sends of a queue pair without acknowledgements, and not its receives.
func TestSendQueueError(t *testing.T) {
	for _, typ := range []ibv.QPType{ibv.QPTUC, ibv.QPTUD} {
		w := wire(t, newRig(t), typ, nil)
		w.receive(w.a, 20, 512)
		sends, err := ibv.NewSendChain(2, 1)
		require.NoError(t, err)
		for i, sge := range []ibv.SGE{{Addr: w.memory.SGE(0, 1).Addr, Length: 1, LKey: ^w.memory.LKey()}, w.memory.SGE(0, 1)} {
			require.NoError(t, sends.SetUD(i, uint64(i), ibv.WRSend, 0, sge, w.ah.Raw(), w.b.Number(), 1<<31))
		}
		_, err = w.a.PostSend(sends)
		require.NoError(t, err)
		require.Equal(t, []ended{{0, ibv.WCLocProtErr}, {1, ibv.WCWRFlushErr}}, w.poll())
		require.Equal(t, ibv.QPSSQE, state(t, w.a))
		_, err = w.a.PostSend(sends)
		require.NoError(t, err)
		require.Equal(t, []ended{{0, ibv.WCWRFlushErr}, {1, ibv.WCWRFlushErr}}, w.poll())
		require.NoError(t, w.a.Modify(&ibv.QPAttr{QPState: ibv.QPSRTS}, ibv.QPAttrMaskState))
		sends.WR(0).SGList.LKey = w.memory.LKey()
		_, err = w.a.PostSend(sends)
		require.NoError(t, err)
		require.Empty(t, w.poll())
		sends.WR(0).WR.UD().RemoteQPN, sends.WR(0).SendFlags = w.a.Number(), ibv.SendSignaled
		if typ == ibv.QPTUC {
			continue // whose peer is b
		}
		_, err = w.a.PostSend(sends)
		require.NoError(t, err)
		require.Equal(t, []ended{{20, ibv.WCSuccess}, {0, ibv.WCSuccess}}, w.poll())
	}
}

// The numbers of packets have to agree on connections that acknowledge.
func TestPacketNumbersDisagree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wire(t, newRig(t), ibv.QPTRC, func(end int, attr *ibv.QPAttr) {
			impatient(end, attr)
			if end == 0 {
				attr.SQPSN = 5
			}
		})
		w.receive(w.a, 2, 8)
		w.receive(w.b, 3, 8)
		w.send(w.b, 1, 8)
		require.Equal(t, []ended{{2, ibv.WCSuccess}, {1, ibv.WCSuccess}}, w.poll())
		w.send(w.a, 4, 8)
		time.Sleep(giveUp)
		synctest.Wait()
		require.Equal(t, []ended{{4, ibv.WCRetryExcErr}}, w.poll())
	})
}

// So do the packets' sizes, for messages that need more than one.
func TestPacketSizesDisagree(t *testing.T) {
	w := wire(t, newRig(t), ibv.QPTRC, func(end int, attr *ibv.QPAttr) {
		if end == 0 {
			attr.PathMTU = ibv.MTU512
		}
	})
	for i := range 2 {
		w.receive(w.b, uint64(i), 4096)
	}
	w.send(w.a, 10, 512)
	require.Equal(t, []ended{{0, ibv.WCSuccess}, {10, ibv.WCSuccess}}, w.poll())
	w.send(w.a, 11, 513)
	require.Equal(t, []ended{{1, ibv.WCWRFlushErr}, {11, ibv.WCRemInvReqErr}}, w.poll())
	require.Equal(t, ibv.QPSErr, state(t, w.b))
}

// A queue pair can be its own peer, and be ended by what it sends to itself.
func TestOwnPeer(t *testing.T) {
	r := newRig(t)
	w := wire(t, r, ibv.QPTRC, nil)
	own := r.qp(ibv.QPTRC)
	r.connect(own, own, 0, nil)
	w.receive(own, 1, 8)
	w.receive(own, 2, 8)
	w.send(own, 3, 8)
	require.Equal(t, []ended{{1, ibv.WCSuccess}, {3, ibv.WCSuccess}}, w.poll())
	w.send(own, 4, 9) // too long for the receive
	require.Equal(t, []ended{{2, ibv.WCLocLenErr}, {4, ibv.WCWRFlushErr}}, w.poll())
}

// Devices of a fabric reach each other, and those of two fabrics do not.
func TestFabricsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ibvtest.New(t, ibvtest.Devices(2))
		a, b := openRig(t, f, 0), openRig(t, f, 1)
		other := newRig(t)
		far := []*rig{b, other}
		for i, want := range []ibv.WCStatus{ibv.WCSuccess, ibv.WCRetryExcErr} {
			w := wire(t, a, ibv.QPTRC, nil) // for its memory
			here, there := a.qp(ibv.QPTRC), far[i].qp(ibv.QPTRC)
			toward := func(r *rig) func(int, *ibv.QPAttr) {
				gid, err := r.dev.ChooseGID(rdma.GIDChoice{})
				require.NoError(t, err)
				return func(end int, attr *ibv.QPAttr) {
					impatient(end, attr)
					attr.AHAttr.GRH.DGID = gid.GID
				}
			}
			a.connect(here, there, 0, toward(far[i]))
			far[i].connect(there, here, 0, toward(a))
			memory, err := far[i].pd.AllocRegion(64, rdma.RegionOptions{})
			require.NoError(t, err)
			recvs, err := ibv.NewRecvChain(1, 1)
			require.NoError(t, err)
			require.NoError(t, recvs.Set(0, 0, memory.SGE(0, 64)))
			_, err = there.PostRecv(recvs)
			require.NoError(t, err)
			copy(w.memory.Bytes(), "over there")
			w.send(here, 1, 10)
			time.Sleep(giveUp)
			synctest.Wait()
			require.Equal(t, []ended{{1, want}}, w.poll())
			require.Equal(t, want == ibv.WCSuccess, string(memory.Bytes()[:10]) == "over there")
		}
	})
}

// A message with a delay comes when it is over, those behind it after it, and one that is lost is sent again.
func TestDelayAndLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wire(t, newRig(t), ibv.QPTRC, nil)
		const timeout = 4096 * time.Nanosecond << 14
		w.f.OnMessage(func(m *ibvtest.Message) {
			switch m.Nth {
			case 1:
				m.Delay(time.Minute)
			case 3:
				m.Lose()
			}
		})
		for i := range 3 {
			w.receive(w.b, uint64(i), 8)
		}
		for i := range 3 {
			w.send(w.a, uint64(10+i), 8)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		require.Empty(t, w.poll())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, []ended{{0, ibv.WCSuccess}, {10, ibv.WCSuccess}, {1, ibv.WCSuccess}, {11, ibv.WCSuccess}}, w.poll())
		time.Sleep(timeout)
		synctest.Wait()
		require.Equal(t, []ended{{2, ibv.WCSuccess}, {12, ibv.WCSuccess}}, w.poll())
	})
}

// Nothing that waits outlives the fabric or the queue pair.
func TestEndWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wire(t, newRig(t), ibv.QPTRC, nil)
		w.send(w.a, 1, 8)
		require.NoError(t, w.a.Close())
		time.Sleep(time.Second)
		require.Empty(t, w.poll())
		w.send(w.b, 2, 8) // waits for its peer, and the test ends
	})
}

// iWARP has no way to wait for a receive: the connection ends, of which its sender has been told nothing but success.
func TestIWARPWithoutReceive(t *testing.T) {
	w := wire(t, newRig(t, ibvtest.As(ibvtest.Siw)), ibv.QPTRC, nil)
	w.send(w.a, 1, 8)
	require.Equal(t, []ended{{1, ibv.WCSuccess}}, w.poll())
	require.Equal(t, ibv.QPSErr, state(t, w.a))
	require.Equal(t, ibv.QPSErr, state(t, w.b))
	sends, err := ibv.NewSendChain(1, 1)
	require.NoError(t, err)
	w = wire(t, newRig(t, ibvtest.As(ibvtest.Siw)), ibv.QPTRC, nil)
	require.NoError(t, sends.Set(0, 1, ibv.WRSendWithImm, ibv.SendSignaled, w.memory.SGE(0, 8)))
	_, err = w.a.PostSend(sends)
	require.ErrorIs(t, err, syscall.EINVAL)
}

// Where a provider rounds, queues take more than they say.
func TestRounded(t *testing.T) {
	w := wire(t, newRig(t, ibvtest.As(ibvtest.Rxe)), ibv.QPTRC, nil)
	_, made, err := w.a.Query(ibv.QPAttrMaskCap)
	require.NoError(t, err)
	require.EqualValues(t, 8, made.Cap.MaxRecvWR)
	recvs, err := ibv.NewRecvChain(20, 1)
	require.NoError(t, err)
	n, err := w.a.PostRecv(recvs)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Equal(t, 15, n)
}
