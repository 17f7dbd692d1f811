package ibv

import (
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// RecvPoster is the receive post of one queue, bound once: where it goes is known,
// so a post looks nothing up and asks nothing on its way. Package rdma makes its
// handles of it. The zero RecvPoster must not be used. It is for as many goroutines
// as the queue is, and must not be used after that is closed.
//
// Whole is Post, and Part is PostRange, for a method of one's own that the compiler
// is to inline. What has no name is 0, and makes room for what a post may go on at.
type RecvPoster struct {
	Whole func(c *RecvChain, _, _ uintptr) (accepted int, err error)
	Part  func(c *RecvChain, first, end int) (accepted int, err error)
}

// NewRecvPoster is a RecvPoster that calls post for the work requests from first on
// and before end: for whoever stands between a program and a queue.
func NewRecvPoster(post func(c *RecvChain, first, end int) (accepted int, err error)) RecvPoster {
	return RecvPoster{
		func(c *RecvChain, _, _ uintptr) (int, error) { return post(c, 0, c.Len()) },
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
	whole := wholeOf[RecvChain](ccall.BindList(fn, object, refused))
	part := func(c *RecvChain, first, end int) (int, error) { return c.list.postRange(op, fn, object, first, end) }
	if ccall.RaceDetector {
		return RecvPoster{func(c *RecvChain, _, _ uintptr) (int, error) {
			c.list.posting(0, c.whole.Len)
			return whole(c, 0, 0)
		}, part}
	}
	return RecvPoster{whole, part}
}

// wholeOf is the post of a list as that of chains.
func wholeOf[C RecvChain | SendChain](bound ccall.BoundList) func(c *C, _, _ uintptr) (accepted int, err error) {
	// Safe: a chain begins with its list, so where one is, there is the other.
	return *(*func(c *C, _, _ uintptr) (int, error))(unsafe.Pointer(&bound))
}

var _ = [1]struct{}{}[unsafe.Offsetof(RecvChain{}.whole)|unsafe.Offsetof(SendChain{}.whole)]

// Post posts the whole chain: see [RecvChain.Post].
func (p *RecvPoster) Post(c *RecvChain) (accepted int, err error) { return p.Whole(c, 0, 0) }

// PostRange posts a part of the chain: see [RecvChain.PostRange].
func (p *RecvPoster) PostRange(c *RecvChain, first, end int) (accepted int, err error) {
	return p.Part(c, first, end)
}

// SendPoster is the send post of one queue pair, bound once, as a [RecvPoster] is
// for receives.
type SendPoster struct {
	Whole func(c *SendChain, _, _ uintptr) (accepted int, err error)
	Part  func(c *SendChain, first, end int) (accepted int, err error)
}

// NewSendPoster is a SendPoster that calls post, as [NewRecvPoster] does.
func NewSendPoster(post func(c *SendChain, first, end int) (accepted int, err error)) SendPoster {
	return SendPoster{
		func(c *SendChain, _, _ uintptr) (int, error) { return post(c, 0, c.Len()) },
		post,
	}
}

// SendPoster is [SendChain.Post] and [SendChain.PostRange] for this queue pair.
func (qp *QP) SendPoster() SendPoster {
	// Safe: as in RecvPoster.
	fn, object := uintptr(qp.Context.Ops.PostSend), unsafe.Pointer(qp)
	whole := wholeOf[SendChain](ccall.BindList(fn, object, sendListRefused))
	part := func(c *SendChain, first, end int) (int, error) {
		return c.list.postRange(opPostSend, fn, object, first, end)
	}
	if ccall.RaceDetector {
		return SendPoster{func(c *SendChain, _, _ uintptr) (int, error) {
			c.list.posting(0, c.whole.Len)
			return whole(c, 0, 0)
		}, part}
	}
	return SendPoster{whole, part}
}

// Post posts the whole chain: see [SendChain.Post].
func (p *SendPoster) Post(c *SendChain) (accepted int, err error) { return p.Whole(c, 0, 0) }

// PostRange posts a part of the chain: see [SendChain.PostRange].
func (p *SendPoster) PostRange(c *SendChain, first, end int) (accepted int, err error) {
	return p.Part(c, first, end)
}
