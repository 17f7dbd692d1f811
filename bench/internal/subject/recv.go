package subject

import (
	"errors"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/native"
	"github.com/goverbs/goverbs/ibv"
)

// recvChain is a chain of receives into the device's buffer, and the same as
// scalars.
func recvChain(d device.Device, wrs int) (*ibv.RecvChain, []native.Recv, error) {
	chain, err := ibv.NewRecvChain(wrs, 1)
	if err != nil {
		return nil, nil, err
	}
	scalars := make([]native.Recv, wrs)
	sge := d.SGE()
	for i := range wrs {
		if err := chain.Set(i, uint64(i), sge); err != nil {
			return nil, nil, err
		}
		scalars[i] = native.Recv{ID: uint64(i), Addr: sge.Addr, Length: sge.Length, LKey: sge.LKey}
	}
	return chain, scalars, nil
}

func postRecv(d device.Device, wrs int) ([]*Subject, error) {
	chain, scalars, err := recvChain(d, wrs)
	if err != nil {
		return nil, err
	}
	qp, first := d.QP(), chain.WR(0)
	calls := d.RecvRoom() / wrs
	return share(Subject{
		Op: PostRecv, WRs: wrs, Calls: calls,
		after: func() error { return d.TakeRecvs(calls * wrs) },
	}, []variant{
		{C, func(n int) (int, int64) { return native.PostRecv(qp, first, n) }},
		{Goverbs, timed(func(n int) int {
			for i := range n {
				if _, err := chain.Post(qp); err != nil {
					return i
				}
			}
			return n
		})},
		handleRecv(d, chain),
		{GoverbsList, timed(func(n int) int {
			for i := range n {
				if _, err := qp.PostRecv(first); err != nil {
					return i
				}
			}
			return n
		})},
		{Cgo, timed(func(n int) int {
			defer runtime.KeepAlive(chain)
			return native.PostRecvWords(qp, first, n)
		})},
		{CgoTyped, timed(func(n int) int { return native.PostRecvTyped(qp, first, n) })},
		{CgoMarshal, timed(func(n int) int { return native.PostRecvScalars(qp, scalars, n) })},
		{Purego, timed(func(n int) int {
			return syscallN(uintptr(qp.Context.Ops.PostRecv), unsafe.Pointer(qp), unsafe.Pointer(first), n)
		})},
	}), nil
}

func postSRQRecv(d device.Device, wrs int) ([]*Subject, error) {
	chain, scalars, err := recvChain(d, wrs)
	if err != nil {
		return nil, err
	}
	srq, first := d.SRQ(), chain.WR(0)
	calls := d.SRQRoom() / wrs
	return share(Subject{
		Op: PostSRQRecv, WRs: wrs, Calls: calls,
		after: func() error { return d.TakeSRQRecvs(calls * wrs) },
	}, []variant{
		{C, func(n int) (int, int64) { return native.PostSRQRecv(srq, first, n) }},
		{Goverbs, timed(func(n int) int {
			for i := range n {
				if _, err := chain.PostSRQ(srq); err != nil {
					return i
				}
			}
			return n
		})},
		handleSRQRecv(d, chain),
		{GoverbsList, timed(func(n int) int {
			for i := range n {
				if _, err := srq.PostRecv(first); err != nil {
					return i
				}
			}
			return n
		})},
		{Cgo, timed(func(n int) int {
			defer runtime.KeepAlive(chain)
			return native.PostSRQRecvWords(srq, first, n)
		})},
		{CgoTyped, timed(func(n int) int { return native.PostSRQRecvTyped(srq, first, n) })},
		{CgoMarshal, timed(func(n int) int { return native.PostSRQRecvScalars(srq, scalars, n) })},
		{Purego, timed(func(n int) int {
			return syscallN(uintptr(srq.Context.Ops.PostSRQRecv), unsafe.Pointer(srq), unsafe.Pointer(first), n)
		})},
	}), nil
}

func postRecvFull(d device.Device, wrs int) ([]*Subject, error) {
	chain, _, err := recvChain(d, wrs)
	if err != nil {
		return nil, err
	}
	one, _, err := recvChain(d, 1)
	if err != nil {
		return nil, err
	}
	qp, first := d.QP(), chain.WR(0)
	posted := 0
	return share(Subject{
		Op: PostRecvFull, WRs: wrs, Calls: d.RecvRoom(),
		before: func() error {
			for posted = 0; ; posted++ {
				if _, err := one.Post(qp); errors.Is(err, syscall.ENOMEM) {
					return nil
				} else if err != nil {
					return err
				}
			}
		},
		after: func() error { return d.TakeRecvs(posted) },
	}, []variant{
		{C, func(n int) (int, int64) { return native.PostRecvFull(qp, first, n) }},
		{Goverbs, timed(func(n int) int {
			for i := range n {
				if accepted, err := chain.Post(qp); accepted != 0 || err == nil {
					return i
				}
			}
			return n
		})},
		handleRecvFull(d, chain),
		{GoverbsList, timed(func(n int) int {
			for i := range n {
				if bad, err := qp.PostRecv(first); bad != first || err == nil {
					return i
				}
			}
			return n
		})},
	}), nil
}

// syscallN posts n times through purego.
func syscallN(fn uintptr, object, list unsafe.Pointer, n int) int {
	for i := range n {
		var bad uintptr
		// Safe: SyscallN keeps what its arguments point to.
		if result, _, _ := purego.SyscallN(fn, uintptr(object), uintptr(list), uintptr(unsafe.Pointer(&bad))); int32(result) != 0 {
			return i
		}
	}
	return n
}
