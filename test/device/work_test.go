//go:build device && linux

package device

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// A queue can be made larger with completions in it, and not smaller than those.
func TestResizeCompletionQueue(t *testing.T) {
	const n = 10
	r := newRig(t)
	cq := r.cq(n)
	sender := r.qpOn(ibv.QPTRC, cq, r.cq(1))
	receiver := r.side(ibv.QPTRC, 1, 1, nil)
	r.connect(sender, receiver.QP)
	mr := r.memory(n)
	writes, err := ibv.NewSendChain(n, 1)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, writes.Set(i, uint64(i), ibv.WRRDMAWrite, ibv.SendSignaled, mr.SGE(i*slot, 1)))
		*writes.WR(i).WR.RDMA() = ibv.SendWRWRRDMA{RemoteAddr: uint64(mr.Addr), RKey: mr.RKey}
	}
	_, err = writes.Post(sender)
	require.NoError(t, err)
	r.poll(cq, 1) // so that a resized queue cannot be a new one
	require.NoError(t, cq.ReqNotify(false))
	require.NoError(t, cq.Resize(500))
	require.GreaterOrEqual(t, cq.CQE, int32(500))
	for i, wc := range r.poll(cq, n-1) {
		require.EqualValues(t, i+1, wc.WRID)
	}
	_, err = writes.Post(sender)
	require.NoError(t, err)
	r.poll(cq, n)
	require.ErrorIs(t, cq.Resize(0), syscall.EINVAL)
	device, err := r.ctx.QueryDevice()
	require.NoError(t, err)
	err = cq.Resize(int(device.MaxCQE) + 1)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, fmt.Sprintf("the number of entries is %d: the device can do %d", device.MaxCQE+1, device.MaxCQE))
}

// An extended queue is a queue: queue pairs complete in it, and it has events.
func TestExtendedCompletionQueue(t *testing.T) {
	r := newRig(t)
	channel := r.channel(false)
	attr := ibv.CQInitAttrEx{CQE: 16, CQContext: cookie, Channel: channel, CompVector: uint32(r.ctx.NumCompVectors) - 1, WCFlags: uint64(ibv.WCExWithByteLen)}
	ex, err := r.ctx.CreateCQEx(&attr)
	if guest.Release(t) < 39 { // Soft-RoCE did not have it at first
		require.ErrorIs(t, err, errors.ErrUnsupported)
		return
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, ex.Close()) }()
	cq := ex.CQ()
	require.Equal(t, cookie, cq.CQContext)
	require.Same(t, channel, cq.Channel)
	require.Same(t, r.ctx, cq.Context)
	require.GreaterOrEqual(t, cq.CQE, int32(16))
	sender := r.side(ibv.QPTRC, 1, 1, nil)
	receiver, err := r.pd.CreateQP(&ibv.QPInitAttr{SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC, Cap: ibv.QPCap{MaxRecvWR: 4, MaxRecvSGE: 1}})
	require.NoError(t, err)
	defer func() { require.NoError(t, receiver.Close()) }()
	r.connect(sender.QP, receiver)
	require.NoError(t, cq.ReqNotify(false))
	mr := r.memory(1)
	_, err = r.recvChain(1, mr).Post(receiver)
	require.NoError(t, err)
	_, err = r.sendChain(1, mr, func(int) int { return 9 }).Post(sender.QP)
	require.NoError(t, err)
	got, context, err := channel.GetCQEvent()
	require.NoError(t, err)
	require.Same(t, cq, got)
	require.Equal(t, cookie, context)
	require.NoError(t, got.AckEvents(1))

	// What the device cannot tell of a completion.
	_, err = r.ctx.CreateCQEx(&ibv.CQInitAttrEx{CQE: 16, WCFlags: uint64(ibv.WCExWithTMInfo)})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = r.ctx.CreateCQEx(&ibv.CQInitAttrEx{CQE: 1 << 30})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "CQE is 1073741824: the device can do")
}

