package ibv

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// required is the attributes that a queue pair of a type must get on its way
// from RESET to INIT, RTR and RTS: the tables of ibv_modify_qp(3), and for XRC
// those of the InfiniBand specification.
var required = map[QPType]struct{ init, rtr, rts QPAttrMask }{
	QPTRC:        {initConnected, rtrConnected | rtrResponds, rtsSends | rtsRequests},
	QPTUC:        {initConnected, rtrConnected, rtsSends},
	QPTXRCSend:   {initConnected, rtrConnected, rtsSends | rtsRequests},
	QPTXRCRecv:   {initConnected, rtrConnected | rtrResponds, rtsSends | QPAttrMaskTimeout},
	QPTUD:        {QPAttrMaskState | QPAttrMaskPKeyIndex | QPAttrMaskPort | QPAttrMaskQKey, QPAttrMaskState, rtsSends},
	QPTRawPacket: {QPAttrMaskState | QPAttrMaskPort, QPAttrMaskState, QPAttrMaskState},
}

const (
	initConnected = QPAttrMaskState | QPAttrMaskPKeyIndex | QPAttrMaskPort | QPAttrMaskAccessFlags
	rtrConnected  = QPAttrMaskState | QPAttrMaskAV | QPAttrMaskPathMTU | QPAttrMaskDestQPN | QPAttrMaskRQPSN
	rtrResponds   = QPAttrMaskMaxDestRdAtomic | QPAttrMaskMinRNRTimer
	rtsSends      = QPAttrMaskState | QPAttrMaskSQPSN
	rtsRequests   = QPAttrMaskMaxQPRdAtomic | QPAttrMaskRetryCnt | QPAttrMaskRNRRetry | QPAttrMaskTimeout
)

// next is the states that a queue pair can move to.
var next = map[QPState][]QPState{
	QPSReset: {QPSInit, QPSReset},
	QPSInit:  {QPSInit, QPSRTR, QPSErr, QPSReset},
	QPSRTR:   {QPSRTS, QPSErr, QPSReset},
	QPSRTS:   {QPSRTS, QPSSQD, QPSErr, QPSReset},
	QPSSQD:   {QPSSQD, QPSRTS, QPSErr, QPSReset},
	QPSSQE:   {QPSRTS, QPSErr, QPSReset},
	QPSErr:   {QPSErr, QPSReset},
}

// isConnected reports whether queue pairs of the type have one peer.
func (v QPType) isConnected() bool {
	return v == QPTRC || v == QPTUC || v == QPTXRCSend || v == QPTXRCRecv
}

// explain puts what can be found out in place of general advice, where C has
// refused to modify the queue pair. C says no more than EINVAL of most mistakes.
func (qp *QP) explain(err error, attr *QPAttr, mask QPAttrMask) error {
	return explainWith(err, func() []string {
		if mask&QPAttrMaskState != 0 && qp.Context.Device.isIWARP() && (attr.QPState == QPSRTR || attr.QPState == QPSRTS) {
			return []string{"an iWARP queue pair is connected by librdmacm alone (rdma_connect, rdma_accept), which moves it to RTS"}
		}
		return slices.Concat(qp.wrongMove(attr, mask), qp.wrongValues(attr, mask))
	})
}

// explainWith puts what look finds in place of the general advice of C's error.
func explainWith(err error, look func() []string) error {
	var e *Error
	if errors.As(err, &e) && !errors.Is(err, errors.ErrUnsupported) {
		if found := look(); len(found) > 0 {
			e.Hint = strings.Join(found, "; ")
		}
	}
	return err
}

// wrongMove says what is wrong with a change of state.
func (qp *QP) wrongMove(attr *QPAttr, mask QPAttrMask) []string {
	if mask&QPAttrMaskState == 0 {
		return nil
	}
	from, to := qp.State, attr.QPState
	// The library does not notice when the device moves it to an error state.
	if q, _, err := qp.Query(QPAttrMaskState); err == nil && (q.QPState == QPSErr || q.QPState == QPSSQE) {
		from = q.QPState
	}
	if states, known := next[from]; known && !slices.Contains(states, to) {
		return []string{fmt.Sprintf("from %v it can move to %s", from, or(states))}
	}
	need := required[qp.QPType]
	var missing QPAttrMask
	switch {
	case from == QPSReset && to == QPSInit:
		missing = need.init &^ mask
	case from == QPSInit && to == QPSRTR:
		missing = need.rtr &^ mask
	case from == QPSRTR && to == QPSRTS:
		missing = need.rts &^ mask
	}
	if missing != 0 {
		return []string{fmt.Sprintf("for a queue pair of type %v the mask lacks %v", qp.QPType, missing)}
	}
	return nil
}

