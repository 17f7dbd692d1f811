package rdma

import (
	"fmt"
	"math"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

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
func (qp *QP) ToInit(port uint32, access ibv.AccessFlags) error {
	if !isConnected(qp.Type()) {
		return qp.wrongMove(ibv.QPSInit, "%s", qp.useInstead("ToInitUD"))
	}
	if err := qp.checkPort(ibv.QPSInit, port); err != nil {
		return err
	}
	return qp.move(ibv.QPSReset, &ibv.QPAttr{QPState: ibv.QPSInit, PortNum: uint8(port), QPAccessFlags: access})
}

// ToInitUD moves a UD queue pair from RESET to INIT, where receives can be
// posted. Only senders that know qkey reach it. The partition is as ToInit's.
func (qp *QP) ToInitUD(port uint32, qkey uint32) error {
	if qp.Type() != ibv.QPTUD {
		return qp.wrongMove(ibv.QPSInit, "%s", qp.useInstead("ToInit"))
	}
	if err := qp.checkPort(ibv.QPSInit, port); err != nil {
		return err
	}
	return qp.move(ibv.QPSReset, &ibv.QPAttr{QPState: ibv.QPSInit, PortNum: uint8(port), QKey: qkey})
}

// ToRTR moves a connected queue pair (RC, UC or XRC) from INIT to RTR, ready to
// receive from peer: with one RDMA read or atomic of the peer's at a time, 0.64
// ms for it to wait when no receive is posted, and a hop limit of 64. Other
// values take [QP.Modify]. On iWARP only librdmacm connects queue pairs.
func (qp *QP) ToRTR(path Path, peer Peer) error {
	switch {
	case !isConnected(qp.Type()):
		return qp.wrongMove(ibv.QPSRTR, "%s", qp.useInstead("ToRTRUD"))
	case path.MTU < ibv.MTU256 || path.MTU > ibv.MTU4096:
		return qp.wrongMove(ibv.QPSRTR, "the path's MTU is %d: it is one of the values of MTU, such as the port's ActiveMTU", uint32(path.MTU))
	case peer.QPNum == 0:
		return qp.wrongMove(ibv.QPSRTR, "the peer's QPNum is 0, which no queue pair has that can be connected: see QP.Number at the peer's")
	case path.GIDIndex > math.MaxUint8:
		return qp.wrongMove(ibv.QPSRTR, "the path's GID index is %d: it has 8 bits", path.GIDIndex)
	}
	if err := qp.checkPort(ibv.QPSRTR, path.Port); err != nil {
		return err
	}
	if err := peer.check(); err != nil {
		return qp.wrongMove(ibv.QPSRTR, "the peer's %v", err)
	}
	return qp.move(ibv.QPSInit, rtrAttr(path, peer, rdAtomic, minRNRTimer))
}

// rtrAttr is what a connected queue pair gets with RTR.
func rtrAttr(path Path, peer Peer, rdAtomic, minRNRTimer uint8) *ibv.QPAttr {
	attr := &ibv.QPAttr{
		QPState:         ibv.QPSRTR,
		PathMTU:         path.MTU,
		DestQPNum:       peer.QPNum,
		RQPSN:           peer.PSN,
		MaxDestRdAtomic: rdAtomic,
		MinRNRTimer:     minRNRTimer,
		AHAttr:          ibv.AHAttr{DLID: peer.LID, PortNum: uint8(path.Port)},
	}
	if !peer.GID.IsZero() {
		attr.AHAttr.IsGlobal = 1
		attr.AHAttr.GRH = ibv.GlobalRoute{DGID: peer.GID, SGIDIndex: uint8(path.GIDIndex), HopLimit: hopLimit}
	}
	return attr
}

// ToRTRUD moves a UD queue pair from INIT to RTR, ready to receive.
func (qp *QP) ToRTRUD() error {
	if qp.Type() != ibv.QPTUD {
		return qp.wrongMove(ibv.QPSRTR, "%s", qp.useInstead("ToRTR"))
	}
	return qp.move(ibv.QPSInit, &ibv.QPAttr{QPState: ibv.QPSRTR})
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
	switch {
	case !isConnected(qp.Type()):
		return qp.wrongMove(ibv.QPSRTS, "%s", qp.useInstead("ToRTSUD"))
	case psn > max24:
		return qp.wrongMove(ibv.QPSRTS, "the packet sequence number is %#x: it has 24 bits", psn)
	}
	return qp.move(ibv.QPSRTR, &ibv.QPAttr{
		QPState:     ibv.QPSRTS,
		SQPSN:       psn,
		Timeout:     ackTimeout,
		RetryCnt:    retryCount,
		RNRRetry:    rnrRetry,
		MaxRdAtomic: rdAtomic,
	})
}

// ToRTSUD moves a UD queue pair from RTR to RTS, ready to send too, starting
// with packet sequence number psn, 24 bits.
func (qp *QP) ToRTSUD(psn uint32) error {
	switch {
	case qp.Type() != ibv.QPTUD:
		return qp.wrongMove(ibv.QPSRTS, "%s", qp.useInstead("ToRTS"))
	case psn > max24:
		return qp.wrongMove(ibv.QPSRTS, "the packet sequence number is %#x: it has 24 bits", psn)
	}
	return qp.move(ibv.QPSRTR, &ibv.QPAttr{QPState: ibv.QPSRTS, SQPSN: psn})
}

// ToErr moves the queue pair to the error state: everything outstanding
// completes with WCWRFlushErr. In RESET, where nothing is outstanding, it is
// refused.
func (qp *QP) ToErr() error {
	return qp.Modify(&ibv.QPAttr{QPState: ibv.QPSErr}, ibv.QPAttrMaskState)
}

// ToReset moves the queue pair back to RESET, where it is as new: everything
// outstanding is dropped without a completion.
func (qp *QP) ToReset() error {
	return qp.Modify(&ibv.QPAttr{QPState: ibv.QPSReset}, ibv.QPAttrMaskState)
}

// move changes the state from one to attr's, with what the change needs.
func (qp *QP) move(from ibv.QPState, attr *ibv.QPAttr) error {
	return qp.Modify(attr, qp.Type().Needs(from, attr.QPState))
}

// isConnected reports whether queue pairs of the type have one peer.
func isConnected(typ ibv.QPType) bool {
	return typ == ibv.QPTRC || typ == ibv.QPTUC || typ == ibv.QPTXRCSend || typ == ibv.QPTXRCRecv
}

// useInstead says what fits a queue pair of another type: the method with that
// name, if it is one that has such methods.
func (qp *QP) useInstead(method string) string {
	if qp.Type() != ibv.QPTUD && !isConnected(qp.Type()) {
		method = "Modify"
	}
	return fmt.Sprintf("it is a queue pair of type %v: use %s", qp.Type(), method)
}

// checkPort refuses what C's ports cannot be.
func (qp *QP) checkPort(to ibv.QPState, port uint32) error {
	if port == 0 || port > math.MaxUint8 {
		return qp.wrongMove(to, "there is no port %d: ports count from 1 to DeviceAttr.PhysPortCnt", port)
	}
	return nil
}

// wrongMove is the error of a move that C was not asked for.
func (qp *QP) wrongMove(to ibv.QPState, format string, args ...any) error {
	if err := qp.lifetime().check("move"); err != nil {
		return err
	}
	return &Error{Op: "move", On: fmt.Sprintf("%v to %v", qp, to), Err: syscall.EINVAL, Hint: fmt.Sprintf(format, args...)}
}
