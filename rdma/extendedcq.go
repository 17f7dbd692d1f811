//go:build !freebsd

package rdma

import (
	"context"
	"errors"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// wcFields is ibv's type where there is one.
type wcFields = ibv.WCFields

// extendedCQ is a completion queue as extended polls see it. It has the poll twice:
// what waits may poll once more after Close.
type extendedCQ struct {
	poll, first func(into []ibv.ExtendedWC) (int, error)
}

// create makes C's object.
func (opts *CQOptions) create(ctx *ibv.Context, entries int, cqContext uintptr, channel *ibv.CompChannel) (*ibv.CQ, error) {
	if opts.Fields == 0 {
		return ctx.CreateCQWithChannel(entries, cqContext, channel, opts.Vector)
	}
	ex, err := ctx.CreateCQEx(&ibv.CQInitAttrEx{
		CQE: number(entries), CQContext: cqContext, Channel: channel, CompVector: number(opts.Vector),
		WCFlags: uint64(opts.Fields &^ (ibv.WCFieldOpcode | ibv.WCFieldWCFlags)),
	})
	if err != nil {
		return nil, err
	}
	if _, err := ibv.NewExtendedPoll(ex, opts.Fields); err != nil {
		return nil, errors.Join(err, ex.Close())
	}
	return ex.CQ(), nil
}

// newExtendedCQ binds the extended poll.
func newExtendedCQ(raw *ibv.CQ, l *life, opts CQOptions) extendedCQ {
	err := error(syscall.EOPNOTSUPP)
	if opts.Fields != 0 {
		// Safe: a queue that was made with fields is an extended one.
		var p *ibv.ExtendedPoll
		if p, err = ibv.NewExtendedPoll((*ibv.CQEx)(unsafe.Pointer(raw)), opts.Fields); err == nil {
			return extendedCQ{p.Poll, p.Poll}
		}
	}
	none := func([]ibv.ExtendedWC) (int, error) {
		return 0, l.failed("poll as extended", err, "make it with CQOptions.Fields, which says what to read of completions")
	}
	return extendedCQ{none, none}
}

// retire has extended polls return ErrClosed, until they are revived.
func (q *extendedCQ) retire(l *life) (revive func()) {
	before := q.poll
	q.poll = func([]ibv.ExtendedWC) (int, error) { return 0, l.check("poll") }
	return func() { q.poll = before }
}

// PollExtended takes up to len(into) completions off a queue that was made with
// CQOptions.Fields, oldest first, and reads those fields of each. It returns how
// many, and neither blocks nor allocates: see [ibv.ExtendedPoll.Poll]. The error is
// syscall.EOPNOTSUPP if the queue was made without.
func (cq *CQ) PollExtended(into []ibv.ExtendedWC) (int, error) { return cq.extended.poll(into) }

// WaitExtended is [CQ.Wait] for what [CQ.PollExtended] takes.
func (cq *CQ) WaitExtended(ctx context.Context, into []ibv.ExtendedWC) (int, error) {
	const op = "wait on"
	if cq == nil || cq.waiters == nil {
		return 0, noHandle("wait on a completion queue")
	}
	w := cq.waiters
	if !w.enter() {
		return 0, w.closedError()
	}
	defer runtime.KeepAlive(cq) // who waits has not lost the handle
	defer w.leave()
	t := extendedCompletions{cq.extended.first, into}
	if n, _, err := t.take(); n > 0 || err != nil {
		return n, err
	}
	if len(into) == 0 {
		return 0, w.l.failed(op, syscall.EINVAL, "there is no room for completions: into is empty")
	}
	return wait(ctx, w, t)
}

// extendedCompletions takes a queue's completions.
type extendedCompletions struct {
	poll func(into []ibv.ExtendedWC) (int, error)
	into []ibv.ExtendedWC
}

func (c extendedCompletions) take() (n int, more bool, err error) {
	n, err = c.poll(c.into)
	return n, n == len(c.into), err
}