// A queue pair of the extended way is one like others, and one that can be taken as
// a QPEx if it was made with operations.
func TestExtendedQueuePair(t *testing.T) {
	r := newRig(t)
	mr := r.memory(2)
	for _, tt := range []struct {
		name string
		mask ibv.QPInitAttrMask
		ops  ibv.QPCreateSendOpsFlags
	}{
		{"with a protection domain", ibv.QPInitAttrPD, 0},
		{"with operations", ibv.QPInitAttrPD | ibv.QPInitAttrSendOpsFlags, ibv.QPExWithSend | ibv.QPExWithRDMAWrite},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cq := r.cq(64)
			attr := ibv.QPInitAttrEx{
				QPContext: cookie, SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC, PD: r.pd, CompMask: tt.mask, SendOpsFlags: uint64(tt.ops),
				Cap: ibv.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1},
			}
			qp, err := r.ctx.CreateQPEx(&attr)
			if tt.ops != 0 && guest.Release(t) < 39 { // Soft-RoCE did not have it at first
				require.ErrorIs(t, err, errors.ErrUnsupported)
				return
			}
			require.NoError(t, err)
			defer func() { require.NoError(t, qp.Close()) }()
			require.Equal(t, cookie, qp.QPContext)
			require.Same(t, r.pd, qp.PD)
			require.Same(t, cq, qp.SendCQ)
			require.GreaterOrEqual(t, attr.Cap.MaxSendWR, uint32(4))
			peer := r.side(ibv.QPTRC, 1, 4, nil)
			r.connect(qp, peer.QP)
			fill(bytesOf(mr, 0)[:20], 5)
			recvs, err := ibv.NewRecvChain(1, 1)
			require.NoError(t, err)
			require.NoError(t, recvs.Set(0, 1, mr.SGE(slot, slot)))
			_, err = recvs.Post(peer.QP)
			require.NoError(t, err)
			_, err = r.sendChain(1, mr, func(int) int { return 20 }).Post(qp)
			require.NoError(t, err)
			r.poll(cq, 1)
			r.poll(peer.recv, 1)
			requireFilled(t, bytesOf(mr, 1)[:20], 20, 5, 0)
		})
	}
	device, err := r.ctx.QueryDevice()
	require.NoError(t, err)
	cq := r.cq(1)
	_, err = r.ctx.CreateQPEx(&ibv.QPInitAttrEx{
		SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC, PD: r.pd, CompMask: ibv.QPInitAttrPD,
		Cap: ibv.QPCap{MaxSendWR: uint32(device.MaxQPWR) + 1},
	})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "Cap.MaxSendWR is")
}

// udPair is two UD queue pairs that can send and receive.
func (r *rig) udPair(qkey uint32) (a, b side) {
	r.t.Helper()
	a, b = r.side(ibv.QPTUD, 4, 4, nil), r.side(ibv.QPTUD, 4, 4, nil)
	for _, qp := range []side{a, b} {
		r.connectUD(qp.QP, qkey)
	}
	return a, b
}

// udSend is a send on UD of 30 bytes of slot i.
func (r *rig) udSend(from *ibv.QP, mr *ibv.MR, i int, ah *ibv.AH, qpn, qkey uint32) {
	r.t.Helper()
	send := r.sendChain(1, mr, func(int) int { return 30 })
	require.NoError(r.t, send.Set(0, 1, ibv.WRSend, ibv.SendSignaled, mr.SGE(i*slot, 30)))
	*send.WR(0).WR.UD() = ibv.SendWRWRUD{AH: ibv.ToPtr(ah), RemoteQPN: qpn, RemoteQKey: qkey}
	_, err := send.Post(from)
	require.NoError(r.t, err)
}

