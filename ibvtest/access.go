//go:build !freebsd

package ibvtest

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// piece is some memory of a program.
type piece []byte

// within reports whether n bytes at an offset are within a length.
func within(at, n, length uint64) bool { return at <= length && n <= length-at }

// local appends the memory of the entries of a work request, for a device that reads them, or writes to them. Keys of
// entries without length are not looked at.
func (pd *domain) local(pieces []piece, entries []ibv.SGE, writes bool) ([]piece, ibv.WCStatus) {
	keys, pd := &pd.ctx.dev.keys, pd.itself()
	for i := range entries {
		e := &entries[i]
		if e.Length == 0 {
			continue
		}
		mr := keys.regions[e.LKey]
		if mr == nil || mr.pd != pd || writes && mr.access&ibv.AccessLocalWrite == 0 {
			return pieces, ibv.WCLocProtErr
		}
		at := e.Addr - mr.iova
		if e.Addr < mr.iova || !within(at, uint64(e.Length), mr.raw.Length) {
			return pieces, ibv.WCLocProtErr
		}
		if mr.null {
			pieces = nowhere(pieces, e.Length)
			continue
		}
		pieces = append(pieces, mr.piece(at, e.Length))
	}
	return pieces, ibv.WCSuccess
}

// piece is n bytes of the region, which are there.
func (mr *region) piece(at uint64, n uint32) piece {
	// Safe: they are within the region, whose memory that keeps.
	return unsafe.Slice((*byte)(unsafe.Add(mr.memory, at)), n)
}

// nowhere appends memory of a null region: zeros to read, which may be written to. However much it is, it is the same again
// and again.
func nowhere(pieces []piece, n uint32) []piece {
	const most = 1 << 16
	zeros := make(piece, min(n, most))
	for ; n > most; n -= most {
		pieces = append(pieces, zeros)
	}
	return append(pieces, zeros[:n])
}

// remote is n bytes of memory that a peer of the queue pair names by address and rkey, for what it does, and the region that
// they are of. For no bytes, address and key are not looked at (IBTA C9-88). If the queue pair does not take such
// messages, the status is WCRemInvReqErr, and WCRemAccessErr if the memory is not open for it: what the peer learns.
func (qp *queuePair) remote(addr uint64, rkey uint32, n uint32, need ibv.AccessFlags) (piece, *region, ibv.WCStatus) {
	if need&^qp.attr.QPAccessFlags != 0 {
		return nil, nil, ibv.WCRemInvReqErr
	}
	if n == 0 {
		return nil, nil, ibv.WCSuccess
	}
	open := qp.ctx.dev.keys.remote[rkey]
	mr := open.mr
	if mw := open.mw; mw != nil {
		if mr = mw.mr; !mw.opens(qp, addr, n, need) {
			return nil, nil, ibv.WCRemAccessErr
		}
		if mw.access&ibv.AccessZeroBased != 0 {
			addr += mw.addr
		}
	} else if mr == nil || mr.access&need != need {
		return nil, nil, ibv.WCRemAccessErr
	}
	at := addr - mr.iova
	if mr.pd != qp.pd.itself() || addr < mr.iova || !within(at, uint64(n), mr.raw.Length) {
		return nil, nil, ibv.WCRemAccessErr
	}
	return mr.piece(at, n), mr, ibv.WCSuccess
}

// opens reports whether a peer of the queue pair may do something to n bytes through the window.
func (mw *window) opens(qp *queuePair, addr uint64, n uint32, need ibv.AccessFlags) bool {
	if mw.qp != nil && mw.qp != qp || mw.access&need != need {
		return false
	}
	if mw.access&ibv.AccessZeroBased != 0 {
		return within(addr, uint64(n), mw.length)
	}
	return addr >= mw.addr && within(addr-mw.addr, uint64(n), mw.length)
}
