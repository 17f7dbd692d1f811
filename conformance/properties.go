package conformance

import (
	"fmt"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// What devices may do without.
var (
	// ImmediateData is 32 bits beside a message, or beside a write.
	ImmediateData = &Property{Name: "immediate data", lacks: func(t *T) string { return t.refuses(ibv.WRSendWithImm) }}
	// Atomics is compare-and-swap and fetch-and-add on a peer's memory.
	Atomics = &Property{Name: "atomic operations", lacks: func(t *T) string {
		if t.Attr().AtomicCap == ibv.AtomicNone {
			return "the device says that it has no atomic operations"
		}
		return t.refuses(ibv.WRAtomicFetchAndAdd)
	}}
	// UC is unreliable connections.
	UC = &Property{Name: "queue pairs of type UC", lacks: func(t *T) string { return t.lacksType(ibv.QPTUC) }}
	// UD is datagrams.
	UD = &Property{Name: "queue pairs of type UD", lacks: func(t *T) string { return t.lacksType(ibv.QPTUD) }}
	// ReadsScatter is RDMA reads with more than one entry.
	ReadsScatter = &Property{Name: "reads with more than one entry", lacks: func(t *T) string {
		if t.Attr().MaxSGERd == 1 {
			return "the device says that its reads have one entry"
		}
		return ""
	}}
)

// More that devices may do without.
var (
	// RNRRetry is that a message waits for its receive.
	RNRRetry = &Property{Name: "RNR retries", lacks: func(t *T) string {
		if t.provider.IWARP {
			return "iWARP has no RNR retry"
		}
		return ""
	}}
	// Multicast is groups that many datagrams' receivers are attached to.
	Multicast = &Property{Name: "multicast groups", lacks: func(t *T) string {
		if attr := t.Attr(); attr.MaxMcastGrp == 0 || attr.MaxMcastQPAttach == 0 {
			return "the device says that it has no multicast groups"
		}
		return t.lacksType(ibv.QPTUD)
	}}
	// Ethernet is that addresses stand for Ethernet's.
	Ethernet = &Property{Name: "addresses of Ethernet", lacks: func(t *T) string {
		if t.Port().LinkLayer != ibv.LinkLayerEthernet {
			return "the port's link is not Ethernet"
		}
		return ""
	}}
	// Moves is that queue pairs are connected by ibv_modify_qp.
	Moves = &Property{Name: "changes of state to RTR and RTS", lacks: func(t *T) string {
		if !t.provider.IWARP {
			return ""
		}
		a, b := t.Unconnected(PairOptions{Memory: 64})
		if err := a.ToRTR(rdma.Path{Port: 1, MTU: ibv.MTU1024}, rdma.Peer{QPNum: b.Number()}); err != nil {
			return err.Error()
		}
		return ""
	}}
)

// What devices do in their own way.
var (
	// Retries is that a peer which does not answer is asked again, and then given up.
	Retries = &Property{Name: "retries for a peer that does not answer"}
	// RemoteErrors is that a completion says what the peer has refused.
	RemoteErrors = &Property{Name: "completions with the peer's errors"}
	// AttributesChecked is that attributes change in the states alone that are for that.
	AttributesChecked = &Property{Name: "attributes are refused in states that are not for them"}
	// OwnStatus is that a work request that is wrong in itself completes with the reason, and
	// those in front of it as they would without it.
	OwnStatus = &Property{Name: "completions with a queue pair's own errors"}
	// SendKeyStatus is IBV_WC_LOC_PROT_ERR for a wrong lkey of a send or write.
	SendKeyStatus = &Property{Name: "IBV_WC_LOC_PROT_ERR for a wrong lkey of a send"}
	// SendRangeStatus is IBV_WC_LOC_PROT_ERR for an entry of a send that leaves its region.
	SendRangeStatus = &Property{Name: "IBV_WC_LOC_PROT_ERR for a send from outside a region"}
	// RecvBufferStatus is IBV_WC_LOC_PROT_ERR for a receive whose buffers are wrong.
	RecvBufferStatus = &Property{Name: "IBV_WC_LOC_PROT_ERR for wrong buffers of a receive"}
	// RecvLengthStatus is IBV_WC_LOC_LEN_ERR for a receive that is too small.
	RecvLengthStatus = &Property{Name: "IBV_WC_LOC_LEN_ERR for a receive that is too small"}
	// SendLengthStatus is IBV_WC_REM_INV_REQ_ERR for a send that is too long for its receive.
	SendLengthStatus = &Property{Name: "IBV_WC_REM_INV_REQ_ERR for a message that is too long for its receive"}
	// FlushInError is that what is posted in the error state is flushed at once.
	FlushInError = &Property{Name: "posts in the error state are flushed at once"}
	// FlushEver is that what is posted in the error state is flushed at all.
	FlushEver = &Property{Name: "posts in the error state are flushed"}
	// FlushItself is that a queue pair whose work request has failed flushes the others.
	FlushItself = &Property{Name: "a queue pair flushes by itself what is behind a failure"}
	// ReadsChecked is that a region without remote read cannot be read.
	ReadsChecked = &Property{Name: "a peer's reads take remote read access"}
	// StateNamed is that a state which the caller names is the queue pair's own.
	StateNamed = &Property{Name: "cur_qp_state is compared"}
	// PKeyIndexChecked is that an index beyond the P_Key table is refused.
	PKeyIndexChecked = &Property{Name: "pkey_index is checked"}
	// DestReadsChecked is that no more reads to answer are taken than the device says.
	DestReadsChecked = &Property{Name: "max_dest_rd_atomic is checked"}
	// OwnQKey is that a work request's qkey with its highest bit stands for the queue pair's.
	OwnQKey = &Property{Name: "controlled qkeys"}
	// ReceivesInReset is that receives are refused in RESET.
	ReceivesInReset = &Property{Name: "receives are refused in RESET"}
	// EmptyReceives is that receives may be without entries.
	EmptyReceives = &Property{Name: "receives without entries"}
)

// typeProperty is what a type of queue pair takes.
func typeProperty(typ ibv.QPType) []*Property {
	switch typ {
	case ibv.QPTUC:
		return []*Property{UC}
	case ibv.QPTUD:
		return []*Property{UD}
	default:
		return nil
	}
}

// lacksType tries to make a queue pair of the type.
func (t *T) lacksType(typ ibv.QPType) string {
	cq := t.CQ(4, rdma.CQOptions{NoChannel: true})
	qp, err := t.PD().CreateQP(rdma.QPOptions{Type: typ, SendCQ: cq, RecvCQ: cq})
	if err != nil {
		return fmt.Sprintf("the device does not make queue pairs of type %v: %v", typ, err)
	}
	if err := qp.CloseAll(); err != nil {
		t.Errorf("%v", err)
	}
	return ""
}

// refuses tries an operation on iWARP, which need not have it. InfiniBand has it.
func (t *T) refuses(opcode ibv.WROpcode) string {
	if !t.provider.IWARP {
		return ""
	}
	a, _ := t.Unconnected(PairOptions{Memory: 64})
	if err := a.ToErr(); err != nil { // where sends are taken as well
		t.Errorf("%v", err)
		return ""
	}
	sends := t.Sends(1, 1)
	if err := sends.Set(0, 0, opcode, ibv.SendSignaled, a.Memory.SGE(0, 8)); err != nil {
		t.Errorf("%v", err)
	}
	if _, err := a.PostSend(sends); err != nil {
		return fmt.Sprintf("iWARP, and the device refuses %v: %v", opcode, err)
	}
	return ""
}
