//go:build !freebsd

package ibvtest

import (
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// batch is the work requests of an extended queue pair between wr_start and wr_complete.
type batch struct {
	mu  sync.Mutex // held from wr_start to wr_complete or wr_abort
	wrs []batched
}

// batched is a work request of a batch. Its memory is used again.
type batched struct {
	wr      ibv.SendWR
	entries []ibv.SGE
	inline  []byte
}

var (
	opWRStart = serveWR("wr_start", func(qp *queuePair, _ ccall.Args) {
		qp.batch.mu.Lock()
		qp.batch.wrs = qp.batch.wrs[:0]
	})
	opWRAbort    = serveWR("wr_abort", func(qp *queuePair, _ ccall.Args) { qp.batch.mu.Unlock() })
	opWRComplete = serve(ccall.Served{Name: "wr_complete", Call: func(a ccall.Args) (uintptr, syscall.Errno) {
		return uintptr(of[queuePair](a[0]).completeBatch()), 0
	}})
	opWRSetUDAddr = serveWR("wr_set_ud_addr", func(qp *queuePair, a ccall.Args) {
		*qp.batch.last().wr.WR.UD() = ibv.SendWRWRUD{AH: ibv.Ptr[ibv.AH](a[1]), RemoteQPN: uint32(a[2]), RemoteQKey: uint32(a[3])}
	})
	opWRSetXRCSRQN = serveWR("wr_set_xrc_srqn", func(qp *queuePair, a ccall.Args) {
		qp.batch.last().wr.QPType.XRC().RemoteSRQN = uint32(a[1])
	})
	opWRSetSGE = serveWR("wr_set_sge", func(qp *queuePair, a ccall.Args) {
		b := qp.batch.last()
		b.entries = append(b.entries[:0], ibv.SGE{LKey: uint32(a[1]), Addr: uint64(a[2]), Length: uint32(a[3])})
	})
	opWRSetSGEList = serveWR("wr_set_sge_list", func(qp *queuePair, a ccall.Args) {
		b := qp.batch.last()
		// Safe: the program says that as many are there.
		b.entries = append(b.entries[:0], unsafe.Slice(of[ibv.SGE](a[2]), a[1])...)
	})
	opWRSetInlineData = serveWR("wr_set_inline_data", func(qp *queuePair, a ccall.Args) {
		b := qp.batch.last()
		b.inline = b.inline[:0]
		b.carry(a[1], a[2])
	})
	opWRSetInlineDataList = serveWR("wr_set_inline_data_list", func(qp *queuePair, a ccall.Args) {
		b := qp.batch.last()
		b.inline = b.inline[:0]
		// Safe: as above.
		for _, piece := range unsafe.Slice(of[ibv.DataBuf](a[2]), a[1]) {
			b.carry(piece.Addr, uintptr(piece.Length))
		}
	})
)

// begin adds a work request, with what the queue pair's struct has for it.
func (b *batch) begin(raw *ibv.QPEx, opcode ibv.WROpcode) *ibv.SendWR {
	if len(b.wrs) < cap(b.wrs) {
		b.wrs = b.wrs[:len(b.wrs)+1]
	} else {
		b.wrs = append(b.wrs, batched{})
	}
	last := b.last()
	// Whether data is carried depends on how it is set.
	last.wr = ibv.SendWR{WRID: raw.WRID, Opcode: opcode, SendFlags: raw.WRFlags &^ ibv.SendInline}
	last.entries, last.inline = last.entries[:0], last.inline[:0]
	return &last.wr
}

// last is the work request that was begun last.
func (b *batch) last() *batched { return &b.wrs[len(b.wrs)-1] }

// carry adds data that the work request carries itself.
func (b *batched) carry(at, n uintptr) {
	b.wr.SendFlags |= ibv.SendInline
	// Safe: the program says that as much is there.
	b.inline = append(b.inline, unsafe.Slice(of[byte](at), n)...)
	b.entries = append(b.entries[:0], ibv.SGE{Addr: uint64(address(unsafe.SliceData(b.inline))), Length: uint32(len(b.inline))})
}

// completeBatch posts all of a batch, or nothing of it and says why not.
func (qp *queuePair) completeBatch() syscall.Errno {
	b := qp.batch
	defer b.mu.Unlock()
	defer runtime.KeepAlive(b) // what entries point to by numbers
	if qp.ctx.f.hooking.here() {
		return syscall.EDEADLK
	}
	qp.ctx.f.mu.Lock()
	defer qp.ctx.f.mu.Unlock()
	for i := range b.wrs {
		wr := &b.wrs[i].wr
		wr.SGList, wr.NumSGE = unsafe.SliceData(b.wrs[i].entries), int32(len(b.wrs[i].entries))
		if r := qp.ctx.f.wrRefused(qp.ctx, qp.number(), wr.Opcode, false, wr.WRID, i); r != nil {
			return r.reason()
		}
		if r, refused := qp.refusesSend(wr); refused {
			return r.reason()
		}
	}
	if uint64(qp.sends.taken)+uint64(len(b.wrs)) > uint64(qp.sends.depth) {
		return syscall.ENOMEM
	}
	for i := range b.wrs {
		qp.take(&b.wrs[i].wr)
	}
	qp.run()
	return 0
}
