//go:build !freebsd

package ibv

import "unsafe"

// batchOp is an operation of a work request of a [Batch].
type batchOp uint8

const (
	opNone batchOp = iota
	opSend
	opSendImm
	opSendInv
	opRDMAWrite
	opRDMAWriteImm
	opRDMARead
	opAtomicCmpSwp
	opAtomicFetchAdd
	opAtomicWrite
	opFlush
	opLocalInv
	opBindMW
	opSendTSO
	batchOps
)

// takes is what belongs to an operation.
type takes uint8

const (
	takesData takes = 1 << iota
	takesInline
	takesReceiver
	takesRemote
	takesImm
	takesMore // arguments than three, besides the queue pair
)

// operations are where the provider has its functions, for queue pairs that were
// created with the flag, and what the operations take.
var operations = [batchOps]struct {
	flag  QPCreateSendOpsFlags
	slot  uintptr
	takes takes
}{
	opSend:           {QPExWithSend, unsafe.Offsetof(QPEx{}.WRSend), takesData | takesInline | takesReceiver},
	opSendImm:        {QPExWithSendWithImm, unsafe.Offsetof(QPEx{}.WRSendImm), takesImm | takesData | takesInline | takesReceiver},
	opSendInv:        {QPExWithSendWithInv, unsafe.Offsetof(QPEx{}.WRSendInv), takesData | takesInline | takesReceiver},
	opRDMAWrite:      {QPExWithRDMAWrite, unsafe.Offsetof(QPEx{}.WRRDMAWrite), takesData | takesInline | takesReceiver | takesRemote},
	opRDMAWriteImm:   {QPExWithRDMAWriteWithImm, unsafe.Offsetof(QPEx{}.WRRDMAWriteImm), takesImm | takesData | takesInline | takesReceiver | takesRemote},
	opRDMARead:       {QPExWithRDMARead, unsafe.Offsetof(QPEx{}.WRRDMARead), takesData | takesReceiver | takesRemote},
	opAtomicCmpSwp:   {QPExWithAtomicCmpAndSwp, unsafe.Offsetof(QPEx{}.WRAtomicCmpSwp), takesMore | takesData | takesReceiver | takesRemote},
	opAtomicFetchAdd: {QPExWithAtomicFetchAndAdd, unsafe.Offsetof(QPEx{}.WRAtomicFetchAdd), takesData | takesReceiver | takesRemote},
	opAtomicWrite:    {QPExWithAtomicWrite, unsafe.Offsetof(QPEx{}.WRAtomicWrite), takesReceiver | takesRemote},
	opFlush:          {QPExWithFlush, unsafe.Offsetof(QPEx{}.WRFlush), takesMore | takesReceiver | takesRemote},
	opLocalInv:       {QPExWithLocalInv, unsafe.Offsetof(QPEx{}.WRLocalInv), 0},
	opBindMW:         {QPExWithBindMW, unsafe.Offsetof(QPEx{}.WRBindMW), 0},
	opSendTSO:        {QPExWithTSO, unsafe.Offsetof(QPEx{}.WRSendTSO), takesData | takesReceiver},
}

// String is what the operation is called.
func (op batchOp) String() string {
	return [batchOps]string{
		opNone: "no operation", opSend: "a send", opSendImm: "a send with immediate data", opSendInv: "a send with invalidation",
		opRDMAWrite: "an RDMA write", opRDMAWriteImm: "an RDMA write with immediate data", opRDMARead: "an RDMA read",
		opAtomicCmpSwp: "a compare-and-swap", opAtomicFetchAdd: "a fetch-and-add", opAtomicWrite: "an atomic write",
		opFlush: "a flush", opLocalInv: "a local invalidation", opBindMW: "the binding of a memory window",
		opSendTSO: "a send with TCP segmentation",
	}[op]
}
