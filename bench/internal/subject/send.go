package subject

import (
	"runtime"
	"unsafe"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/native"
	"github.com/goverbs/goverbs/ibv"
)

// sendChain is a chain of sends from the device's buffer, and the same as
// scalars.
func sendChain(d device.Device, wrs int) (*ibv.SendChain, []native.Send, error) {
	chain, err := ibv.NewSendChain(wrs, 1)
	if err != nil {
		return nil, nil, err
	}
	scalars := make([]native.Send, wrs)
	sge := d.SGE()
	for i := range wrs {
		if err := chain.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, sge); err != nil {
			return nil, nil, err
		}
		scalars[i] = native.Send{
			Recv:   native.Recv{ID: uint64(i), Addr: sge.Addr, Length: sge.Length, LKey: sge.LKey},
			Opcode: ibv.WRSend, Flags: ibv.SendSignaled,
		}
	}
	return chain, scalars, nil
}

func postSend(d device.Device, wrs int) ([]*Subject, error) {
	chain, scalars, err := sendChain(d, wrs)
	if err != nil {
		return nil, err
	}
	qp, first := d.QP(), chain.WR(0)
	calls := d.SendRoom() / wrs
	return share(Subject{
		Op: PostSend, WRs: wrs, Calls: calls,
		after: func() error { return d.TakeSends(calls * wrs) },
	}, []variant{
		{C, func(n int) (int, int64) { return native.PostSend(qp, first, n) }},
		{Goverbs, timed(func(n int) int {
			for i := range n {
				if _, err := chain.Post(qp); err != nil {
					return i
				}
			}
			return n
		})},
		handleSend(d, chain),
		{GoverbsList, timed(func(n int) int {
			for i := range n {
				if _, err := qp.PostSend(first); err != nil {
					return i
				}
			}
			return n
		})},
		{Cgo, timed(func(n int) int {
			defer runtime.KeepAlive(chain)
			return native.PostSendWords(qp, first, n)
		})},
		{CgoTyped, timed(func(n int) int { return native.PostSendTyped(qp, first, n) })},
		{CgoMarshal, timed(func(n int) int { return native.PostSendScalars(qp, scalars, n) })},
		{Purego, timed(func(n int) int {
			return syscallN(uintptr(qp.Context.Ops.PostSend), unsafe.Pointer(qp), unsafe.Pointer(first), n)
		})},
	}), nil
}
