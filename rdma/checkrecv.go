package rdma

import (
	"errors"

	"github.com/goverbs/goverbs/ibv"
)

// postRecv posts work requests of a chain, if nothing is wrong with them.
func (q *checkedQP) postRecv(c *ibv.RecvChain, first, end int) (int, error) {
	return postRecv(&q.usage, q.l, q.recv, c, first, end, func(r *request) ([]use, *mistake) {
		if q.moves && q.raw.State == ibv.QPSReset {
			return nil, wrong("it takes no receives in RESET: move it to INIT first")
		}
		return q.recv.checkRecv(q.pd, r)
	}, func(n int) (int, error) { return c.PostRange(q.raw, first, first+n) })
}

func postRecv(u *usage, l *life, q *checkedQueue, c *ibv.RecvChain, first, end int, check func(*request) ([]use, *mistake), post func(n int) (int, error)) (int, error) {
	const op = "post receives to"
	if first < 0 || first >= end || end > c.Len() {
		return post(end - first)
	}
	leave, at, m := enter(u, l, c)
	if m != nil {
		return 0, m.error(op, l)
	}
	defer leave()
	if err := c.Intact(first, end); err != nil {
		return 0, overwritten(err).error(op, l)
	}
	requests := make([]request, end-first)
	for i := range requests {
		requests[i] = request{index: first + i, wrID: c.WR(first + i).WRID, sges: c.SGEs(first + i)}
	}
	checks.Lock()
	n, m, err := q.post(requests, true, at, check, func(r *request) *work { return &work{what: "receive", signalled: true, writes: true} }, post)
	checks.Unlock()
	if m != nil {
		return n, m.error(op, l)
	}
	return n, err
}

// recvPoster is a poster of a queue that posts parts of chains by post.
func recvPoster(l *life, post func(c *ibv.RecvChain, first, end int) (int, error)) ibv.RecvPoster {
	return ibv.RecvPoster{
		Whole: func(c *ibv.RecvChain, _, _ uintptr) (int, error) {
			if last := c.Len() - 1; c.WR(last).Next != nil {
				return 0, endless(last).error("post receives to", l)
			}
			return post(c, 0, c.Len())
		},
		Part: post,
	}
}

// endless is the mistake of a chain that does not end with its last work request.
func endless(last int) *mistake {
	return wrong("Next of work request %d, the last, was overwritten: the list does not end there; nothing was posted", last)
}

// overwritten is the mistake of a chain that C cannot follow.
func overwritten(err error) *mistake {
	var e *ibv.Error
	errors.As(err, &e)
	return wrong("%s; nothing was posted", e.Hint)
}

// checkRecv checks a receive.
func (q *checkedQueue) checkRecv(pd *life, r *request) ([]use, *mistake) {
	if q.own && len(r.sges) > q.room {
		return nil, r.wrong("has %d scatter/gather entries, and its queue was made for %d", len(r.sges), q.room)
	}
	uses, m := checks.entries(pd, r, true)
	if len(r.sges) > 1 && r.sges[0].Length == ibv.GRHLength && len(uses) > 0 && uses[0].start == r.sges[0].Addr {
		uses = uses[1:] // one buffer may be for the headers of all receives on UD, which nobody reads then
	}
	return uses, m
}
