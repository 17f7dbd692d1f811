//go:build device

package device

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

const everything = access | ibv.AccessRemoteAtomic

// mistake is a work request that cannot succeed, and what the two ends say of it.
type mistake struct {
	typ    ibv.QPType      // RC if it is 0
	access ibv.AccessFlags // of both queue pairs; everything if it is 0
	recv   *ibv.SGE        // what the peer posts, or nothing
	opcode ibv.WROpcode    // of RDMA and atomics; without remote it is a send
	sge    ibv.SGE         // of the send
	remote rdma.Remote     // of RDMA and atomics
	rnr    bool            // the sender tries once more if there is no receive

	send, recved ibv.WCStatus
	hints        []string // that name the cause, of whatever end it is at
}

// Every status that the device has for work that fails comes with a hint at
// what has caused it.
func TestStatuses(t *testing.T) {
	r := newRig(t)
	mr := r.memory(2)
	region := func(flags ibv.AccessFlags) *ibv.MR {
		buf, err := ibv.AllocBuffer(slot)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, buf.Free()) })
		mr, err := r.pd.RegMR(buf, flags)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, mr.Close()) })
		return mr
	}
	readOnly, noAtomics, all := region(0), region(access), region(everything)
	at := func(mr *ibv.MR) rdma.Remote {
		return rdma.Remote{Addr: uint64(mr.Addr), RKey: mr.RKey, Length: slot}
	}
	otherKey := func(b rdma.Remote) rdma.Remote { b.RKey ^= 0x5500; return b }
	beyond := func(b rdma.Remote) rdma.Remote { b.Addr += slot - 1; return b }
	wrong := func(s ibv.SGE) ibv.SGE { s.LKey ^= 0x5500; return s }
	good, outside := mr.SGE(0, 100), mr.SGE(2*slot-5, 100)
	wrongRecv, small, intoReadOnly := wrong(good), mr.SGE(0, 5), readOnly.SGE(0, 100)
	for name, m := range map[string]mistake{
		"send with a wrong lkey":           {sge: wrong(good), send: ibv.WCLocQPOpErr, hints: []string{"a wrong lkey"}},
		"write with a wrong lkey":          {sge: wrong(good), opcode: ibv.WRRDMAWrite, remote: at(all), send: ibv.WCLocQPOpErr, hints: []string{"a wrong lkey"}},
		"UC send with a wrong lkey":        {typ: ibv.QPTUC, sge: wrong(good), send: ibv.WCLocQPOpErr, hints: []string{"a wrong lkey"}},
		"read on UC":                       {typ: ibv.QPTUC, sge: good, opcode: ibv.WRRDMARead, remote: at(all), send: ibv.WCLocQPOpErr, hints: []string{"does not fit the queue pair, as a read on UC"}},
		"send from outside the region":     {sge: outside, send: ibv.WCLocProtErr, hints: []string{"outside its memory region"}},
		"read with a wrong lkey":           {sge: wrong(good), opcode: ibv.WRRDMARead, remote: at(all), send: ibv.WCLocProtErr, hints: []string{"its lkey is wrong"}},
		"read into memory to read":         {sge: intoReadOnly, opcode: ibv.WRRDMARead, remote: at(all), send: ibv.WCLocProtErr, hints: []string{"lacks local write access"}},
		"receive with a wrong lkey":        {recv: &wrongRecv, sge: good, send: ibv.WCRemOpErr, recved: ibv.WCLocQPOpErr, hints: []string{"its own completion says why", "a wrong lkey"}},
		"receive outside the region":       {recv: &outside, sge: good, send: ibv.WCRemOpErr, recved: ibv.WCLocQPOpErr, hints: []string{"its own completion says why", "outside their region"}},
		"receive into memory to read":      {recv: &intoReadOnly, sge: good, send: ibv.WCRemOpErr, recved: ibv.WCLocQPOpErr, hints: []string{"its own completion says why", "without local write access"}},
		"receive that is too small":        {recv: &small, sge: good, send: ibv.WCRemOpErr, recved: ibv.WCLocQPOpErr, hints: []string{"its own completion says why", "buffers are too small"}},
		"write with a wrong rkey":          {sge: good, opcode: ibv.WRRDMAWrite, remote: otherKey(at(all)), send: ibv.WCRemAccessErr, hints: []string{"wrong rkey"}},
		"read with a wrong rkey":           {sge: good, opcode: ibv.WRRDMARead, remote: otherKey(at(all)), send: ibv.WCRemAccessErr, hints: []string{"wrong rkey"}},
		"write beyond the region":          {sge: good, opcode: ibv.WRRDMAWrite, remote: beyond(at(all)), send: ibv.WCRemAccessErr, hints: []string{"outside the region"}},
		"write to memory to read":          {sge: good, opcode: ibv.WRRDMAWrite, remote: at(readOnly), send: ibv.WCRemAccessErr, hints: []string{"without the access flag"}},
		"atomic on memory without atomics": {sge: mr.SGE(0, 8), opcode: ibv.WRAtomicFetchAndAdd, remote: at(noAtomics), send: ibv.WCRemAccessErr, hints: []string{"without the access flag"}},
		"write that is not allowed":        {access: ibv.AccessLocalWrite, sge: good, opcode: ibv.WRRDMAWrite, remote: at(all), send: ibv.WCRemInvReqErr, hints: []string{"access flags (QPAccessFlags) do not allow it"}},
		"read that is not allowed":         {access: ibv.AccessLocalWrite, sge: good, opcode: ibv.WRRDMARead, remote: at(all), send: ibv.WCRemInvReqErr, hints: []string{"access flags (QPAccessFlags) do not allow it"}},
		"atomic that is not allowed":       {access: ibv.AccessLocalWrite, sge: mr.SGE(0, 8), opcode: ibv.WRAtomicFetchAndAdd, remote: at(all), send: ibv.WCRemInvReqErr, hints: []string{"access flags (QPAccessFlags) do not allow it"}},
		"no receive":                       {rnr: true, sge: good, send: ibv.WCRNRRetryExcErr, hints: []string{"no receive work request posted"}},
	} {
		t.Run(name, func(t *testing.T) { r.try(t, m) })
	}
}

