package ibv

import (
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// RecvPoster is the receive post of one queue, bound once: where it goes is known,
// so a post looks nothing up and asks nothing on its way. Package rdma makes its
// handles of it. The zero RecvPoster must not be used. It is for as many goroutines
// as the queue is, and must not be used after that is closed.
type RecvPoster struct {
	whole ccall.BoundList // of a RecvChain's list
	part  func(c *RecvChain, first, end int) (accepted int, err error)
}

// NewRecvPoster is a RecvPoster that calls post for the work requests from first on
// and before end: for whoever stands between a program and a queue.
func NewRecvPoster(post func(c *RecvChain, first, end int) (accepted int, err error)) RecvPoster {
	return RecvPoster{
		func(l *ccall.List, _, _ uintptr) (int, error) {
			c := recvChainOf(l)
			return post(c, 0, c.Len())
		},
		post,
	}
}

// RecvPoster is [RecvChain.Post] and [RecvChain.PostRange] for this queue pair. If
// that has a shared receive queue, each post is [ErrSRQAttached].
func (qp *QP) RecvPoster() RecvPoster {
	if qp.SRQ != nil {
		return NewRecvPoster(func(c *RecvChain, first, end int) (int, error) { return c.PostRange(qp, first, end) })
	}
	// Safe: C gets its own queue pair.
	return bindRecv(opPostRecv, uintptr(qp.Context.Ops.PostRecv), unsafe.Pointer(qp), recvListRefused)
}

// RecvPoster is [RecvChain.PostSRQ] and [RecvChain.PostRange] for this shared
// receive queue.
func (srq *SRQ) RecvPoster() RecvPoster {
	// Safe: as in QP.RecvPoster.
	return bindRecv(opPostSRQRecv, uintptr(srq.Context.Ops.PostSRQRecv), unsafe.Pointer(srq), srqRecvListRefused)
}

func bindRecv(op postOp, fn uintptr, object unsafe.Pointer, refused ccall.ListRefused) RecvPoster {
	whole := ccall.BindList(fn, object, refused)
	part := func(c *RecvChain, first, end int) (int, error) { return c.list.postRange(op, fn, object, first, end) }
	if ccall.RaceDetector {
		return RecvPoster{func(l *ccall.List, _, _ uintptr) (int, error) {
			recvChainOf(l).list.posting(0, l.Len)
			return whole(l, 0, 0)
		}, part}
	}
	return RecvPoster{whole, part}
}

// recvChainOf is the chain that a list is of.
func recvChainOf(l *ccall.List) *RecvChain {
	// Safe: a post is handed no other list than a chain's, which begins with it.
	return (*RecvChain)(unsafe.Pointer(l))
}

// Post posts the whole chain: see [RecvChain.Post].
func (p *RecvPoster) Post(c *RecvChain) (accepted int, err error) { return p.whole(&c.whole, 0, 0) }

// PostRange posts a part of the chain: see [RecvChain.PostRange].
func (p *RecvPoster) PostRange(c *RecvChain, first, end int) (accepted int, err error) {
	return p.part(c, first, end)
}

// SendPoster is the send post of one queue pair, bound once, as a [RecvPoster] is
// for receives.
type SendPoster struct {
	whole ccall.BoundList // of a SendChain's list
	part  func(c *SendChain, first, end int) (accepted int, err error)
}

// NewSendPoster is a SendPoster that calls post, as [NewRecvPoster] does.
func NewSendPoster(post func(c *SendChain, first, end int) (accepted int, err error)) SendPoster {
	return SendPoster{
		func(l *ccall.List, _, _ uintptr) (int, error) {
			c := sendChainOf(l)
			return post(c, 0, c.Len())
		},
		post,
	}
}

// SendPoster is [SendChain.Post] and [SendChain.PostRange] for this queue pair.
func (qp *QP) SendPoster() SendPoster {
	// Safe: as in RecvPoster.
	fn, object := uintptr(qp.Context.Ops.PostSend), unsafe.Pointer(qp)
	whole := ccall.BindList(fn, object, sendListRefused)
	part := func(c *SendChain, first, end int) (int, error) {
		return c.list.postRange(opPostSend, fn, object, first, end)
	}
	if ccall.RaceDetector {
		return SendPoster{func(l *ccall.List, _, _ uintptr) (int, error) {
			sendChainOf(l).list.posting(0, l.Len)
			return whole(l, 0, 0)
		}, part}
	}
	return SendPoster{whole, part}
}

// sendChainOf is the chain that a list is of.
func sendChainOf(l *ccall.List) *SendChain {
	// Safe: as in recvChainOf.
	return (*SendChain)(unsafe.Pointer(l))
}

// Post posts the whole chain: see [SendChain.Post].
func (p *SendPoster) Post(c *SendChain) (accepted int, err error) { return p.whole(&c.whole, 0, 0) }

// PostRange posts a part of the chain: see [SendChain.PostRange].
func (p *SendPoster) PostRange(c *SendChain, first, end int) (accepted int, err error) {
	return p.part(c, first, end)
}

// Chains begin with their lists.
var _ = [1]struct{}{}[unsafe.Offsetof(RecvChain{}.whole)|unsafe.Offsetof(SendChain{}.whole)]
