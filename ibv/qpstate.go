package ibv

import (
	"fmt"
	"math"
)

// Path is how a connected queue pair reaches its peer.
type Path struct {
	// Port is the local port, from 1.
	Port uint32
	// GIDIndex is the entry of the port's GID table to send from, 0 to 255: see
	// [Context.BestGID]. It matters with RoCE, and with InfiniBand across routers.
	GIDIndex uint32
	// MTU is the largest packet, at most the ActiveMTU of both ports.
	MTU MTU
}

// Attributes that programs commonly connect with. Modify sets any others.
const (
	// 0.64 ms between attempts to send to an empty receive queue. A device may wait
	// longer, and Soft-RoCE does. 0 would be 655 ms.
	minRNRTimer = 12
	// 0.54 s for the acknowledgement of a packet, which is what the kernel's connection
	// manager gives RoCE. Less would detect losses sooner, but Soft-RoCE counts the time
	// in which a living peer has no receive posted as unanswered too.
	ackTimeout = 17
	// How often a packet is sent again before the peer counts as dead. Soft-RoCE takes
	// 7, the most that there is, for no end.
	retryCount = 6
	// No end of attempts while a peer that is alive has an empty receive queue, like a
	// receiver in TCP that does not read. A peer that dies meanwhile is noticed by
	// retryCount. Whatever else there is would give up after a second at most, which a
	// peer that is busy needs at times.
	rnrRetry = 7
	// RDMA reads and atomics outstanding. Every device that can do them can do one, and
	// the two ends must agree.
	rdAtomic = 1
	// How many routers a packet may pass. 0 and 1 would keep it in its subnet.
	hopLimit = 64
	// Packet sequence numbers and queue pair numbers have 24 bits.
	max24 = 1<<24 - 1
)

// ToInit moves a connected queue pair (RC, UC or XRC) from RESET to INIT, where
// receives can be posted. access is what the peer may do to memory regions that
// allow it. The partition is the one at index 0 of the port's P_Key table, which
// is the default one where nobody has set up others.
func (qp *QP) ToInit(port uint32, access AccessFlags) error {
	act := qp.moving(QPSInit)
	if !qp.QPType.isConnected() {
		return act.invalid("%s", qp.useInstead("ToInitUD"))
	}
	if err := act.checkPort(port); err != nil {
		return err
	}
	attr := QPAttr{QPState: QPSInit, PortNum: uint8(port), QPAccessFlags: access}
	return qp.Modify(&attr, qp.QPType.needs(QPSReset, QPSInit))
}

// ToInitUD moves a UD queue pair from RESET to INIT, where receives can be
// posted. Only senders that know qkey reach it. The partition is as ToInit's.
func (qp *QP) ToInitUD(port uint32, qkey uint32) error {
	act := qp.moving(QPSInit)
	if qp.QPType != QPTUD {
		return act.invalid("%s", qp.useInstead("ToInit"))
	}
	if err := act.checkPort(port); err != nil {
		return err
	}
	attr := QPAttr{QPState: QPSInit, PortNum: uint8(port), QKey: qkey}
	return qp.Modify(&attr, QPTUD.needs(QPSReset, QPSInit))
}

// ToRTR moves a connected queue pair (RC, UC or XRC) from INIT to RTR, ready to
// receive from peer: with one RDMA read or atomic of the peer's at a time, 0.64
// ms for it to wait when no receive is posted, and a hop limit of 64. Other
// values take [QP.Modify]. On iWARP only librdmacm connects queue pairs.
func (qp *QP) ToRTR(path Path, peer Peer) error {
	act := qp.moving(QPSRTR)
	switch {
	case !qp.QPType.isConnected():
		return act.invalid("%s", qp.useInstead("ToRTRUD"))
	case !isMTU(path.MTU):
		return act.invalid("the path's MTU is %d: it is one of the values of MTU, such as the port's ActiveMTU", uint32(path.MTU))
	case peer.QPNum == 0:
		return act.invalid("the peer's QPNum is 0, which no queue pair has that can be connected: see QP.QPNum at the peer's")
	case path.GIDIndex > math.MaxUint8:
		return act.invalid("the path's GID index is %d: it has 8 bits", path.GIDIndex)
	}
	if err := act.checkPort(path.Port); err != nil {
		return err
	}
	if err := peer.check(); err != nil {
		return act.invalid("the peer's %v", err)
	}
	attr := QPAttr{
		QPState:         QPSRTR,
		PathMTU:         path.MTU,
		DestQPNum:       peer.QPNum,
		RQPSN:           peer.PSN,
		MaxDestRdAtomic: rdAtomic,
		MinRNRTimer:     minRNRTimer,
		AHAttr:          AHAttr{DLID: peer.LID, PortNum: uint8(path.Port)},
	}
	if !peer.GID.IsZero() {
		attr.AHAttr.IsGlobal = 1
		attr.AHAttr.GRH = GlobalRoute{DGID: peer.GID, SGIDIndex: uint8(path.GIDIndex), HopLimit: hopLimit}
	}
	return qp.Modify(&attr, qp.QPType.needs(QPSInit, QPSRTR))
}

