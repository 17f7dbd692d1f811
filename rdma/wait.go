package rdma

import (
	"context"
	"runtime"
	"syscall"
	"time"

	"github.com/goverbs/goverbs/ibv"
)

// Wait takes up to len(wcs) completions off the queue, oldest first, as [CQ.Poll]
// does, and waits until there is at least one. It returns how many. Without an
// error it is 1 at least.
//
// The goroutine that waits is parked, and uses neither a thread nor a processor.
// Where CQOptions.Spin says so, it polls for that long before. Completions that are
// there cost little more than Poll. Any number of goroutines may wait, and poll
// meanwhile: a completion wakes one that waits.
//
// When ctx ends, the error is, by errors.Is, ctx.Err() and [context.Cause] of it,
// and no completion is lost: those that are there come first. Close of the queue
// has it return [ErrClosed], and may be called at any time. When polls fail, or the
// channel of the events, the error says why; a device may tell of a failed queue by
// ibv.EventCQErr only, see [Device.Events]. The error is syscall.EOPNOTSUPP if the
// queue's events come nowhere, as with CQOptions.NoChannel.
//
// C: ibv_req_notify_cq(3), ibv_get_cq_event(3), ibv_ack_cq_events(3),
// ibv_poll_cq(3)
func (cq *CQ) Wait(ctx context.Context, wcs []ibv.WC) (int, error) {
	if cq == nil || cq.waiters == nil {
		return 0, noHandle("wait on a completion queue")
	}
	w := cq.waiters
	if !w.enter() {
		return 0, w.closedError()
	}
	if n, err := w.poller.Poll(wcs); n > 0 || err != nil {
		w.leave()
		return n, err
	}
	defer runtime.KeepAlive(cq) // who waits has not lost the handle
	defer w.leave()
	if len(wcs) == 0 {
		return 0, w.l.failed("wait on", syscall.EINVAL, "there is no room for completions: wcs is empty")
	}
	return wait(ctx, w, completions{w, wcs})
}

// completions takes a queue's completions.
type completions struct {
	w   *waiters
	wcs []ibv.WC
}

func (c completions) take() (n int, more bool, err error) {
	n, err = c.w.poller.Poll(c.wcs)
	return n, n == len(c.wcs), err
}

// taker takes what has come to a queue.
type taker interface {
	// take takes what there is now. more says that there may be more.
	take() (n int, more bool, err error)
}

// wait waits until there is something to take. The caller has entered, and has
// looked already.
//
// Events come only on request, one for each, and only of completions that come after
// it. So whoever requests one takes afterwards. If that was all there is, an event
// comes of what follows. If there may be more, or if whoever was woken does not take
// it, another one that waits is woken, and does the same. So while anybody waits,
// an event is to come, or somebody is looking.
func wait[T taker](ctx context.Context, w *waiters, t T) (int, error) {
	if w.arm == nil {
		return 0, w.l.failed("wait on", syscall.EOPNOTSUPP, w.noEvents)
	}
	if ctx == nil {
		return 0, w.l.failed("wait on", syscall.EINVAL, noContext)
	}
	ctxDone := ctx.Done() // before others know of the parking, for this is the program's code
	if n, err := spin(ctx, w, t); n > 0 || err != nil {
		return n, err
	}
	for woken := false; ; woken = true {
		p, err := w.queue(woken)
		if err != nil {
			return 0, err
		}
		n, more, err := armAndTake(w, t)
		if n > 0 || err != nil {
			w.unqueue(p, more || err != nil)
			return n, err
		}
		select {
		case <-p.woken:
		case <-ctxDone:
			n, more, err := t.take()
			w.unqueue(p, more || err != nil)
			if n == 0 && err == nil {
				err = w.l.failed("wait on", ended(ctx), "")
			}
			return n, err
		}
		if w.alone(p) { // and nobody else needs an event
			n, more, err = t.take()
		} else {
			n, more, err = armAndTake(w, t)
		}
		if n > 0 || err != nil {
			if more || err != nil {
				w.wake()
			}
			return n, err
		}
	}
}

// armAndTake takes what is there once an event is to come of what follows.
func armAndTake[T taker](w *waiters, t T) (n int, more bool, err error) {
	if err := w.request(); err != nil {
		return 0, false, err
	}
	return t.take()
}

// spin takes without waiting for events, as long as the queue's options say. One
// goroutine does it at a time: more are no faster.
func spin[T taker](ctx context.Context, w *waiters, t T) (int, error) {
	if w.spin <= 0 || !w.spinning.CompareAndSwap(false, true) {
		return 0, nil
	}
	defer w.spinning.Store(false)
	for end := time.Now().Add(w.spin); ; runtime.Gosched() {
		for range 16 { // which cost about as much as the rest
			if n, _, err := t.take(); n > 0 || err != nil {
				return n, err
			}
		}
		if ctx.Err() != nil || w.leaving() || time.Now().After(end) {
			return 0, nil
		}
	}
}
