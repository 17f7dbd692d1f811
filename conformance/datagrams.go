package conformance

import (
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var datagrams = []Scenario{
	{"datagrams", "a message is behind 40 bytes for a header", "ibv_post_recv(3), ibv_poll_cq(3); IBTA 11.4.2.1", datagram},
	{"datagrams", "immediate data arrives beside a datagram", "ibv_post_send(3); IBTA 9.8.3", datagramImmediate},
	{"datagrams", "an empty datagram has the 40 bytes", "ibv_poll_cq(3); IBTA 9.8.3", emptyDatagram},
	{"datagrams", "one queue pair sends to many and hears from many", "IBTA 9.8.3", manyPeers},
	{"datagrams", "a datagram is as long as a packet", "ibv_query_port(3): active_mtu; IBTA 9.8.3", fullDatagram},
	{"datagrams", "a datagram with another qkey is dropped", "ibv_modify_qp(3): qkey; IBTA 10.2.5, 9.6.1.4", wrongQKey},
	{"datagrams", "a datagram that finds no receive is dropped", "IBTA 9.8.3", noReceive},
	{"datagrams", "a datagram to no queue pair is dropped", "IBTA 9.6.1.1, 9.8.3", nobody},
	{"datagrams", "the header and the completion make an answer", "ibv_create_ah_from_wc(3); IBTA 11.2.2", answer},
	{"datagrams", "the header and the message may go to different entries", "ibv_post_recv(3); IBTA 11.4.2.1", scatteredDatagram},
	{"datagrams", "an inline datagram", "ibv_post_send(3): IBV_SEND_INLINE", inlineDatagram},
	{"datagrams", "a datagram longer than a packet completes and does not go", "IBTA C10-93.1.1", longDatagram},
	{"datagrams", "another qkey is another from the change on", "ibv_modify_qp(3): qkey; IBTA 10.2.5", rekeyed},
	{"datagrams", "a qkey with its highest bit stands for the sender's own", "IBTA 10.2.5", ownQKey},
	{"datagrams", "datagrams have sends only", "ibv_post_send(3); IBTA 9.8.3, table 38", onlySends},
	{"datagrams", "what is sent to a group comes to those attached", "ibv_attach_mcast(3); IBTA 10.5", multicast},
	{"datagrams", "who is attached twice hears once", "ibv_attach_mcast(3); IBTA 11.3.1", attachedTwice},
	{"datagrams", "a queue pair is busy while it is in a group", "ibv_destroy_qp(3)", busyInGroup},
	{"datagrams", "a group has no more members than the device says", "ibv_query_device(3): max_mcast_qp_attach; IBTA 11.3.1", fullGroup},
	{"datagrams", "groups are for datagrams and multicast addresses only", "ibv_attach_mcast(3); IBTA 11.3", notMulticast},
}

const (
	testQKey    = 0x11223344
	udBuffer    = ibv.GRHLength + 256
	anyReceiver = 0xffffff
)

// datagrammers is n UD ends that can send, and the address of the device itself.
func (t *T) datagrammers(n int) ([]*End, *rdma.AH) { return t.datagrammersWith(n, 0) }

// datagrammersWith is datagrammers that may send so much inline.
func (t *T) datagrammersWith(n int, inline uint32) ([]*End, *rdma.AH) {
	t.Needs(UD)
	ends := make([]*End, n)
	for i := range ends {
		e := t.end(i, PairOptions{Type: ibv.QPTUD, Cap: ibv.QPCap{MaxInlineData: inline}, Make: func(_ int, opts *rdma.QPOptions) { opts.QKey = testQKey }})
		require.NoError(t, e.ToRTRUD())
		require.NoError(t, e.ToRTSUD(1))
		ends[i] = e
	}
	return ends, t.AH(t.GID().GID)
}

// AH is the way to a port's or a group's GID.
func (t *T) AH(gid ibv.GID) *rdma.AH {
	ah, err := t.PD().CreateAH(rdma.AHOptions{GID: gid, LID: t.Port().LID, From: t.GID()})
	require.NoError(t, err)
	return ah
}

// datagram posts a datagram of n bytes from an offset of Memory.
func (e *End) datagram(ah *rdma.AH, qpn, qkey uint32, offset, n int) {
	sends := e.t.Sends(1, 1)
	require.NoError(e.t, sends.SetUD(0, 21, ibv.WRSend, ibv.SendSignaled, e.Memory.SGE(offset, n), ah.Raw(), qpn, qkey))
	e.Post(sends)
	require.Equal(e.t, uint64(21), e.t.Done(e.SendCQ, 1)[0].WRID)
}

// requireDatagram requires that buffer i has what is at an offset of the sender's memory.
func (e *End) requireDatagram(wc *ibv.WC, from *End, offset, n int) {
	require.NoError(e.t, wc.Err())
	require.Equal(e.t, ibv.WCRecv, wc.Opcode)
	require.EqualValues(e.t, ibv.GRHLength+n, wc.ByteLen)
	require.Equal(e.t, from.Number(), wc.SrcQP)
	require.Equal(e.t, e.Number(), wc.QPNum)
	got := e.Slot(int(wc.WRID), udBuffer)[ibv.GRHLength:]
	e.t.Same(from.Memory.Bytes()[offset:offset+n], got[:n])
	e.t.Same(make([]byte, len(got)-n), got[n:], "behind the message")
}

func datagram(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	Fill(a.Memory.Bytes(), 4)
	b.Buffers(3, udBuffer)
	for i := range 3 {
		a.datagram(ah, b.Number(), testQKey, 1000*i, 100+i)
		wc := t.Poll(b.RecvCQ, 1)[0]
		require.EqualValues(t, i, wc.WRID)
		b.requireDatagram(&wc, a, 1000*i, 100+i)
	}
}

func datagramImmediate(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	b.Buffers(1, udBuffer)
	sends := t.Sends(1, 1)
	require.NoError(t, sends.SetUD(0, 21, ibv.WRSendWithImm, ibv.SendSignaled, a.Memory.SGE(0, 7), ah.Raw(), b.Number(), testQKey))
	sends.WR(0).SetImmData(ibv.ToBE32(0x0a0b0c8d))
	a.Post(sends)
	wc := t.Done(b.RecvCQ, 1)[0]
	require.NotZero(t, wc.WCFlags&ibv.WCWithImm)
	require.Equal(t, uint32(0x0a0b0c8d), wc.ImmData().Host())
	t.Done(a.SendCQ, 1)
}

func emptyDatagram(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	b.Buffers(1, udBuffer)
	sends := t.Sends(1, 0)
	*sends.WR(0).WR.UD() = ibv.SendWRWRUD{AH: ibv.ToPtr(ah.Raw()), RemoteQPN: b.Number(), RemoteQKey: testQKey}
	a.Post(sends)
	require.EqualValues(t, ibv.GRHLength, t.Done(b.RecvCQ, 1)[0].ByteLen)
	t.Done(a.SendCQ, 1)
}

func manyPeers(t *T) {
	ends, ah := t.datagrammers(4)
	for i, e := range ends {
		Fill(e.Memory.Bytes()[8192:], i)
		e.Buffers(3, udBuffer)
	}
	one := ends[0]
	for _, e := range ends[1:] {
		one.datagram(ah, e.Number(), testQKey, 8192, 50)
		wc := t.Poll(e.RecvCQ, 1)[0]
		e.requireDatagram(&wc, one, 8192, 50)
		e.datagram(ah, one.Number(), testQKey, 8192, 60)
		wc = t.Poll(one.RecvCQ, 1)[0]
		one.requireDatagram(&wc, e, 8192, 60)
	}
}

func fullDatagram(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	n := 128 << t.Port().ActiveMTU // bytes
	recvs := t.Recvs(1, 1)
	require.NoError(t, recvs.Set(0, 0, b.Memory.SGE(0, ibv.GRHLength+n)))
	b.Expect(recvs)
	Fill(a.Memory.Bytes(), 1)
	a.datagram(ah, b.Number(), testQKey, 0, n)
	wc := t.Done(b.RecvCQ, 1)[0]
	require.EqualValues(t, ibv.GRHLength+n, wc.ByteLen)
	t.Same(a.Memory.Bytes()[:n], b.Memory.Bytes()[ibv.GRHLength:ibv.GRHLength+n])
}

func wrongQKey(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	Fill(a.Memory.Bytes(), 1)
	b.Buffers(2, udBuffer)
	a.datagram(ah, b.Number(), testQKey+1, 0, 10)
	a.datagram(ah, b.Number(), testQKey, 20, 11)
	wc := t.Poll(b.RecvCQ, 1)[0]
	require.Zero(t, wc.WRID, "the first receive")
	b.requireDatagram(&wc, a, 20, 11)
	t.Quiet(b.RecvCQ)
}

func noReceive(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	Fill(a.Memory.Bytes(), 1)
	a.datagram(ah, b.Number(), testQKey, 0, 10)
	a.datagram(ah, a.Number(), testQKey, 0, 10) // and one to itself, by when the first is gone
	b.Buffers(2, udBuffer)
	a.datagram(ah, b.Number(), testQKey, 20, 11)
	wc := t.Poll(b.RecvCQ, 1)[0]
	b.requireDatagram(&wc, a, 20, 11)
	t.Quiet(b.RecvCQ)
}

func nobody(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	Fill(a.Memory.Bytes()[8192:], 1)
	number := b.Number()
	require.NoError(t, b.Close())
	a.datagram(ah, number, testQKey, 0, 10) // which completes
	a.Buffers(1, udBuffer)
	a.datagram(ah, a.Number(), testQKey, 8192, 10)
	wc := t.Poll(a.RecvCQ, 1)[0]
	a.requireDatagram(&wc, a, 8192, 10)
}

func answer(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	b.Buffers(1, udBuffer)
	a.datagram(ah, b.Number(), testQKey, 0, 10)
	wc := t.Done(b.RecvCQ, 1)[0]
	header, ok := wc.UDHeader(b.Slot(0, udBuffer))
	if t.Port().LinkLayer == ibv.LinkLayerEthernet {
		require.True(t, ok, "RoCE has a header in every packet")
	}
	back, err := t.PD().CreateAHFromWC(&wc, &header, t.GID().PortNum)
	require.NoError(t, err)
	a.Buffers(1, udBuffer)
	Fill(b.Memory.Bytes()[8192:], 2)
	b.datagram(back, wc.SrcQP, testQKey, 8192, 33)
	wc = t.Poll(a.RecvCQ, 1)[0]
	a.requireDatagram(&wc, b, 8192, 33)
}

func scatteredDatagram(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	Fill(a.Memory.Bytes(), 1)
	recvs := t.Recvs(1, 3)
	require.NoError(t, recvs.Set(0, 0, b.Memory.SGE(1000, ibv.GRHLength), b.Memory.SGE(0, 10), b.Memory.SGE(500, 200)))
	b.Expect(recvs)
	sends := t.Sends(1, 2)
	require.NoError(t, sends.Set(0, 1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 70), a.Memory.SGE(300, 30)))
	*sends.WR(0).WR.UD() = ibv.SendWRWRUD{AH: ibv.ToPtr(ah.Raw()), RemoteQPN: b.Number(), RemoteQKey: testQKey}
	a.Post(sends)
	require.EqualValues(t, ibv.GRHLength+100, t.Done(b.RecvCQ, 1)[0].ByteLen)
	from, to := a.Memory.Bytes(), b.Memory.Bytes()
	t.Same(from[:10], to[:10])
	t.Same(from[10:70], to[500:560])
	t.Same(from[300:330], to[560:590])
	t.Same(make([]byte, 110), to[590:700])
	t.Done(a.SendCQ, 1)
}

