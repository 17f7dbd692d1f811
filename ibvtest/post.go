//go:build !freebsd

package ibvtest

import (
	"slices"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// sendWork is a work request of a send queue.
type sendWork struct {
	wr      ibv.SendWR // a copy, whose Next and SGList nobody follows
	entries []ibv.SGE
}

// recvWork is a work request of a receive queue.
type recvWork struct {
	id      uint64
	entries []ibv.SGE
}

// postFunc is one of posts.
type postFunc = func(list unsafe.Pointer) (result, errno int32, bad uintptr)

// servePost serves a post to an object.
func servePost(name string, of func(object unsafe.Pointer) postFunc) uintptr {
	return ccall.Serve(ccall.Served{
		Name:     name,
		Post:     func(object, list unsafe.Pointer) (int32, int32, uintptr) { return of(object)(list) },
		BindPost: func(object unsafe.Pointer) func(unsafe.Pointer) (int32, int32, uintptr) { return of(object) },
	})
}

var (
	opPostSend = servePost("post_send", func(qp unsafe.Pointer) postFunc { return ofPointer[queuePair](qp).postSend })
	opPostRecv = servePost("post_recv", func(qp unsafe.Pointer) postFunc { return ofPointer[queuePair](qp).postRecv })
)

func init() {
	equip = append(equip, func(v *ibv.VerbsContext) {
		ops := &v.Context.Ops
		ops.PostSend, ops.PostRecv = ibv.ContextOpsPostSendFunc(opPostSend), ibv.ContextOpsPostRecvFunc(opPostRecv)
	})
}

func (qp *queuePair) postSend(list unsafe.Pointer) (result, errno int32, bad uintptr) {
	qp.ctx.f.mu.Lock()
	defer qp.ctx.f.mu.Unlock()
	defer qp.run()
	// Safe: it is a list of the program's, which lives until the call is over.
	for wr, i := (*ibv.SendWR)(list), 0; wr != nil; wr, i = wr.Next, i+1 {
		if r := qp.ctx.f.wrRefused(qp.ctx.dev, qp.raw.QPBase.QPNum, false, wr.WRID, i); r != nil {
			return r.results(address(wr))
		}
		if why := qp.refusesSend(wr); why != 0 {
			return int32(why), 0, uintptr(unsafe.Pointer(wr))
		}
		qp.sends = append(qp.sends, &sendWork{*wr, slices.Clone(unsafe.Slice(wr.SGList, wr.NumSGE))})
	}
	return 0, 0, 0
}

func (qp *queuePair) refusesSend(*ibv.SendWR) syscall.Errno {
	switch {
	case len(qp.sends) >= int(qp.init.Cap.MaxSendWR):
		return syscall.ENOMEM
	case qp.now < ibv.QPSRTS:
		return syscall.EINVAL
	}
	return 0
}

func (qp *queuePair) postRecv(list unsafe.Pointer) (result, errno int32, bad uintptr) {
	qp.ctx.f.mu.Lock()
	defer qp.ctx.f.mu.Unlock()
	// Safe: as above.
	for wr, i := (*ibv.RecvWR)(list), 0; wr != nil; wr, i = wr.Next, i+1 {
		if r := qp.ctx.f.wrRefused(qp.ctx.dev, qp.raw.QPBase.QPNum, true, wr.WRID, i); r != nil {
			return r.results(address(wr))
		}
		if len(qp.receives) >= int(qp.init.Cap.MaxRecvWR) {
			return int32(syscall.ENOMEM), 0, uintptr(unsafe.Pointer(wr))
		}
		qp.receives = append(qp.receives, &recvWork{wr.WRID, slices.Clone(unsafe.Slice(wr.SGList, wr.NumSGE))})
	}
	return 0, 0, 0
}
