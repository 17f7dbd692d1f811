//go:build !freebsd

package ibvtest

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// write has a peer write to memory of the responder's (IBTA 9.4.3). One with immediate data takes a receive, whose memory
// is not used.
func (qp *queuePair) write(w *sendWork, n uint32) answer {
	immediate := w.wr.Opcode == ibv.WRRDMAWriteWithImm
	if immediate && qp.receives.next() == nil {
		return qp.notReadyNow()
	}
	to := w.wr.WR.RDMA()
	memory, mr, status := qp.remote(to.RemoteAddr, to.RKey, n, ibv.AccessRemoteWrite)
	if status != ibv.WCSuccess {
		return qp.fails(status, ibv.WCSuccess)
	}
	if end := qp.peers.write(&w.own, mr, memory, qp.ctx.f.here, qp.raw.QPBase.QPType == ibv.QPTRC); end != wholly {
		return qp.faulted(end == toFaults)
	}
	if immediate {
		qp.peers.place(&w.own, &qp.receives.next().own, nil)
		wc := ibv.WC{Opcode: ibv.WCRecvRDMAWithImm, ByteLen: n, WCFlags: ibv.WCWithImm}
		wc.SetImmData(w.wr.ImmData())
		qp.receives.complete(qp, &wc, w.is(ibv.SendSolicited))
	}
	return answer{kind: acknowledged}
}

// read has a peer read memory of the responder's (IBTA 9.4.4).
func (qp *queuePair) read(w *sendWork, n uint32) answer {
	if qp.attr.MaxDestRdAtomic == 0 {
		return qp.fails(ibv.WCRemInvReqErr, ibv.WCSuccess)
	}
	from := w.wr.WR.RDMA()
	memory, mr, status := qp.remote(from.RemoteAddr, from.RKey, n, ibv.AccessRemoteRead)
	if status != ibv.WCSuccess {
		return qp.fails(status, ibv.WCSuccess)
	}
	f := qp.ctx.f
	f.there = append(f.there[:0], memory)
	qp.peers.read(&w.own, mr, memory)
	if end := scatter(f.here, f.there); end != wholly {
		return qp.faulted(end == fromFaults)
	}
	return answer{kind: acknowledged}
}

// faulted is for a message to or from memory that is not there any more: the responder's, or the requester's.
func (qp *queuePair) faulted(own bool) answer {
	if own {
		return qp.fails(ibv.WCRemAccessErr, ibv.WCSuccess)
	}
	return answer{kind: refused, status: ibv.WCLocProtErr}
}

// atomic has a peer change 8 bytes of the responder's memory, and learn what was there (IBTA 9.4.5). They are a number as
// the machine has them.
func (qp *queuePair) atomic(w *sendWork) answer {
	to := w.wr.WR.Atomic()
	if qp.attr.MaxDestRdAtomic == 0 || to.RemoteAddr%atomicLength != 0 {
		return qp.fails(ibv.WCRemInvReqErr, ibv.WCSuccess)
	}
	memory, mr, status := qp.remote(to.RemoteAddr, to.RKey, atomicLength, ibv.AccessRemoteAtomic)
	if status != ibv.WCSuccess {
		return qp.fails(status, ibv.WCSuccess)
	}
	if !aligned(memory) {
		return qp.fails(ibv.WCRemInvReqErr, ibv.WCSuccess)
	}
	swaps, operand, swap := w.wr.Opcode == ibv.WRAtomicCmpAndSwp, to.CompareAdd, to.Swap
	before, there := qp.peers.change(&w.own, mr, memory, func(word *uint64) uint64 {
		if swaps {
			return compareAndSwap(word, operand, swap)
		}
		return fetchAndAdd(word, operand)
	})
	if !there {
		return qp.faulted(true)
	}
	f := qp.ctx.f
	f.number = before
	f.there = append(f.there[:0], bytesOf(&f.number))
	if scatter(f.here, f.there) != wholly {
		return qp.faulted(false)
	}
	return answer{kind: acknowledged}
}

// atomicLength is how many bytes an atomic operation is about.
const atomicLength = 8

// bytesOf is a number as memory has it.
func bytesOf(n *uint64) piece {
	// Safe: it is as large.
	return unsafe.Slice((*byte)(unsafe.Pointer(n)), atomicLength)
}
