package subject

import (
	"unsafe"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/native"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// batch posts wrs RDMA writes at once, in the way of ibv_wr_start.
func batch(d device.Device, wrs int) ([]*Subject, error) {
	e, err := d.Extended()
	if e == nil || err != nil {
		return nil, err
	}
	b, err := ibv.NewBatch(e.QP, ibv.QPExWithRDMAWrite, wrs, 1)
	if err != nil {
		return nil, err
	}
	writes := nativeWrites(e, wrs)
	for i := range writes {
		if err := b.RDMAWrite(i, uint64(i), ibv.SendSignaled, e.Addr, e.RKey); err != nil {
			return nil, err
		}
		if err := b.SetSGE(i, e.SGE); err != nil {
			return nil, err
		}
	}
	calls := e.SendRoom / wrs
	variants := []variant{
		{C, func(n int) (int, int64) { return native.Batch(e.QP, writes, n) }},
		{Goverbs, timed(func(n int) int {
			for i := range n {
				if _, err := b.Post(); err != nil {
					return i
				}
			}
			return n
		})},
	}
	if h := e.Handles; h != nil {
		qp := h.QP
		variants = append(variants, variant{RDMA, timed(func(n int) int {
			for i := range n {
				if _, err := qp.PostBatch(b); err != nil {
					return i
				}
			}
			return n
		})})
	}
	return share(Subject{
		Op: Batch, WRs: wrs, Calls: calls,
		after: func() error { return e.TakeSends(calls * wrs) },
	}, variants), nil
}

// nativeWrites is wrs writes as C has them.
func nativeWrites(e *device.Extended, wrs int) []native.Write {
	writes := make([]native.Write, wrs)
	for i := range writes {
		writes[i] = native.Write{
			WRID: uint64(i), Flags: ibv.SendSignaled, RemoteAddr: e.Addr, RKey: e.RKey,
			Addr: e.SGE.Addr, Length: e.SGE.Length, LKey: e.SGE.LKey,
		}
	}
	return writes
}

// batchAborted begins wrs writes and gives up, which no batch does: so this is the
// program that a batch is.
func batchAborted(d device.Device, wrs int) ([]*Subject, error) {
	e, err := d.Extended()
	if e == nil || err != nil {
		return nil, err
	}
	steps := make([]ccall.Step, wrs)
	for i := range steps {
		steps[i] = ccall.Step{
			WRID: uint64(i), Flags: uint32(ibv.SendSignaled), Plain: 1,
			Op: uintptr(e.QP.WRRDMAWrite), OpArgs: [5]uintptr{ccall.Unsigned(e.RKey), uintptr(e.Addr)},
			Data: uintptr(e.QP.WRSetSGE), DataArgs: [3]uintptr{ccall.Unsigned(e.SGE.LKey), uintptr(e.SGE.Addr), ccall.Unsigned(e.SGE.Length)},
		}
	}
	// Safe: the words are the queue pair's, one behind the other.
	program := &ccall.Program{
		Object: unsafe.Pointer(e.QP), Words: unsafe.Pointer(&e.QP.WRID), Start: uintptr(e.QP.WRStart), Complete: uintptr(e.QP.WRAbort),
	}
	writes := nativeWrites(e, wrs)
	return share(Subject{Op: BatchAborted, WRs: wrs, Calls: max(e.SendRoom, 4096) / wrs}, []variant{
		{C, func(n int) (int, int64) { return native.BatchAborted(e.QP, writes, n) }},
		{Goverbs, timed(func(n int) int {
			for i := range n {
				if _, errno := program.Play(steps); errno == ccall.NotAsked {
					return i
				}
			}
			return n
		})},
	}), nil
}

// extendedPoll finds wrs completions each time, and reads four things of each that
// went well.
func extendedPoll(d device.Device, wrs int) ([]*Subject, error) {
	e, err := d.Extended()
	if e == nil || err != nil {
		return nil, err
	}
	poll, err := ibv.NewExtendedPoll(e.CQ, device.ExtendedFields)
	if err != nil {
		return nil, err
	}
	inC, wcs := make([]native.Completion, wrs), make([]ibv.ExtendedWC, wrs)
	calls := e.CQRoom / wrs
	variants := []variant{
		{C, func(n int) (int, int64) { return native.ExtendedPoll(e.CQ, inC, n) }},
		{Goverbs, timed(func(n int) int {
			for i := range n {
				if got, err := poll.Poll(wcs); got != wrs || err != nil {
					return i
				}
			}
			return n
		})},
	}
	if h := e.Handles; h != nil {
		cq := h.CQ
		variants = append(variants, variant{RDMA, timed(func(n int) int {
			for i := range n {
				if got, err := cq.PollExtended(wcs); got != wrs || err != nil {
					return i
				}
			}
			return n
		})})
	}
	return share(Subject{
		Op: ExtendedPoll, WRs: wrs, Calls: calls,
		before: func() error { return e.Complete(calls * wrs) },
		again:  e.Drop,
	}, variants), nil
}
