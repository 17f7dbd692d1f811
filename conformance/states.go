package conformance

import (
	"errors"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var states = []Scenario{
	{"states", "an RC queue pair moves as it may, and no other way", "ibv_modify_qp(3); IBTA 10.3.1, figure 124", moves(ibv.QPTRC)},
	{"states", "a UC queue pair moves as it may, and no other way", "ibv_modify_qp(3); IBTA 10.3.1, figure 124", moves(ibv.QPTUC)},
	{"states", "a UD queue pair moves as it may, and no other way", "ibv_modify_qp(3); IBTA 10.3.1, figure 124", moves(ibv.QPTUD)},
	{"states", "every attribute that a move needs is needed", "ibv_modify_qp(3); IBTA 11.2.5.2, table 96", needsAll},
	{"states", "a queue pair keeps what it was moved with", "ibv_query_qp(3), ibv_modify_qp(3)", keepsAttributes},
	{"states", "attributes change where they may", "ibv_modify_qp(3); IBTA 11.2.5.2, table 96", changesAttributes},
	{"states", "a wrong state that the caller names is refused", "ibv_modify_qp(3): cur_qp_state", wrongCurrent},
	{"states", "values out of range are refused", "ibv_modify_qp(3); IBTA 11.2.5.2", outOfRange},
	{"states", "a queue pair in RTR receives", "IBTA 10.3.1", receivesInRTR},
	{"states", "a send queue that is drained goes on", "ibv_modify_qp(3): IBV_QPS_SQD; IBTA 10.3.1", drained},
}

// inReset leaves queue pairs in RESET.
func inReset(_ int, opts *rdma.QPOptions) { opts.Reset = true }

// allowed is the moves of a queue pair that a program may ask for, besides those to
// RESET and to ERR, which it may from everywhere but RESET.
var allowed = map[[2]ibv.QPState]bool{
	{ibv.QPSReset, ibv.QPSInit}: true,
	{ibv.QPSInit, ibv.QPSInit}:  true,
	{ibv.QPSInit, ibv.QPSRTR}:   true,
	{ibv.QPSRTR, ibv.QPSRTS}:    true,
	{ibv.QPSRTS, ibv.QPSRTS}:    true,
	{ibv.QPSRTS, ibv.QPSSQD}:    true,
	{ibv.QPSSQD, ibv.QPSSQD}:    true,
	{ibv.QPSSQD, ibv.QPSRTS}:    true,
}

// path is how a queue pair gets to a state.
var path = map[ibv.QPState][]ibv.QPState{
	ibv.QPSReset: {},
	ibv.QPSInit:  {ibv.QPSInit},
	ibv.QPSRTR:   {ibv.QPSInit, ibv.QPSRTR},
	ibv.QPSRTS:   {ibv.QPSInit, ibv.QPSRTR, ibv.QPSRTS},
	ibv.QPSSQD:   {ibv.QPSInit, ibv.QPSRTR, ibv.QPSRTS, ibv.QPSSQD},
	ibv.QPSErr:   {ibv.QPSInit, ibv.QPSErr},
}

// needs is the attributes that a move needs besides the state, by the type.
func needs(typ ibv.QPType, from, to ibv.QPState) (mask ibv.QPAttrMask) {
	switch [2]ibv.QPState{from, to} {
	case [2]ibv.QPState{ibv.QPSReset, ibv.QPSInit}:
		mask = ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskPort
		if typ == ibv.QPTUD {
			return mask | ibv.QPAttrMaskQKey
		}
		return mask | ibv.QPAttrMaskAccessFlags
	case [2]ibv.QPState{ibv.QPSInit, ibv.QPSRTR}:
		switch typ {
		case ibv.QPTRC:
			mask = ibv.QPAttrMaskMaxDestRdAtomic | ibv.QPAttrMaskMinRNRTimer
			fallthrough
		case ibv.QPTUC:
			mask |= ibv.QPAttrMaskAV | ibv.QPAttrMaskPathMTU | ibv.QPAttrMaskDestQPN | ibv.QPAttrMaskRQPSN
		}
	case [2]ibv.QPState{ibv.QPSRTR, ibv.QPSRTS}:
		mask = ibv.QPAttrMaskSQPSN
		if typ == ibv.QPTRC {
			mask |= ibv.QPAttrMaskTimeout | ibv.QPAttrMaskRetryCnt | ibv.QPAttrMaskRNRRetry | ibv.QPAttrMaskMaxQPRdAtomic
		}
	}
	return mask
}

// attributes is right values for all attributes, with the queue pair as its own peer.
func (t *T) attributes(qp *rdma.QP, to ibv.QPState) *ibv.QPAttr {
	gid, port := t.GID(), t.Port()
	return &ibv.QPAttr{
		QPState: to, PortNum: uint8(gid.PortNum), QPAccessFlags: t.All(), QKey: testQKey,
		PathMTU: port.ActiveMTU, DestQPNum: qp.Number(), RQPSN: 0x111111, SQPSN: 0x222222,
		MaxDestRdAtomic: 1, MinRNRTimer: 5, Timeout: 14, RetryCnt: 5, RNRRetry: 4, MaxRdAtomic: 1,
		AHAttr: ibv.AHAttr{DLID: port.LID, PortNum: uint8(gid.PortNum), IsGlobal: 1, GRH: ibv.GlobalRoute{DGID: gid.GID, SGIDIndex: uint8(gid.GIDIndex), HopLimit: 64}},
	}
}

// bring takes a queue pair from RESET to a state.
func (t *T) bring(qp *rdma.QP, state ibv.QPState) {
	from := ibv.QPSReset
	for _, to := range path[state] {
		require.NoError(t, qp.Modify(t.attributes(qp, to), ibv.QPAttrMaskState|needs(qp.Type(), from, to)))
		from = to
	}
	t.settle(qp)
}

// settle waits until a queue pair in SQD is done with draining: before, it need not move on.
func (t *T) settle(qp *rdma.QP) {
	t.Until(func() bool {
		attr, _, err := qp.Query(ibv.QPAttrMaskState)
		require.NoError(t, err)
		return attr.SQDraining == 0
	}, "the end of draining")
}

func (t *T) requireState(qp *rdma.QP, want ibv.QPState) {
	state, err := qp.State()
	require.NoError(t, err)
	require.Equal(t, want, state)
	require.Equal(t, want, qp.Raw().State, "what C's object says")
}

func moves(typ ibv.QPType) func(t *T) {
	return func(t *T) {
		t.Needs(append(typeProperty(typ), Moves)...)
		e, _ := t.Unconnected(PairOptions{Type: typ, Make: inReset})
		for from := ibv.QPSReset; from <= ibv.QPSErr; from++ {
			if path[from] == nil {
				continue
			}
			for to := ibv.QPSReset; to <= ibv.QPSErr; to++ {
				t.bring(e.QP, from)
				t.requireState(e.QP, from)
				may := allowed[[2]ibv.QPState{from, to}] || to == ibv.QPSReset || to == ibv.QPSErr && from != ibv.QPSReset
				err := e.Modify(t.attributes(e.QP, to), ibv.QPAttrMaskState|needs(typ, from, to))
				if may {
					require.NoError(t, err, "from %v to %v", from, to)
					t.requireState(e.QP, to)
					t.settle(e.QP)
				} else {
					require.ErrorIs(t, err, syscall.EINVAL, "from %v to %v", from, to)
					t.requireState(e.QP, from)
				}
				require.NoError(t, e.ToReset())
				t.requireState(e.QP, ibv.QPSReset)
			}
		}
	}
}

func needsAll(t *T) {
	t.Needs(Moves)
	for _, typ := range []ibv.QPType{ibv.QPTRC, ibv.QPTUC, ibv.QPTUD} {
		if p := typeProperty(typ); p != nil && p[0].lacks(t) != "" {
			continue
		}
		e, _ := t.Unconnected(PairOptions{Type: typ, Make: inReset})
		for _, change := range [][2]ibv.QPState{{ibv.QPSReset, ibv.QPSInit}, {ibv.QPSInit, ibv.QPSRTR}, {ibv.QPSRTR, ibv.QPSRTS}} {
			all := needs(typ, change[0], change[1])
			t.bring(e.QP, change[0])
			for bit := ibv.QPAttrMask(1); bit <= all; bit <<= 1 {
				if all&bit != 0 {
					err := e.Modify(t.attributes(e.QP, change[1]), ibv.QPAttrMaskState|all&^bit)
					require.ErrorIs(t, err, syscall.EINVAL, "a %v without %v, from %v to %v", typ, bit, change[0], change[1])
				}
			}
			surplus := ibv.QPAttrMaskSQPSN
			if change[1] == ibv.QPSRTS {
				surplus = ibv.QPAttrMaskPort
			}
			err := e.Modify(t.attributes(e.QP, change[1]), ibv.QPAttrMaskState|all|surplus)
			require.ErrorIs(t, err, syscall.EINVAL, "a %v with %v, from %v to %v", typ, surplus, change[0], change[1])
			t.requireState(e.QP, change[0])
			require.NoError(t, e.Modify(t.attributes(e.QP, change[1]), ibv.QPAttrMaskState|all))
			require.NoError(t, e.ToReset())
		}
	}
}

func keepsAttributes(t *T) {
	t.Needs(Moves)
	e, _ := t.Unconnected(PairOptions{Make: inReset})
	t.bring(e.QP, ibv.QPSRTS)
	want := t.attributes(e.QP, ibv.QPSRTS)
	got, init, err := e.Query(^ibv.QPAttrMask(0) & (ibv.QPAttrMaskDestQPN<<1 - 1))
	if errors.Is(err, errors.ErrUnsupported) {
		t.NotSupported("%v", err)
	}
	require.NoError(t, err)
	require.Equal(t, want.QPState, got.QPState)
	require.Equal(t, want.PortNum, got.PortNum)
	require.Equal(t, want.PathMTU, got.PathMTU)
	require.Equal(t, want.DestQPNum, got.DestQPNum)
	require.Equal(t, want.RQPSN, got.RQPSN)
	require.Equal(t, want.SQPSN, got.SQPSN)
	require.Equal(t, want.QPAccessFlags, got.QPAccessFlags)
	require.Equal(t, want.MinRNRTimer, got.MinRNRTimer)
	require.Equal(t, want.Timeout, got.Timeout)
	require.Equal(t, want.RetryCnt, got.RetryCnt)
	require.Equal(t, want.RNRRetry, got.RNRRetry)
	require.Equal(t, want.AHAttr.GRH.DGID, got.AHAttr.GRH.DGID)
	require.Equal(t, want.AHAttr.GRH.SGIDIndex, got.AHAttr.GRH.SGIDIndex)
	require.Equal(t, want.AHAttr.GRH.HopLimit, got.AHAttr.GRH.HopLimit)
	require.GreaterOrEqual(t, init.Cap.MaxSendWR, e.Cap().MaxSendWR)
	require.GreaterOrEqual(t, init.Cap.MaxRecvWR, e.Cap().MaxRecvWR)
	require.Equal(t, e.SendCQ.Raw(), init.SendCQ)
	require.Equal(t, e.RecvCQ.Raw(), init.RecvCQ)
	require.Equal(t, ibv.QPTRC, init.QPType)
}

func receivesInRTR(t *T) {
	t.Needs(Moves)
	a, b := t.Unconnected(PairOptions{})
	b.Buffers(1, 64)
	b.BecomeRTR(1, a, nil)
	a.BecomeRTR(0, b, nil)
	a.BecomeRTS(0, nil)
	Fill(a.Slot(0, 64), 1)
	a.Send(1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 64))
	t.Done(b.RecvCQ, 1)
	t.Done(a.SendCQ, 1)
	t.Same(a.Slot(0, 64), b.Slot(0, 64))
	b.BecomeRTS(1, nil)
	a.Buffers(1, 64)
	b.Send(1, ibv.WRSend, ibv.SendSignaled, b.Memory.SGE(0, 64))
	t.Done(a.RecvCQ, 1)
}