// What was received on UD is answered by what its completion and its header say.
func TestAnswerOnUD(t *testing.T) {
	const qkey = 0x11223344
	r := newRig(t)
	a, b := r.udPair(qkey)
	from, to := r.memory(2), r.memory(2)
	there, err := r.pd.CreateAHTo(port, r.gid.GIDIndex, r.gid.GID)
	require.NoError(t, err)
	defer func() { require.NoError(t, there.Close()) }()
	fill(bytesOf(from, 0)[:30], 1)
	fill(bytesOf(from, 1)[:30], 2)
	_, err = r.recvChain(1, to).Post(b.QP)
	require.NoError(t, err)
	r.udSend(a.QP, from, 0, there, b.QPNum, qkey)
	r.poll(a.send, 1)
	wc := r.poll(b.recv, 1)[0]
	header, ok := wc.UDHeader(bytesOf(to, 0))
	require.True(t, ok)

	attr, err := r.ctx.InitAHFromWC(port, &wc, &header)
	require.NoError(t, err)
	require.EqualValues(t, 1, attr.IsGlobal)
	require.Equal(t, r.gid.GID, attr.GRH.DGID, "the sender's")
	require.EqualValues(t, r.gid.GIDIndex, attr.GRH.SGIDIndex, "where it arrived")
	require.EqualValues(t, port, attr.PortNum)
	back, err := r.pd.CreateAHFromWC(&wc, &header, port)
	require.NoError(t, err)
	defer func() { require.NoError(t, back.Close()) }()
	wipe(to.Bytes(), 0xee)
	_, err = r.recvChain(1, to).Post(a.QP)
	require.NoError(t, err)
	r.udSend(b.QP, from, 1, back, wc.SrcQP, qkey)
	r.poll(b.send, 1)
	answer := r.poll(a.recv, 1)[0]
	require.Equal(t, b.QPNum, answer.SrcQP)
	payload, err := answer.UDPayload(bytesOf(to, 0))
	require.NoError(t, err)
	requireFilled(t, payload, 30, 2, 0xee)

	// A header that came from elsewhere, and none at all.
	elsewhere := header
	elsewhere.DGID = ibv.GIDOf(netip.MustParseAddr("::ffff:192.0.2.77")) // which is where IPv4 has its addresses
	_, err = r.ctx.InitAHFromWC(port, &wc, &elsewhere)
	require.Error(t, err)
	_, err = r.pd.CreateAHFromWC(&wc, &elsewhere, port)
	require.Error(t, err)
	_, err = r.ctx.InitAHFromWC(port, &wc, &ibv.GRH{})
	require.ErrorIs(t, err, syscall.EPROTONOSUPPORT)
	require.ErrorContains(t, err, "neither an IPv4 nor an IPv6 header")
	_, err = r.ctx.InitAHFromWC(port, &wc, nil)
	require.ErrorIs(t, err, syscall.EINVAL)
}

// What is sent to a multicast group arrives at all queue pairs that are attached to
// it, until they are detached.
func TestMulticast(t *testing.T) {
	const qkey, everybody = 0x11223344, 0xffffff
	r := newRig(t)
	groupAddr := netip.MustParseAddr("239.1.2.3")
	group := ibv.GIDOf(netip.AddrFrom16(groupAddr.As16()))
	// The system loops back what is sent to groups that it is a member of.
	netdev, err := net.InterfaceByName("rx0")
	require.NoError(t, err)
	member, err := net.ListenMulticastUDP("udp4", netdev, &net.UDPAddr{IP: groupAddr.AsSlice(), Port: 9999})
	require.NoError(t, err)
	defer member.Close()

	sender, first := r.udPair(qkey)
	second, third := r.udPair(qkey)
	from, to := r.memory(1), r.memory(3)
	require.NoError(t, first.AttachMcast(group, 0))
	require.NoError(t, second.AttachMcast(group, 0))
	ah, err := r.pd.CreateAHTo(port, r.gid.GIDIndex, group)
	require.NoError(t, err)
	defer func() { require.NoError(t, ah.Close()) }()
	fill(bytesOf(from, 0)[:30], 3)
	receive := func(i int, s side) {
		recv, err := ibv.NewRecvChain(1, 1)
		require.NoError(t, err)
		require.NoError(t, recv.Set(0, uint64(i), to.SGE(i*slot, slot)))
		_, err = recv.Post(s.QP)
		require.NoError(t, err)
	}
	wipe(to.Bytes(), 0xee)
	for i, s := range []side{first, second, third} {
		receive(i, s)
	}
	r.udSend(sender.QP, from, 0, ah, everybody, qkey)
	r.poll(sender.send, 1)
	for i, s := range []side{first, second} {
		wc := r.poll(s.recv, 1)[0]
		payload, err := wc.UDPayload(bytesOf(to, i))
		require.NoError(t, err)
		requireFilled(t, payload, 30, 3, 0xee)
	}
	r.quiet(third.recv)

	require.NoError(t, first.DetachMcast(group, 0))
	receive(0, first)
	receive(1, second)
	r.udSend(sender.QP, from, 0, ah, everybody, qkey)
	r.poll(sender.send, 1)
	r.poll(second.recv, 1)
	r.quiet(first.recv)

	require.ErrorIs(t, first.DetachMcast(group, 0), syscall.EINVAL)
	err = first.AttachMcast(r.gid.GID, 0)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "the GID is not one of a multicast group")
	connected := r.side(ibv.QPTRC, 1, 1, nil)
	require.ErrorIs(t, connected.AttachMcast(group, 0), syscall.EINVAL)
	require.NoError(t, second.DetachMcast(group, 0))
}