func inlineDatagram(t *T) {
	ends, ah := t.datagrammersWith(2, 40)
	a, b := ends[0], ends[1]
	b.Buffers(1, udBuffer)
	data := make([]byte, 40)
	Fill(data, 1)
	want := append([]byte(nil), data...)
	sends := t.Sends(1, 1)
	require.NoError(t, sends.SetInline(0, 1, ibv.WRSend, ibv.SendSignaled, data))
	*sends.WR(0).WR.UD() = ibv.SendWRWRUD{AH: ibv.ToPtr(ah.Raw()), RemoteQPN: b.Number(), RemoteQKey: testQKey}
	a.Post(sends)
	clear(data)
	wc := t.Done(b.RecvCQ, 1)[0]
	payload, err := wc.UDPayload(b.Slot(0, udBuffer))
	require.NoError(t, err)
	t.Same(want, payload)
	t.Done(a.SendCQ, 1)
}

func longDatagram(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	n := 128<<t.Port().ActiveMTU + 1
	recvs := t.Recvs(2, 1)
	require.NoError(t, recvs.Set(0, 0, b.Memory.SGE(0, ibv.GRHLength+n)))
	require.NoError(t, recvs.Set(1, 1, b.Memory.SGE(0, ibv.GRHLength+n)))
	b.Expect(recvs)
	sends := t.Sends(1, 1)
	require.NoError(t, sends.SetUD(0, 21, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, n), ah.Raw(), b.Number(), testQKey))
	a.Post(sends)
	t.Done(a.SendCQ, 1)
	a.datagram(ah, b.Number(), testQKey, 0, 10)
	require.EqualValues(t, ibv.GRHLength+10, t.Done(b.RecvCQ, 1)[0].ByteLen)
	t.Quiet(b.RecvCQ)
}

