package conformance

import (
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

var xrcScenarios = []Scenario{
	{"XRC", "a message to a shared receive queue", "ibv_create_srq_ex(3), ibv_post_send(3); IBTA A14", xrcMessage},
	{"XRC", "busy domain", "ibv_open_xrcd(3)", xrcBusy},
	{"XRC", "a receiving end opened again", "ibv_open_qp(3)", xrcOpened},
}

// openXRCD opens a domain of the scenario's own.
func openXRCD(t *T) (*ibv.XRCD, error) {
	return t.Device().Raw().OpenXRCD(ibv.XRCDInitAttr{
		CompMask: ibv.XRCDInitAttrFD | ibv.XRCDInitAttrOflags, FD: -1, Oflags: int32(syscall.O_CREAT),
	})
}

// closing closes what is C's at the scenario's end.
func closing[O interface{ Close() error }](t *T, made O) {
	t.Cleanup(func() { require.NoError(t, made.Close()) })
}

// xrc is a receiving end, a shared receive queue, and a sending end.
type xrc struct {
	domain     *ibv.XRCD
	srq        *ibv.SRQ
	cq         *ibv.CQ
	send, recv *ibv.QP
}

func newXRC(t *T) *xrc {
	t.Needs(XRC)
	ctx, pd := t.Device().Raw(), t.PD().Raw()
	x := &xrc{}
	var err error
	x.domain, err = openXRCD(t)
	require.NoError(t, err)
	closing(t, x.domain)
	x.cq, err = ctx.CreateCQ(16)
	require.NoError(t, err)
	closing(t, x.cq)
	x.srq, err = ctx.CreateSRQEx(&ibv.SRQInitAttrEx{
		Attr: ibv.SRQAttr{MaxWR: 8, MaxSGE: 1}, SRQType: ibv.SRQTXRC, PD: pd, XRCD: x.domain, CQ: x.cq,
		CompMask: ibv.SRQInitAttrType | ibv.SRQInitAttrPD | ibv.SRQInitAttrXRCD | ibv.SRQInitAttrCQ,
	})
	require.NoError(t, err)
	closing(t, x.srq)
	x.recv, err = ctx.CreateQPEx(&ibv.QPInitAttrEx{QPType: ibv.QPTXRCRecv, CompMask: ibv.QPInitAttrXRCD, XRCD: x.domain})
	require.NoError(t, err)
	closing(t, x.recv)
	x.send, err = ctx.CreateQPEx(&ibv.QPInitAttrEx{
		QPType: ibv.QPTXRCSend, SendCQ: x.cq, CompMask: ibv.QPInitAttrPD, PD: pd, Cap: ibv.QPCap{MaxSendWR: 8, MaxSendSGE: 1},
	})
	require.NoError(t, err)
	closing(t, x.send)
	for _, ends := range [][2]*ibv.QP{{x.send, x.recv}, {x.recv, x.send}} {
		connectRaw(t, ends[0], ends[1].QPNum)
	}
	return x
}

// connectRaw brings a connected queue pair of C's to RTS.
func connectRaw(t *T, qp *ibv.QP, peer uint32) {
	gid, port := t.GID(), t.Port()
	for _, step := range []struct {
		from ibv.QPState
		attr ibv.QPAttr
	}{
		{ibv.QPSReset, ibv.QPAttr{QPState: ibv.QPSInit, PortNum: uint8(gid.PortNum), QPAccessFlags: t.All()}},
		{ibv.QPSInit, ibv.QPAttr{
			QPState: ibv.QPSRTR, PathMTU: port.ActiveMTU, DestQPNum: peer, MaxDestRdAtomic: 1, MinRNRTimer: 1,
			AHAttr: ibv.AHAttr{
				DLID: port.LID, PortNum: uint8(gid.PortNum), IsGlobal: 1,
				GRH: ibv.GlobalRoute{DGID: gid.GID, SGIDIndex: uint8(gid.GIDIndex), HopLimit: 64},
			},
		}},
		{ibv.QPSRTR, ibv.QPAttr{QPState: ibv.QPSRTS, Timeout: 14, RetryCnt: 6, RNRRetry: 7, MaxRdAtomic: 1}},
	} {
		require.NoError(t, qp.Modify(&step.attr, qp.QPType.Needs(step.from, step.attr.QPState)))
	}
}

// pollRaw takes n completions off a queue of C's.
func pollRaw(t *T, cq *ibv.CQ, n int) []ibv.WC {
	wcs := make([]ibv.WC, n)
	got := 0
	t.Until(func() bool {
		k, err := cq.Poll(wcs[got:])
		require.NoError(t, err)
		got += k
		return got == n
	}, "%d completions", n)
	for i := range wcs {
		require.NoError(t, wcs[i].Err())
	}
	return wcs
}

func xrcMessage(t *T) {
	x := newXRC(t)
	number, err := x.srq.Num()
	require.NoError(t, err)
	memory := t.Region(256, 0)
	_, err = recvs(t, memory, 1, 64).PostSRQ(x.srq)
	require.NoError(t, err)
	Fill(memory.Bytes()[128:192], 6)
	chain := t.Sends(1, 1)
	require.NoError(t, chain.SetSGE(0, 5, ibv.WRSend, ibv.SendSignaled, memory.SGE(128, 64)))
	chain.WR(0).QPType.XRC().RemoteSRQN = number
	_, err = chain.Post(x.send)
	require.NoError(t, err)
	for _, wc := range pollRaw(t, x.cq, 2) {
		switch wc.Opcode {
		case ibv.WCSend:
			require.EqualValues(t, 5, wc.WRID)
		default:
			require.Equal(t, ibv.WCRecv, wc.Opcode)
			require.EqualValues(t, 64, wc.ByteLen)
		}
	}
	require.Equal(t, memory.Bytes()[128:192], memory.Bytes()[:64])
}

func xrcBusy(t *T) {
	x := newXRC(t)
	require.ErrorIs(t, x.domain.Close(), syscall.EBUSY)
}

func xrcOpened(t *T) {
	x := newXRC(t)
	again, err := t.Device().Raw().OpenQP(&ibv.QPOpenAttr{
		CompMask: ibv.QPOpenAttrNum | ibv.QPOpenAttrXRCD | ibv.QPOpenAttrType,
		QPNum:    x.recv.QPNum, XRCD: x.domain, QPType: ibv.QPTXRCRecv,
	})
	require.NoError(t, err)
	require.Equal(t, x.recv.QPNum, again.QPNum)
	require.NoError(t, again.Close())
}
