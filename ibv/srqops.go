//go:build !freebsd

package ibv

import (
	"syscall"
	"unsafe"
)

// PostOps posts the list of operations that starts at op to a shared receive queue
// that matches tags: it adds, removes or synchronises tagged buffers. It stops at
// the first one that is refused at once and returns it, or nil if the provider
// does not say which it was. On success both results are nil, and op.TM.Handle
// names an added buffer for its removal. An empty list, a nil op, is a success.
//
// The operations are the caller's again on return, the buffers when their
// completions were polled. It may be called from any goroutine.
//
// C: ibv_post_srq_ops(3)
func (srq *SRQ) PostOps(op *OpsWR) (bad *OpsWR, err error) {
	if op == nil {
		return nil, nil
	}
	act := srq.Context.action("post operations to shared receive queue", map[syscall.Errno]string{
		syscall.ENOMEM: "the queue has no room for another operation or buffer: see TMCap",
		syscall.EINVAL: "an operation is not valid, or the queue does not match tags",
	})
	fn := srq.Context.operation(unsafe.Offsetof(VerbsContext{}.PostSRQOps))
	if fn == 0 {
		return op, act.failed(syscall.EOPNOTSUPP)
	}
	// A number, for a provider may leave anything there.
	out := new(uintptr)
	err = act.from(callVerbsContextPostSRQOps(fn, srq, op, (**OpsWR)(unsafe.Pointer(out))))
	if err == nil {
		return nil, nil
	}
	for refused := range op.All() {
		// Safe: only the number of the pointer counts.
		if uintptr(unsafe.Pointer(refused)) == *out {
			return refused, err
		}
	}
	return nil, err
}
