//go:build !freebsd

package ibv

import (
	"unsafe"

	"github.com/goverbs/goverbs/clib"
)

// BatchEntry is what a work request of a [Batch] was set to.
type BatchEntry struct {
	Opcode WROpcode
	WRID   uint64
	Flags  SendFlags
	SGEs   []SGE  // its data in registered memory
	Inline uint64 // how many bytes it sends inline, if Flags has SendInline
	// The receiver of a work request on UD. AH is nil where SetUD was not called.
	AH        *AH
	RemoteQPN uint32
}

// opcodes are what the operations of batches are called in a [SendWR].
var opcodes = [batchOps]WROpcode{
	opSend: WRSend, opSendImm: WRSendWithImm, opSendInv: WRSendWithInv, opRDMAWrite: WRRDMAWrite, opRDMAWriteImm: WRRDMAWriteWithImm,
	opRDMARead: WRRDMARead, opAtomicCmpSwp: WRAtomicCmpAndSwp, opAtomicFetchAdd: WRAtomicFetchAndAdd, opAtomicWrite: WRAtomicWrite,
	opFlush: WRFlush, opLocalInv: WRLocalInv, opBindMW: WRBindMW, opSendTSO: WRTSO,
}

// Entry is work request i as it was set; ok is false if it lacks something. Like an
// index of a slice, i must be there. The entries are a copy. It is for those who look
// for mistakes.
func (b *Batch) Entry(i int) (e BatchEntry, ok bool) {
	if b.parts[i].lacks != 0 {
		return BatchEntry{}, false
	}
	s := &b.steps[i]
	e = BatchEntry{Opcode: opcodes[b.parts[i].op], WRID: s.WRID, Flags: SendFlags(s.Flags)}
	if s.Address != 0 && b.qp.QPBase.QPType == QPTUD {
		e.AH, e.RemoteQPN = clib.At[AH](s.AddressArgs[0]), uint32(s.AddressArgs[1])
	}
	switch s.Data {
	case 0:
	case b.qp.at(unsafe.Offsetof(QPEx{}.WRSetInlineData)):
		e.Inline = uint64(s.DataArgs[1])
	case b.qp.at(unsafe.Offsetof(QPEx{}.WRSetInlineDataList)):
		for _, piece := range b.entries[i*b.maxSGE:][:s.DataArgs[0]] {
			// Safe: a list of pieces has its room there, and its elements are as large.
			e.Inline += (*DataBuf)(unsafe.Pointer(&piece)).Length
		}
	case b.qp.at(unsafe.Offsetof(QPEx{}.WRSetSGE)):
		e.SGEs = []SGE{{LKey: uint32(s.DataArgs[0]), Addr: uint64(s.DataArgs[1]), Length: uint32(s.DataArgs[2])}}
	default:
		e.SGEs = append(e.SGEs, b.entries[i*b.maxSGE:][:s.DataArgs[0]]...)
	}
	return e, true
}
