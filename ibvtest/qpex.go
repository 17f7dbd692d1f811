//go:build !freebsd

package ibvtest

import (
	"syscall"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// Operations of extended queue pairs, by the types that have them.
const (
	onUD = ibv.QPExWithSend | ibv.QPExWithSendWithImm
	onUC = onUD | ibv.QPExWithRDMAWrite | ibv.QPExWithRDMAWriteWithImm | ibv.QPExWithSendWithInv | ibv.QPExWithLocalInv | ibv.QPExWithBindMW
	onRC = onUC | ibv.QPExWithRDMARead | ibv.QPExWithAtomicCmpAndSwp | ibv.QPExWithAtomicFetchAndAdd
)

// extendedOperations are what a queue pair of a type may be made for.
var extendedOperations = map[ibv.QPType]ibv.QPCreateSendOpsFlags{ibv.QPTUD: onUD, ibv.QPTUC: onUC, ibv.QPTRC: onRC, ibv.QPTXRCSend: onRC}

func init() {
	symbols["ibv_qp_to_qp_ex"] = func(a ccall.Args) (uintptr, syscall.Errno) {
		if qp := of[queuePair](a[0]); qp.batch != nil {
			return address(&qp.raw), 0
		}
		return null, 0
	}
}

// extend makes the queue pair one whose send queue takes batches of operations.
func (qp *queuePair) extend(operations ibv.QPCreateSendOpsFlags) {
	qp.batch = new(batch)
	raw := &qp.raw
	raw.WRStart, raw.WRComplete, raw.WRAbort = opWRStart, opWRComplete, opWRAbort
	raw.WRSetUDAddr, raw.WRSetXRCSRQN = opWRSetUDAddr, opWRSetXRCSRQN
	raw.WRSetSGE, raw.WRSetSGEList = opWRSetSGE, opWRSetSGEList
	raw.WRSetInlineData, raw.WRSetInlineDataList = opWRSetInlineData, opWRSetInlineDataList
	for bit := ibv.QPCreateSendOpsFlags(1); bit <= operations; bit <<= 1 {
		switch operations & bit {
		case ibv.QPExWithSend:
			raw.WRSend = opWRSend
		case ibv.QPExWithSendWithImm:
			raw.WRSendImm = opWRSendImm
		case ibv.QPExWithSendWithInv:
			raw.WRSendInv = opWRSendInv
		case ibv.QPExWithRDMAWrite:
			raw.WRRDMAWrite = opWRRDMAWrite
		case ibv.QPExWithRDMAWriteWithImm:
			raw.WRRDMAWriteImm = opWRRDMAWriteImm
		case ibv.QPExWithRDMARead:
			raw.WRRDMARead = opWRRDMARead
		case ibv.QPExWithAtomicCmpAndSwp:
			raw.WRAtomicCmpSwp = opWRAtomicCmpSwp
		case ibv.QPExWithAtomicFetchAndAdd:
			raw.WRAtomicFetchAdd = opWRAtomicFetchAdd
		case ibv.QPExWithLocalInv:
			raw.WRLocalInv = opWRLocalInv
		case ibv.QPExWithBindMW:
			raw.WRBindMW = opWRBindMW
		}
	}
}

// begins serves a function that begins a work request of an operation.
func begins(name string, opcode ibv.WROpcode, set func(wr *ibv.SendWR, a ccall.Args)) ibv.FuncPtr {
	return serveWR(name, func(qp *queuePair, a ccall.Args) { set(qp.batch.begin(&qp.raw, opcode), a) })
}

// serveWR serves a function of a batch, which has no result.
func serveWR(name string, call func(qp *queuePair, a ccall.Args)) ibv.FuncPtr {
	return serve(ccall.Served{Name: name, Call: func(a ccall.Args) (uintptr, syscall.Errno) {
		call(of[queuePair](a[0]), a)
		return 0, 0
	}})
}

func setRDMA(wr *ibv.SendWR, a ccall.Args) {
	wr.WR.RDMA().RKey, wr.WR.RDMA().RemoteAddr = uint32(a[1]), uint64(a[2])
}

var (
	opWRSend    = begins("wr_send", ibv.WRSend, func(*ibv.SendWR, ccall.Args) {})
	opWRSendImm = begins("wr_send_imm", ibv.WRSendWithImm, func(wr *ibv.SendWR, a ccall.Args) {
		wr.SetImmData(ibv.BE32(uint32(a[1])))
	})
	opWRSendInv = begins("wr_send_inv", ibv.WRSendWithInv, func(wr *ibv.SendWR, a ccall.Args) {
		wr.SetInvalidateRKey(uint32(a[1]))
	})
	opWRRDMAWrite    = begins("wr_rdma_write", ibv.WRRDMAWrite, setRDMA)
	opWRRDMAWriteImm = begins("wr_rdma_write_imm", ibv.WRRDMAWriteWithImm, func(wr *ibv.SendWR, a ccall.Args) {
		setRDMA(wr, a)
		wr.SetImmData(ibv.BE32(uint32(a[3])))
	})
	opWRRDMARead     = begins("wr_rdma_read", ibv.WRRDMARead, setRDMA)
	opWRAtomicCmpSwp = begins("wr_atomic_cmp_swp", ibv.WRAtomicCmpAndSwp, func(wr *ibv.SendWR, a ccall.Args) {
		*wr.WR.Atomic() = ibv.SendWRWRAtomic{RKey: uint32(a[1]), RemoteAddr: uint64(a[2]), CompareAdd: uint64(a[3]), Swap: uint64(a[4])}
	})
	opWRAtomicFetchAdd = begins("wr_atomic_fetch_add", ibv.WRAtomicFetchAndAdd, func(wr *ibv.SendWR, a ccall.Args) {
		*wr.WR.Atomic() = ibv.SendWRWRAtomic{RKey: uint32(a[1]), RemoteAddr: uint64(a[2]), CompareAdd: uint64(a[3])}
	})
	opWRLocalInv = begins("wr_local_inv", ibv.WRLocalInv, func(wr *ibv.SendWR, a ccall.Args) {
		wr.SetInvalidateRKey(uint32(a[1]))
	})
	opWRBindMW = begins("wr_bind_mw", ibv.WRBindMW, func(wr *ibv.SendWR, a ccall.Args) {
		*wr.BindMW() = ibv.SendWRBindMW{MW: ibv.Ptr[ibv.MW](a[1]), RKey: uint32(a[2]), BindInfo: *of[ibv.MWBindInfo](a[3])}
	})
)
