package conformance

import (
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// mistake is a work request that cannot succeed, and what the two ends say of it.
type mistake struct {
	name, basis string
	access      ibv.AccessFlags // of the queue pairs; 0 is all
	opcode      ibv.WROpcode
	// local is the entry of the work request, remote what it names at the peer, and recv
	// the entry of the peer's receive. nil is what is right.
	local, recv func(t *T, e *End) ibv.SGE
	remote      func(t *T, e *End) rdma.Remote

	send, recved           ibv.WCStatus // 0 for no completion
	sendDiffer, recvDiffer *Property    // where providers differ in that
	unchecked              *Property    // where they do it
}

const mistakeLength = 100

// What may be wrong with memory.

func wrongKey(_ *T, e *End) ibv.SGE {
	sge := e.Memory.SGE(0, mistakeLength)
	sge.LKey ^= 0x5500
	return sge
}

func outside(_ *T, e *End) ibv.SGE {
	return e.Memory.SGE(e.Memory.Len()-mistakeLength+1, mistakeLength)
}

func before(_ *T, e *End) ibv.SGE {
	sge := e.Memory.SGE(0, mistakeLength)
	sge.Addr--
	return sge
}

func readOnly(t *T, _ *End) ibv.SGE {
	return t.Region(mistakeLength, ibv.AccessRemoteRead).SGE(0, mistakeLength)
}

func closed(t *T, _ *End) ibv.SGE {
	region := t.Region(mistakeLength, 0)
	sge := region.SGE(0, mistakeLength)
	require.NoError(t, region.Close())
	return sge
}

func small(_ *T, e *End) ibv.SGE { return e.Memory.SGE(0, mistakeLength-1) }

func (t *T) foreign() *rdma.Region {
	pd, err := t.Device().AllocPD()
	require.NoError(t, err)
	region, err := pd.AllocRegion(mistakeLength, rdma.RegionOptions{Access: t.All()})
	require.NoError(t, err)
	return region
}

func foreign(t *T, _ *End) ibv.SGE { return t.foreign().SGE(0, mistakeLength) }

func wrongRKey(_ *T, e *End) rdma.Remote {
	remote := e.Remote(0, mistakeLength)
	remote.RKey ^= 0x5500
	return remote
}

func beyond(_ *T, e *End) rdma.Remote {
	remote := e.Remote(0, mistakeLength)
	remote.Addr += uint64(e.Memory.Len() - mistakeLength + 1)
	return remote
}

func inFront(_ *T, e *End) rdma.Remote {
	remote := e.Remote(0, mistakeLength)
	remote.Addr--
	return remote
}

func with(access ibv.AccessFlags) func(t *T, _ *End) rdma.Remote {
	return func(t *T, _ *End) rdma.Remote {
		remote, err := t.Region(mistakeLength, access).Remote(0, mistakeLength)
		require.NoError(t, err)
		return remote
	}
}

func foreignRemote(t *T, _ *End) rdma.Remote {
	remote, err := t.foreign().Remote(0, mistakeLength)
	require.NoError(t, err)
	return remote
}

func closedRemote(t *T, _ *End) rdma.Remote {
	region := t.Region(mistakeLength, 0)
	remote, err := region.Remote(0, mistakeLength)
	require.NoError(t, err)
	require.NoError(t, region.Close())
	return remote
}

var protection = func() (scenarios []Scenario) {
	const (
		local   = "IBTA 10.6.3, 11.6.2; RFC 5040 7"
		remotes = "IBTA 9.7.4.1, 10.6.3.2; RFC 5040 7"
		qpFlags = "ibv_modify_qp(3): qp_access_flags; IBTA 9.7.4.1"
		lengths = "ibv_post_recv(3); IBTA 9.7.4.1.6, 9.9"
	)
	for _, m := range []mistake{
		{name: "a send with a wrong lkey", basis: local, opcode: ibv.WRSend, local: wrongKey, send: ibv.WCLocProtErr, sendDiffer: SendKeyStatus},
		{name: "a send with the lkey of a closed region", basis: local, opcode: ibv.WRSend, local: closed, send: ibv.WCLocProtErr, sendDiffer: SendKeyStatus},
		{name: "a send with the lkey of another protection domain", basis: local, opcode: ibv.WRSend, local: foreign, send: ibv.WCLocProtErr, sendDiffer: SendKeyStatus},
		{name: "a send from behind the region", basis: local, opcode: ibv.WRSend, local: outside, send: ibv.WCLocProtErr, sendDiffer: SendRangeStatus},
		{name: "a send from in front of the region", basis: local, opcode: ibv.WRSend, local: before, send: ibv.WCLocProtErr, sendDiffer: SendRangeStatus},
		{name: "a write with a wrong lkey", basis: local, opcode: ibv.WRRDMAWrite, local: wrongKey, send: ibv.WCLocProtErr, sendDiffer: SendKeyStatus},
		{name: "a read with a wrong lkey", basis: local, opcode: ibv.WRRDMARead, local: wrongKey, send: ibv.WCLocProtErr},
		{name: "a read into a region without local write", basis: "ibv_reg_mr(3); IBTA 10.6.3.1", opcode: ibv.WRRDMARead, local: readOnly, send: ibv.WCLocProtErr},
		{name: "a read to behind the region", basis: local, opcode: ibv.WRRDMARead, local: outside, send: ibv.WCLocProtErr},

		{name: "a receive with a wrong lkey", basis: local, opcode: ibv.WRSend, recv: wrongKey, send: ibv.WCRemOpErr, recved: ibv.WCLocProtErr, recvDiffer: RecvBufferStatus},
		{name: "a receive with the lkey of a closed region", basis: local, opcode: ibv.WRSend, recv: closed, send: ibv.WCRemOpErr, recved: ibv.WCLocProtErr, recvDiffer: RecvBufferStatus},
		{name: "a receive with the lkey of another protection domain", basis: local, opcode: ibv.WRSend, recv: foreign, send: ibv.WCRemOpErr, recved: ibv.WCLocProtErr, recvDiffer: RecvBufferStatus},
		{name: "a receive to behind the region", basis: local, opcode: ibv.WRSend, recv: outside, send: ibv.WCRemOpErr, recved: ibv.WCLocProtErr, recvDiffer: RecvBufferStatus},
		{name: "a receive into a region without local write", basis: "ibv_reg_mr(3); IBTA 10.6.3.1", opcode: ibv.WRSend, recv: readOnly, send: ibv.WCRemOpErr, recved: ibv.WCLocProtErr, recvDiffer: RecvBufferStatus},
		{name: "a receive that is too small", basis: lengths, opcode: ibv.WRSend, recv: small, send: ibv.WCRemInvReqErr, recved: ibv.WCLocLenErr, sendDiffer: SendLengthStatus, recvDiffer: RecvLengthStatus},

		{name: "a write with a wrong rkey", basis: remotes, opcode: ibv.WRRDMAWrite, remote: wrongRKey, send: ibv.WCRemAccessErr},
		{name: "a write with the rkey of a closed region", basis: remotes, opcode: ibv.WRRDMAWrite, remote: closedRemote, send: ibv.WCRemAccessErr},
		{name: "a write with the rkey of another protection domain", basis: remotes, opcode: ibv.WRRDMAWrite, remote: foreignRemote, send: ibv.WCRemAccessErr},
		{name: "a write to behind the region", basis: remotes, opcode: ibv.WRRDMAWrite, remote: beyond, send: ibv.WCRemAccessErr},
		{name: "a write to in front of the region", basis: remotes, opcode: ibv.WRRDMAWrite, remote: inFront, send: ibv.WCRemAccessErr},
		{name: "a write to a region without remote write", basis: "ibv_reg_mr(3); " + remotes, opcode: ibv.WRRDMAWrite, remote: with(ibv.AccessLocalWrite | ibv.AccessRemoteRead), send: ibv.WCRemAccessErr},
		{name: "a read with a wrong rkey", basis: remotes, opcode: ibv.WRRDMARead, remote: wrongRKey, send: ibv.WCRemAccessErr},
		{name: "a read from behind the region", basis: remotes, opcode: ibv.WRRDMARead, remote: beyond, send: ibv.WCRemAccessErr},
		{name: "a read from a region without remote read", basis: "ibv_reg_mr(3); " + remotes, opcode: ibv.WRRDMARead, remote: with(ibv.AccessLocalWrite | ibv.AccessRemoteWrite), send: ibv.WCRemAccessErr, unchecked: ReadsChecked},
		{name: "an atomic operation with a wrong rkey", basis: remotes, opcode: ibv.WRAtomicFetchAndAdd, remote: wrongRKey, send: ibv.WCRemAccessErr},
		{name: "an atomic operation on a region without remote atomics", basis: "ibv_reg_mr(3); " + remotes, opcode: ibv.WRAtomicFetchAndAdd, remote: with(ibv.AccessLocalWrite | ibv.AccessRemoteRead | ibv.AccessRemoteWrite), send: ibv.WCRemAccessErr},

		{name: "a write that the queue pair does not allow", basis: qpFlags, access: ibv.AccessLocalWrite | ibv.AccessRemoteRead, opcode: ibv.WRRDMAWrite, send: ibv.WCRemInvReqErr},
		{name: "a read that the queue pair does not allow", basis: qpFlags, access: ibv.AccessLocalWrite | ibv.AccessRemoteWrite, opcode: ibv.WRRDMARead, send: ibv.WCRemInvReqErr},
		{name: "an atomic operation that the queue pair does not allow", basis: qpFlags, access: ibv.AccessLocalWrite | ibv.AccessRemoteRead | ibv.AccessRemoteWrite, opcode: ibv.WRAtomicFetchAndAdd, send: ibv.WCRemInvReqErr},
	} {
		scenarios = append(scenarios, Scenario{"protection", m.name, m.basis, m.run})
	}
	return scenarios
}()

func (m mistake) run(t *T) {
	if m.opcode == ibv.WRAtomicFetchAndAdd {
		t.Needs(Atomics)
	}
	if m.access != 0 {
		t.Needs(Moves) // by which a queue pair gets its access flags
	}
	a, b := t.Pair(PairOptions{Access: m.access})
	Fill(a.Memory.Bytes(), 1)
	Fill(b.Memory.Bytes(), 2)
	wasA, wasB := append([]byte(nil), a.Memory.Bytes()...), append([]byte(nil), b.Memory.Bytes()...)
	sge, remote := a.Memory.SGE(0, mistakeLength), b.Remote(0, mistakeLength)
	if m.local != nil {
		sge = m.local(t, a)
	}
	if m.remote != nil {
		remote = m.remote(t, b)
	}
	recvs := t.Recvs(2, 1)
	for i := range 2 {
		require.NoError(t, recvs.Set(i, uint64(i), b.Memory.SGE(4096*i, mistakeLength)))
	}
	if m.recv != nil {
		require.NoError(t, recvs.Set(0, 0, m.recv(t, b)))
	}
	b.Expect(recvs)
	sends := t.Sends(1, 1)
	switch m.opcode {
	case ibv.WRAtomicFetchAndAdd:
		sge.Length = 8
		require.NoError(t, sends.SetAtomic(0, 8, m.opcode, ibv.SendSignaled, sge, remote.Addr, remote.RKey, 1, 0))
	case ibv.WRRDMAWrite, ibv.WRRDMARead:
		require.NoError(t, sends.SetRDMA(0, 8, m.opcode, ibv.SendSignaled, sge, remote.Addr, remote.RKey))
	default:
		require.NoError(t, sends.Set(0, 8, m.opcode, ibv.SendSignaled, sge))
	}
	a.Post(sends)
	if m.unchecked != nil && t.Differs(m.unchecked) {
		t.Done(a.SendCQ, 1)
		return
	}
	m.judge(t, a, b)
	require.NoError(t, b.Close()) // which has receives still
	t.Same(wasA, a.Memory.Bytes(), "of the sender")
	t.Same(wasB, b.Memory.Bytes(), "of the peer")
}

// judge looks at what the two ends say.
func (m mistake) judge(t *T, a, b *End) {
	if m.local == nil && t.Differs(RemoteErrors) {
		if m.opcode == ibv.WRRDMARead {
			require.Equal(t, ibv.WCWRFlushErr, t.Poll(a.SendCQ, 1)[0].Status)
			if t.Differs(FlushItself) {
				t.Quiet(b.RecvCQ)
				require.NoError(t, b.ToErr())
			}
		}
		for i, wc := range t.Poll(b.RecvCQ, 2) {
			require.Error(t, wc.Err())
			require.Equal(t, uint64(i), wc.WRID)
		}
		return
	}
	want := m.send
	if m.sendDiffer != nil {
		want = t.Status(m.sendDiffer, want)
	}
	if m.local != nil && m.opcode != ibv.WRRDMARead { // what reads fill is looked at when the answer is there
		want = t.Status(OwnStatus, want)
	}
	wc := t.Poll(a.SendCQ, 1)[0]
	require.Equal(t, want, wc.Status)
	require.Equal(t, uint64(8), wc.WRID)
	require.Equal(t, a.Number(), wc.QPNum)
	if m.recved == 0 {
		return
	}
	want = m.recved
	if m.recvDiffer != nil {
		want = t.Status(m.recvDiffer, want)
	}
	wcs := t.Poll(b.RecvCQ, 2)
	require.Equal(t, want, wcs[0].Status)
	require.Equal(t, uint64(0), wcs[0].WRID)
	require.Equal(t, ibv.WCWRFlushErr, wcs[1].Status, "the receive behind it")
}
