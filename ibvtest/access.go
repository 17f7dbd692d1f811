//go:build !freebsd

package ibvtest

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// remote is n bytes of memory that a peer of the queue pair names by address and rkey, for what it does, and the region
// that they are of.
func (qp *queuePair) remote(addr uint64, rkey uint32, n uint32, need ibv.AccessFlags) (piece, *region, ibv.WCStatus) {
	if need&^qp.attr.QPAccessFlags != 0 {
		return nil, nil, ibv.WCRemInvReqErr
	}
	if n == 0 {
		return nil, nil, ibv.WCSuccess
	}
	mr := qp.ctx.dev.regions[rkey]
	if mr == nil || mr.pd != qp.pd.itself() || mr.access&need != need {
		return nil, nil, ibv.WCRemAccessErr
	}
	at := addr - mr.iova
	if addr < mr.iova || at > mr.raw.Length || uint64(n) > mr.raw.Length-at {
		return nil, nil, ibv.WCRemAccessErr
	}
	// Safe: it is within the region, whose memory that keeps.
	return unsafe.Slice((*byte)(unsafe.Add(mr.memory, at)), n), mr, ibv.WCSuccess
}

// bind carries out a work request that binds a window.
func (qp *queuePair) bind(*ibv.SendWR) ibv.WCStatus { return ibv.WCMWBindErr }

// invalidate has an rkey be of nothing.
func (qp *queuePair) invalidate(uint32) bool { return false }