func drained(t *T) {
	t.Needs(Moves)
	a, b := t.Pair(PairOptions{})
	b.Buffers(3, 64)
	a.Send(1, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	t.Done(a.SendCQ, 1)
	require.NoError(t, a.Modify(&ibv.QPAttr{QPState: ibv.QPSSQD}, ibv.QPAttrMaskState))
	t.requireState(a.QP, ibv.QPSSQD)
	t.settle(a.QP)
	a.Buffers(1, 64)
	b.Send(1, ibv.WRSend, ibv.SendSignaled, b.Memory.SGE(0, 8)) // which it still receives
	t.Done(a.RecvCQ, 1)
	require.NoError(t, a.Modify(&ibv.QPAttr{QPState: ibv.QPSRTS}, ibv.QPAttrMaskState))
	a.Send(2, ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(0, 8))
	require.Equal(t, uint64(2), t.Done(a.SendCQ, 1)[0].WRID)
	t.Done(b.RecvCQ, 2)
}

func changesAttributes(t *T) {
	t.Needs(Moves)
	e, _ := t.Unconnected(PairOptions{Make: inReset})
	t.bring(e.QP, ibv.QPSInit)
	require.NoError(t, e.Modify(&ibv.QPAttr{QPAccessFlags: ibv.AccessRemoteRead}, ibv.QPAttrMaskAccessFlags))
	got, _, err := e.Query(ibv.QPAttrMaskAccessFlags)
	require.NoError(t, err)
	require.Equal(t, ibv.AccessRemoteRead, got.QPAccessFlags)
	t.requireState(e.QP, ibv.QPSInit)
	require.NoError(t, e.ToReset())
	t.bring(e.QP, ibv.QPSRTS)
	require.NoError(t, e.Modify(&ibv.QPAttr{MinRNRTimer: 9}, ibv.QPAttrMaskMinRNRTimer))
	got, _, err = e.Query(ibv.QPAttrMaskMinRNRTimer | ibv.QPAttrMaskTimeout)
	require.NoError(t, err)
	require.EqualValues(t, 9, got.MinRNRTimer)
	require.EqualValues(t, 14, got.Timeout, "as it was")
	err = e.Modify(&ibv.QPAttr{RQPSN: 5}, ibv.QPAttrMaskRQPSN)
	if t.Differs(AttributesChecked) {
		require.NoError(t, err)
	} else {
		require.ErrorIs(t, err, syscall.EINVAL, "not in RTS")
	}
	t.requireState(e.QP, ibv.QPSRTS)
}

func wrongCurrent(t *T) {
	t.Needs(Moves)
	e, _ := t.Unconnected(PairOptions{Make: inReset})
	t.bring(e.QP, ibv.QPSRTS)
	for current := ibv.QPSReset; current <= ibv.QPSErr; current++ {
		err := e.Modify(&ibv.QPAttr{QPState: ibv.QPSRTS, CurQPState: current}, ibv.QPAttrMaskState|ibv.QPAttrMaskCurState)
		if current == ibv.QPSRTS || current == ibv.QPSSQD && t.Differs(StateNamed) {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, syscall.EINVAL, "%v", current)
		}
		t.requireState(e.QP, ibv.QPSRTS)
	}
}