// ToRTRUD moves a UD queue pair from INIT to RTR, ready to receive.
func (qp *QP) ToRTRUD() error {
	if qp.QPType != QPTUD {
		return qp.moving(QPSRTR).invalid("%s", qp.useInstead("ToRTR"))
	}
	return qp.Modify(&QPAttr{QPState: QPSRTR}, QPTUD.needs(QPSInit, QPSRTR))
}

// ToRTS moves a connected queue pair (RC, UC or XRC) from RTR to RTS, ready to
// send too, starting with packet sequence number psn, 24 bits, the peer's
// [Peer].PSN of this end. Other values than these take [QP.Modify]:
//
//   - A packet that is not acknowledged in 0.54 s is sent again, 6 times. A peer that
//     has died or is out of reach so ends a send with WCRetryExcErr after 3.8 s;
//     devices may take four times as long.
//   - There is no end of waiting for a peer that lives and has no receive posted: a
//     program that wants one stops waiting itself, with [QP.ToErr]. Soft-RoCE does
//     not tell such a peer from a dead one, and gives up after the same 3.8 s.
//   - One RDMA read or atomic is outstanding at a time.
//
// UC has none of these: a peer that dies is not noticed at all.
func (qp *QP) ToRTS(psn uint32) error {
	act := qp.moving(QPSRTS)
	switch {
	case !qp.QPType.isConnected():
		return act.invalid("%s", qp.useInstead("ToRTSUD"))
	case psn > max24:
		return act.invalid("the packet sequence number is %#x: it has 24 bits", psn)
	}
	attr := QPAttr{
		QPState:     QPSRTS,
		SQPSN:       psn,
		Timeout:     ackTimeout,
		RetryCnt:    retryCount,
		RNRRetry:    rnrRetry,
		MaxRdAtomic: rdAtomic,
	}
	return qp.Modify(&attr, qp.QPType.needs(QPSRTR, QPSRTS))
}

// ToRTSUD moves a UD queue pair from RTR to RTS, ready to send too, starting
// with packet sequence number psn, 24 bits.
func (qp *QP) ToRTSUD(psn uint32) error {
	act := qp.moving(QPSRTS)
	switch {
	case qp.QPType != QPTUD:
		return act.invalid("%s", qp.useInstead("ToRTS"))
	case psn > max24:
		return act.invalid("the packet sequence number is %#x: it has 24 bits", psn)
	}
	return qp.Modify(&QPAttr{QPState: QPSRTS, SQPSN: psn}, QPTUD.needs(QPSRTR, QPSRTS))
}

// ToErr moves the queue pair to the error state: everything outstanding
// completes with WCWRFlushErr. In RESET, where nothing is outstanding, it is
// refused.
func (qp *QP) ToErr() error {
	return qp.Modify(&QPAttr{QPState: QPSErr}, QPAttrMaskState)
}

// ToReset moves the queue pair back to RESET, where it is as new: everything
// outstanding is dropped without a completion.
func (qp *QP) ToReset() error {
	return qp.Modify(&QPAttr{QPState: QPSReset}, QPAttrMaskState)
}

// moving is a change of state for errors, before C is asked.
func (qp *QP) moving(to QPState) action {
	act := qp.action("move", nil)
	act.op += " to " + to.String()
	return act
}

// useInstead says what fits a queue pair of another type: the method with that
// name, if it is one that has such methods.
func (qp *QP) useInstead(method string) string {
	if qp.QPType != QPTUD && !qp.QPType.isConnected() {
		method = "Modify"
	}
	return fmt.Sprintf("it is a queue pair of type %v: use %s", qp.QPType, method)
}

// checkPort refuses what C's ports cannot be.
func (a action) checkPort(port uint32) error {
	if port == 0 || port > math.MaxUint8 {
		return a.invalid("there is no port %d: %s", port, hintPorts)
	}
	return nil
}

const hintPorts = "ports count from 1 to DeviceAttr.PhysPortCnt"