// What Soft-RoCE does not have is an error that says so, and is no harm.
func TestUnsupportedWork(t *testing.T) {
	r := newRig(t)
	cq, srq := r.cq(4), r.srq(4)
	qp := r.side(ibv.QPTUD, 1, 1, nil)
	errorOf := func(_ any, err error) error { return err }
	rule, err := ibv.NewFlowAttr(ibv.FlowAttr{Port: port}, &ibv.FlowSpecEth{})
	require.NoError(t, err)
	for name, err := range map[string]error{
		"modify_cq":           cq.Modify(ibv.ModifyCQAttr{AttrMask: ibv.CQAttrModerate, Moderate: ibv.ModerateCQ{CQCount: 1, CQPeriod: 1}}),
		"open_xrcd":           errorOf(r.ctx.OpenXRCD(ibv.XRCDInitAttr{CompMask: ibv.XRCDInitAttrFD | ibv.XRCDInitAttrOflags, FD: -1, Oflags: syscall.O_CREAT})),
		"open_qp":             errorOf(r.ctx.OpenQP(&ibv.QPOpenAttr{CompMask: ibv.QPOpenAttrNum, QPNum: 1})),
		"get_srq_num":         errorOf(srq.Num()),
		"post_srq_ops":        errorOf(srq.PostOps(&ibv.OpsWR{})),
		"rate_limit":          qp.ModifyRateLimit(ibv.QPRateLimitAttr{RateLimit: 1000}),
		"create_wq":           errorOf(r.ctx.CreateWQ(&ibv.WQInitAttr{PD: r.pd, CQ: cq, MaxWR: 1, MaxSGE: 1})),
		"create_flow":         errorOf(qp.CreateFlow(rule)),
		"create_flow_action":  errorOf(r.ctx.CreateFlowActionESP(&ibv.FlowActionESPAttr{ESPAttr: &ibv.FlowActionESP{}}, &ibv.FlowActionESPKeymatAESGCM{}, nil)),
		"create_counters":     errorOf(r.ctx.CreateCounters(ibv.CountersInitAttr{})),
		"query_rt_values_ex":  errorOf(r.ctx.QueryRTValues(ibv.ValuesMaskRawClock)),
		"comp_cntr_caps":      errorOf(r.ctx.QueryCompCntrCaps()),
		"create_comp_cntr":    errorOf(r.ctx.CreateCompCntr(ibv.CompCntrInitAttr{})),
		"qp_attach_comp_cntr": qp.AttachCompCntr(&ibv.CompCntr{Context: r.ctx}, ibv.QPAttachCompCntrAttr{OpMask: ibv.QPAttachCompCntrOpSend}),
	} {
		require.ErrorIs(t, err, errors.ErrUnsupported, name)
		require.ErrorContains(t, err, "rxe0")
	}
	// These are there, and refuse the type; Soft-RoCE had no create_srq_ex at first.
	_, err = r.ctx.CreateSRQEx(&ibv.SRQInitAttrEx{
		CompMask: ibv.SRQInitAttrType | ibv.SRQInitAttrPD | ibv.SRQInitAttrCQ, SRQType: ibv.SRQTTM, PD: r.pd, CQ: cq, Attr: ibv.SRQAttr{MaxWR: 1, MaxSGE: 1},
	})
	require.Error(t, err)
	require.True(t, errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL), "create_srq_ex: %v", err)
	_, err = r.ctx.CreateQPEx(&ibv.QPInitAttrEx{QPType: ibv.QPTXRCRecv, SendCQ: cq, RecvCQ: cq})
	require.Error(t, err)
	require.True(t, errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL), "create_qp_ex: %v", err)
}