// or lists states.
func or(states []QPState) string {
	words := make([]string, len(states))
	for i, s := range states {
		words[i] = s.String()
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// wrongValues says which of the attributes that mask names are out of range.
func (qp *QP) wrongValues(attr *QPAttr, mask QPAttrMask) []string {
	var found []string
	check := func(bit QPAttrMask, wrong bool, format string, args ...any) {
		if mask&bit != 0 && wrong {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	check(QPAttrMaskTimeout, attr.Timeout > 31, "Timeout is %d: it has 5 bits", attr.Timeout)
	check(QPAttrMaskRetryCnt, attr.RetryCnt > 7, "RetryCnt is %d: it has 3 bits", attr.RetryCnt)
	check(QPAttrMaskRNRRetry, attr.RNRRetry > 7, "RNRRetry is %d: it has 3 bits", attr.RNRRetry)
	check(QPAttrMaskMinRNRTimer, attr.MinRNRTimer > 31, "MinRNRTimer is %d: it has 5 bits", attr.MinRNRTimer)
	check(QPAttrMaskPathMTU, !isMTU(attr.PathMTU), "PathMTU is %d, which is none of the values of MTU", uint32(attr.PathMTU))
	if device, err := qp.Context.QueryDevice(); err == nil {
		check(QPAttrMaskPort, attr.PortNum == 0 || attr.PortNum > device.PhysPortCnt, "PortNum is %d: the device's ports are 1 to %d", attr.PortNum, device.PhysPortCnt)
		check(QPAttrMaskMaxQPRdAtomic, int32(attr.MaxRdAtomic) > device.MaxQPInitRdAtom, "MaxRdAtomic is %d: the device can do %d", attr.MaxRdAtomic, device.MaxQPInitRdAtom)
		check(QPAttrMaskMaxDestRdAtomic, int32(attr.MaxDestRdAtomic) > device.MaxQPRdAtom, "MaxDestRdAtomic is %d: the device can do %d", attr.MaxDestRdAtomic, device.MaxQPRdAtom)
	}
	if mask&QPAttrMaskAV != 0 {
		found = append(found, qp.Context.wrongWay(&attr.AHAttr)...)
		if port, err := qp.Context.QueryPort(uint32(attr.AHAttr.PortNum)); err == nil && isMTU(attr.PathMTU) {
			check(QPAttrMaskPathMTU, attr.PathMTU > port.ActiveMTU, "PathMTU is %v, the port has %v", attr.PathMTU, port.ActiveMTU)
		}
	}
	return found
}

func isMTU(v MTU) bool { return v >= MTU256 && v <= MTU4096 }

// wrongWay says what is wrong with the way to a peer.
func (ctx *Context) wrongWay(way *AHAttr) []string {
	number, index := uint32(way.PortNum), uint32(way.GRH.SGIDIndex)
	if number == 0 {
		return []string{"the port is 0: ports count from 1"}
	}
	port, err := ctx.QueryPort(number)
	if err != nil {
		return []string{fmt.Sprintf("the device has no port %d", number)}
	}
	switch {
	case way.IsGlobal == 0 && port.LinkLayer == LinkLayerEthernet:
		return []string{"RoCE needs the peer's GID, and IsGlobal"}
	case way.IsGlobal == 0:
		return nil
	case way.GRH.DGID.IsZero():
		return []string{"the peer's GID is zero"}
	}
	own, err := ctx.QueryGID(number, index)
	switch theirs := way.GRH.DGID; {
	case err != nil:
		return []string{fmt.Sprintf("port %d has no GID index %d: its table has 0 to %d", number, index, port.GIDTblLen-1)}
	case own.IsZero():
		return []string{fmt.Sprintf("GID index %d of port %d has no entry: see Context.GIDs", index, number)}
	case port.LinkLayer == LinkLayerEthernet && own.Addr().Is4In6() != theirs.Addr().Is4In6():
		return []string{fmt.Sprintf("GID index %d of port %d is %v, which does not reach %v: one of them is an IPv4 address, and the other is not; see Context.BestGID", index, number, own, theirs)}
	}
	return nil
}
