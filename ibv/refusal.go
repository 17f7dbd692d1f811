package ibv

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// foreseen is why the kernel would refuse to modify the queue pair, or nothing.
// It is certain where the device's driver asks the table of the kernel's core:
// elsewhere, and where the state that the library knows allows the change, the
// device has the say.
func (qp *QP) foreseen(attr *QPAttr, mask QPAttrMask) []string {
	if len(qp.QPType.objections(qp.State, attr, mask)) == 0 || !qp.Context.asksTable(qp.QPType, mask) {
		return nil
	}
	// The library knows neither that the device has moved it to an error state nor
	// what another handle of it was moved to.
	state, err := qp.queryState()
	if err != nil {
		return nil
	}
	return qp.QPType.objections(state, attr, mask)
}

// queryState asks for the state that the queue pair really is in.
func (qp *QP) queryState() (QPState, error) {
	attr, _, err := qp.Query(QPAttrMaskState)
	return attr.QPState, err
}

// explain puts what can be found out in place of general advice, where C has
// refused to modify the queue pair. C says no more than EINVAL of most mistakes.
func (qp *QP) explain(err error, attr *QPAttr, mask QPAttrMask) error {
	return explainWith(err, func() []string {
		if mask&QPAttrMaskState != 0 && qp.Context.Device.IsIWARP() && (attr.QPState == QPSRTR || attr.QPState == QPSRTS) {
			return []string{"an iWARP queue pair is connected by librdmacm alone (rdma_connect, rdma_accept), which moves it to RTS"}
		}
		return slices.Concat(qp.wrongMask(attr, mask), qp.wrongValues(attr, mask))
	})
}

// explainWith puts what look finds in place of the general advice of C's error.
// What was wrong with the call is the reason, too, where C gave none, as older
// releases do of the way to a peer.
func explainWith(err error, look func() []string) error {
	var e *Error
	if errors.As(err, &e) && !errors.Is(err, errors.ErrUnsupported) {
		if found := look(); len(found) > 0 {
			if e.Hint == noReason {
				e.Errno = syscall.EINVAL
			}
			e.Hint = strings.Join(found, "; ")
		}
	}
	return err
}

// wrongMask says what is wrong with a change of attributes or of the state,
// whoever refused it. Drivers for iWARP have rules of their own.
func (qp *QP) wrongMask(attr *QPAttr, mask QPAttrMask) []string {
	if qp.Context.Device.IsIWARP() {
		return nil
	}
	from := qp.State
	// Who does not know the state says 0, which is RESET.
	if state, err := qp.queryState(); err == nil && state != QPSReset {
		from = state
	}
	return qp.QPType.objections(from, attr, mask)
}

// wrongValues says which of the attributes that mask names are out of range.
func (qp *QP) wrongValues(attr *QPAttr, mask QPAttrMask) []string {
	var found []string
	check := func(bit QPAttrMask, wrong bool, format string, args ...any) {
		if mask&bit != 0 && wrong {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	bits := func(bit QPAttrMask, name string, value uint32, n int) {
		check(bit, value>>n != 0, "%s is %d: it has %d bits", name, value, n)
	}
	bits(QPAttrMaskTimeout, "Timeout", uint32(attr.Timeout), 5)
	bits(QPAttrMaskRetryCnt, "RetryCnt", uint32(attr.RetryCnt), 3)
	bits(QPAttrMaskRNRRetry, "RNRRetry", uint32(attr.RNRRetry), 3)
	bits(QPAttrMaskMinRNRTimer, "MinRNRTimer", uint32(attr.MinRNRTimer), 5)
	bits(QPAttrMaskAltPath, "AltTimeout", uint32(attr.AltTimeout), 5)
	bits(QPAttrMaskRQPSN, "RQPSN", attr.RQPSN, 24)
	bits(QPAttrMaskSQPSN, "SQPSN", attr.SQPSN, 24)
	bits(QPAttrMaskDestQPN, "DestQPNum", attr.DestQPNum, 24)
	check(QPAttrMaskPathMTU, !isMTU(attr.PathMTU), "PathMTU is %d, which is none of the values of MTU", uint32(attr.PathMTU))
	check(QPAttrMaskCurState, attr.CurQPState > QPSErr, "CurQPState is %d, which is none of C's states", uint32(attr.CurQPState))
	if state, err := qp.queryState(); err == nil {
		check(QPAttrMaskCurState, attr.CurQPState <= QPSErr && attr.CurQPState != state, "CurQPState says %v, and the queue pair is in %v", attr.CurQPState, state)
	}
	check(QPAttrMaskAltPath, attr.AltPortNum != attr.AltAHAttr.PortNum, "AltPortNum is %d, and AltAHAttr has port %d: they are the same port", attr.AltPortNum, attr.AltAHAttr.PortNum)
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
	if mask&QPAttrMaskAltPath != 0 {
		found = append(found, qp.Context.wrongWay(&attr.AltAHAttr)...)
	}
	if now, _, err := qp.Query(QPAttrMaskPort); err == nil {
		number := now.PortNum
		if mask&QPAttrMaskPort != 0 {
			number = attr.PortNum
		}
		check(QPAttrMaskAV, number != 0 && attr.AHAttr.PortNum != number, "AHAttr has port %d, and the queue pair port %d", attr.AHAttr.PortNum, number)
		if port, err := qp.Context.QueryPort(uint32(number)); err == nil {
			check(QPAttrMaskPKeyIndex, port.PKeyTblLen != 0 && attr.PKeyIndex >= port.PKeyTblLen, "PKeyIndex is %d: the table of port %d has 0 to %d", attr.PKeyIndex, number, int(port.PKeyTblLen)-1)
			check(QPAttrMaskAltPath, port.LinkLayer == LinkLayerEthernet && !qp.Context.Device.IsIWARP(), "RoCE has no alternate paths")
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
