package ibv

// Path is how a connected queue pair reaches its peer.
type Path struct {
	// Port is the local port, from 1.
	Port uint8
	// GIDIndex is the entry of the port's GID table to send from: see
	// [Context.BestGID]. It matters with RoCE, and with InfiniBand across routers.
	GIDIndex uint8
	// MTU is the largest packet, at most the ActiveMTU of both ports.
	MTU MTU
}

// Peer is the other end of a connected queue pair, as it describes itself. The
// two ends tell each other by other means: a socket, or librdmacm.
type Peer struct {
	// QPNum is the number of its queue pair, 24 bits.
	QPNum uint32
	// PSN is the packet sequence number that it starts to send with, 24 bits.
	PSN uint32
	// GID is what it sends from. RoCE needs it; zero leaves it out.
	GID GID
	// LID is its port's, which only InfiniBand has.
	LID uint16
}

// Attributes that programs commonly connect with. Modify sets any others.
const (
	minRNRTimer = 12 // 0.64 ms between attempts to send to an empty receive queue
	ackTimeout  = 14 // 67 ms for the acknowledgement of a packet
	retryCount  = 7  // attempts to send a packet again
	rnrRetry    = 7  // without end, when the receive queue of the peer is empty
	rdAtomic    = 1  // RDMA reads and atomics outstanding
	hopLimit    = 64
)

// ToInit moves a connected queue pair (RC or UC) from RESET to INIT, where
// receives can be posted. access is what the peer may do to memory regions that
// allow it. The partition is the one at index 0 of the port's P_Key table.
func (qp *QP) ToInit(port uint8, access AccessFlags) error {
	if qp.QPType == QPTUD {
		return qp.action("move to INIT", nil).invalid("it is a UD queue pair: use ToInitUD")
	}
	attr := QPAttr{QPState: QPSInit, PortNum: port, QPAccessFlags: access}
	return qp.Modify(&attr, QPAttrMaskState|QPAttrMaskPKeyIndex|QPAttrMaskPort|QPAttrMaskAccessFlags)
}

// ToInitUD moves a UD queue pair from RESET to INIT, where receives can be
// posted. Only senders that know qkey reach it. The partition is as ToInit's.
func (qp *QP) ToInitUD(port uint8, qkey uint32) error {
	attr := QPAttr{QPState: QPSInit, PortNum: port, QKey: qkey}
	return qp.Modify(&attr, QPAttrMaskState|QPAttrMaskPKeyIndex|QPAttrMaskPort|QPAttrMaskQKey)
}

// ToRTR moves an RC queue pair from INIT to RTR, ready to receive from peer:
// with one RDMA read or atomic of the peer's at a time, 0.64 ms for it to wait
// when no receive is posted, and a hop limit of 64. Other values, or a UC queue
// pair, take [QP.Modify].
func (qp *QP) ToRTR(path Path, peer Peer) error {
	switch act := qp.action("move to RTR", nil); {
	case qp.QPType == QPTUD:
		return act.invalid("it is a UD queue pair: use ToRTRUD")
	case path.MTU < MTU256 || path.MTU > MTU4096:
		return act.invalid("the path's MTU is %d: it is one of the values of MTU, such as the port's ActiveMTU", uint32(path.MTU))
	}
	attr := QPAttr{
		QPState:         QPSRTR,
		PathMTU:         path.MTU,
		DestQPNum:       peer.QPNum,
		RQPSN:           peer.PSN,
		MaxDestRdAtomic: rdAtomic,
		MinRNRTimer:     minRNRTimer,
		AHAttr:          AHAttr{DLID: peer.LID, PortNum: path.Port},
	}
	if !peer.GID.IsZero() {
		attr.AHAttr.IsGlobal = 1
		attr.AHAttr.GRH = GlobalRoute{DGID: peer.GID, SGIDIndex: path.GIDIndex, HopLimit: hopLimit}
	}
	return qp.Modify(&attr, QPAttrMaskState|QPAttrMaskAV|QPAttrMaskPathMTU|QPAttrMaskDestQPN|
		QPAttrMaskRQPSN|QPAttrMaskMaxDestRdAtomic|QPAttrMaskMinRNRTimer)
}

// ToRTRUD moves a UD queue pair from INIT to RTR, ready to receive.
func (qp *QP) ToRTRUD() error {
	return qp.Modify(&QPAttr{QPState: QPSRTR}, QPAttrMaskState)
}

// ToRTS moves an RC queue pair from RTR to RTS, ready to send too, starting
// with packet sequence number psn, 24 bits: with a timeout of 67 ms, 7 retries,
// no end of waiting for a peer that has no receive posted, and one RDMA read or
// atomic at a time. Other values, or a UC queue pair, take [QP.Modify].
func (qp *QP) ToRTS(psn uint32) error {
	attr := QPAttr{
		QPState:     QPSRTS,
		SQPSN:       psn,
		Timeout:     ackTimeout,
		RetryCnt:    retryCount,
		RNRRetry:    rnrRetry,
		MaxRdAtomic: rdAtomic,
	}
	return qp.Modify(&attr, QPAttrMaskState|QPAttrMaskSQPSN|QPAttrMaskTimeout|QPAttrMaskRetryCnt|
		QPAttrMaskRNRRetry|QPAttrMaskMaxQPRdAtomic)
}

// ToRTSUD moves a UD queue pair from RTR to RTS, ready to send too, starting
// with packet sequence number psn, 24 bits.
func (qp *QP) ToRTSUD(psn uint32) error {
	return qp.Modify(&QPAttr{QPState: QPSRTS, SQPSN: psn}, QPAttrMaskState|QPAttrMaskSQPSN)
}

// ToErr moves the queue pair to the error state: everything outstanding
// completes with WCWRFlushErr.
func (qp *QP) ToErr() error {
	return qp.Modify(&QPAttr{QPState: QPSErr}, QPAttrMaskState)
}

// ToReset moves the queue pair back to RESET, where it is as new: everything
// outstanding is dropped without a completion.
func (qp *QP) ToReset() error {
	return qp.Modify(&QPAttr{QPState: QPSReset}, QPAttrMaskState)
}