func (r *rig) try(t *testing.T, m mistake) {
	if m.typ == 0 {
		m.typ = ibv.QPTRC
	}
	if m.remote == (rdma.Remote{}) {
		m.opcode = ibv.WRSend
	}
	if m.access == 0 {
		m.access = everything
	}
	sender, receiver := r.side(m.typ, 4, 1, nil), r.side(m.typ, 1, 4, nil)
	for _, qp := range []*ibv.QP{sender.QP, receiver.QP} {
		require.NoError(t, toInit(qp, m.access))
	}
	for _, ends := range [][2]*ibv.QP{{sender.QP, receiver.QP}, {receiver.QP, sender.QP}} {
		require.NoError(t, r.toRTR(ends[0], ends[1].QPNum))
		if m.rnr {
			require.NoError(t, move(ends[0], ibv.QPSRTR, ibv.QPAttr{QPState: ibv.QPSRTS, SQPSN: psn, Timeout: 17, RetryCnt: 6, RNRRetry: 1, MaxRdAtomic: 1}))
		} else {
			require.NoError(t, toRTS(ends[0]))
		}
	}
	if m.recv != nil {
		recvs, err := ibv.NewRecvChain(1, 1)
		require.NoError(t, err)
		require.NoError(t, recvs.Set(0, 7, *m.recv))
		_, err = recvs.Post(receiver.QP)
		require.NoError(t, err)
	}
	sends, err := ibv.NewSendChain(1, 1)
	require.NoError(t, err)
	switch m.opcode {
	case ibv.WRRDMAWrite, ibv.WRRDMARead:
		err = sends.SetRDMA(0, 8, m.opcode, ibv.SendSignaled, m.sge, m.remote.Addr, m.remote.RKey)
	case ibv.WRAtomicFetchAndAdd:
		err = sends.SetAtomic(0, 8, m.opcode, ibv.SendSignaled, m.sge, m.remote.Addr, m.remote.RKey, 1, 0)
	default:
		err = sends.SetSGE(0, 8, m.opcode, ibv.SendSignaled, m.sge)
	}
	require.NoError(t, err)
	_, err = sends.Post(sender.QP)
	require.NoError(t, err)
	wcs := r.pollAny(sender.send, 1)
	answered := m.opcode == ibv.WRRDMARead && m.typ == ibv.QPTRC // what it fills is looked at then
	if own := m.send == ibv.WCLocProtErr || m.send == ibv.WCLocQPOpErr; own && !answered && flushesOwnErrors(t) {
		m.send, m.hints = ibv.WCWRFlushErr, []string{"Soft-RoCE since Linux 6.4 says no more"}
	}
	require.Equal(t, m.send, wcs[0].Status, "%v", wcs[0])
	if m.recved != 0 {
		wcs = slices.Concat(wcs, r.pollAny(receiver.recv, 1))
		require.Equal(t, m.recved, wcs[1].Status, "%v", wcs[1])
	} else {
		r.quiet(receiver.recv)
	}
	require.Len(t, m.hints, len(wcs))
	for i := range wcs {
		require.ErrorContains(t, wcs[i].Err(), m.hints[i])
	}
}
