package ibv

import "unsafe"

// RecvPoster is the receive post of one queue, bound once: where it goes is known,
// so that a post asks for nothing on its way. Package rdma makes its handles of it.
// The zero RecvPoster must not be used. It is for as many goroutines as the queue
// is, and must not be used after that is closed.
type RecvPoster struct {
	whole func(c *RecvChain) (accepted int, err error)
	part  func(c *RecvChain, first, end int) (accepted int, err error)
}

// NewRecvPoster is a RecvPoster that calls post for the work requests from first on
// and before end: for whoever stands between a program and a queue.
func NewRecvPoster(post func(c *RecvChain, first, end int) (accepted int, err error)) RecvPoster {
	return RecvPoster{func(c *RecvChain) (int, error) { return post(c, 0, c.Len()) }, post}
}

// RecvPoster is [RecvChain.Post] and [RecvChain.PostRange] for this queue pair.
func (qp *QP) RecvPoster() RecvPoster {
	return RecvPoster{
		func(c *RecvChain) (int, error) { return c.Post(qp) },
		func(c *RecvChain, first, end int) (int, error) { return c.PostRange(qp, first, end) },
	}
}

// RecvPoster is [RecvChain.PostSRQ] and [RecvChain.PostRange] for this shared
// receive queue.
func (srq *SRQ) RecvPoster() RecvPoster {
	return RecvPoster{
		func(c *RecvChain) (int, error) { return c.PostSRQ(srq) },
		func(c *RecvChain, first, end int) (int, error) { return c.PostRange(srq, first, end) },
	}
}

// Post posts the whole chain: see [RecvChain.Post].
func (p *RecvPoster) Post(c *RecvChain) (accepted int, err error) { return p.whole(c) }

// PostRange posts a part of the chain: see [RecvChain.PostRange].
func (p *RecvPoster) PostRange(c *RecvChain, first, end int) (accepted int, err error) {
	return p.part(c, first, end)
}

// SendPoster is the send post of one queue pair, bound once, as a [RecvPoster] is
// for receives.
type SendPoster struct {
	whole func(c *SendChain) (accepted int, err error)
	part  func(c *SendChain, first, end int) (accepted int, err error)
}

// NewSendPoster is a SendPoster that calls post, as [NewRecvPoster] does.
func NewSendPoster(post func(c *SendChain, first, end int) (accepted int, err error)) SendPoster {
	return SendPoster{func(c *SendChain) (int, error) { return post(c, 0, c.Len()) }, post}
}

// SendPoster is [SendChain.Post] and [SendChain.PostRange] for this queue pair.
func (qp *QP) SendPoster() SendPoster {
	return SendPoster{
		func(c *SendChain) (int, error) { return c.Post(qp) },
		func(c *SendChain, first, end int) (int, error) { return c.PostRange(qp, first, end) },
	}
}

// Post posts the whole chain: see [SendChain.Post].
func (p *SendPoster) Post(c *SendChain) (accepted int, err error) { return p.whole(c) }

// PostRange posts a part of the chain: see [SendChain.PostRange].
func (p *SendPoster) PostRange(c *SendChain, first, end int) (accepted int, err error) {
	return p.part(c, first, end)
}

// Poller is the poll of one completion queue, bound once, as a [RecvPoster] is for
// receives.
type Poller struct {
	poll func(into unsafe.Pointer, n int) (got int, err error)
}

// NewPoller is a Poller that calls poll with what is to be filled.
func NewPoller(poll func(wcs []WC) (int, error)) Poller {
	return Poller{func(into unsafe.Pointer, n int) (int, error) {
		// Safe: it is the slice that Poll was given.
		return poll(unsafe.Slice((*WC)(into), n))
	}}
}

// Poller is [CQ.Poll] for this queue.
func (cq *CQ) Poller() Poller { return NewPoller(cq.Poll) }

// Poll takes completions: see [CQ.Poll].
func (p *Poller) Poll(wcs []WC) (n int, err error) {
	return p.poll(unsafe.Pointer(unsafe.SliceData(wcs)), len(wcs))
}