func rekeyed(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	Fill(a.Memory.Bytes(), 1)
	b.Buffers(2, udBuffer)
	require.NoError(t, b.Modify(&ibv.QPAttr{QKey: testQKey + 5}, ibv.QPAttrMaskQKey))
	a.datagram(ah, b.Number(), testQKey, 0, 10)
	a.datagram(ah, b.Number(), testQKey+5, 20, 11)
	wc := t.Poll(b.RecvCQ, 1)[0]
	b.requireDatagram(&wc, a, 20, 11)
	t.Quiet(b.RecvCQ)
}

func onlySends(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	for _, opcode := range []ibv.WROpcode{ibv.WRRDMAWrite, ibv.WRRDMARead} {
		sends := t.Sends(1, 1)
		require.NoError(t, sends.SetUD(0, 1, opcode, ibv.SendSignaled, a.Memory.SGE(0, 8), ah.Raw(), b.Number(), testQKey))
		if _, err := a.PostSend(sends); err == nil {
			require.Error(t, t.Poll(a.SendCQ, 1)[0].Err(), "%v", opcode)
			return // it is in the error state now
		}
	}
}

func ownQKey(t *T) {
	ends, ah := t.datagrammers(2)
	a, b := ends[0], ends[1]
	Fill(a.Memory.Bytes(), 1)
	b.Buffers(2, udBuffer)
	a.datagram(ah, b.Number(), 1<<31|1, 0, 10)
	if t.Differs(OwnQKey) {
		a.datagram(ah, b.Number(), testQKey, 20, 11)
		wc := t.Poll(b.RecvCQ, 1)[0]
		b.requireDatagram(&wc, a, 20, 11)
		t.Quiet(b.RecvCQ)
		return
	}
	wc := t.Poll(b.RecvCQ, 1)[0]
	b.requireDatagram(&wc, a, 0, 10)
	require.NoError(t, a.Modify(&ibv.QPAttr{QKey: testQKey + 1}, ibv.QPAttrMaskQKey))
	a.datagram(ah, b.Number(), 1<<31|1, 0, 10) // which is another now
	a.datagram(ah, b.Number(), testQKey, 20, 11)
	wc = t.Poll(b.RecvCQ, 1)[0]
	b.requireDatagram(&wc, a, 20, 11)
	t.Quiet(b.RecvCQ)
}