func outOfRange(t *T) {
	t.Needs(Moves)
	device := t.Attr()
	for _, wrong := range []struct {
		what    string
		to      ibv.QPState
		set     func(attr *ibv.QPAttr)
		checked *Property // where providers differ
	}{
		{"port 0", ibv.QPSInit, func(attr *ibv.QPAttr) { attr.PortNum = 0 }, nil},
		{"a port too high", ibv.QPSInit, func(attr *ibv.QPAttr) { attr.PortNum = device.PhysPortCnt + 1 }, nil},
		{"a PKey index too high", ibv.QPSInit, func(attr *ibv.QPAttr) { attr.PKeyIndex = t.Port().PKeyTblLen }, PKeyIndexChecked},
		{"a path MTU that is none", ibv.QPSRTR, func(attr *ibv.QPAttr) { attr.PathMTU = 6 }, nil},
		{"a path MTU beyond the port's", ibv.QPSRTR, func(attr *ibv.QPAttr) { attr.PathMTU = t.Port().MaxMTU + 1 }, nil},
		{"too many reads for the device", ibv.QPSRTR, func(attr *ibv.QPAttr) { attr.MaxDestRdAtomic = 255 }, DestReadsChecked},
		{"a GID index too high", ibv.QPSRTR, func(attr *ibv.QPAttr) { attr.AHAttr.GRH.SGIDIndex = 255 }, nil},
		{"another port than INIT had", ibv.QPSRTR, func(attr *ibv.QPAttr) { attr.AHAttr.PortNum = device.PhysPortCnt + 1 }, nil},
		{"too many reads at once", ibv.QPSRTS, func(attr *ibv.QPAttr) { attr.MaxRdAtomic = 255 }, nil},
		{"a timeout of six bits", ibv.QPSRTS, func(attr *ibv.QPAttr) { attr.Timeout = 32 }, nil},
	} {
		e, _ := t.Unconnected(PairOptions{Make: inReset, Memory: 64})
		way := path[wrong.to]
		from := ibv.QPSReset
		if len(way) > 1 {
			from = way[len(way)-2]
		}
		t.bring(e.QP, from)
		attr := t.attributes(e.QP, wrong.to)
		wrong.set(attr)
		err := e.Modify(attr, ibv.QPAttrMaskState|needs(ibv.QPTRC, from, wrong.to))
		if wrong.checked != nil && t.Differs(wrong.checked) {
			require.NoError(t, err, wrong.what)
		} else {
			require.Error(t, err, wrong.what)
			t.requireState(e.QP, from)
		}
		require.NoError(t, e.Close())
	}
}
