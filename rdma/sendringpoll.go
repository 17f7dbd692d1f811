package rdma

import (
	"context"

	"github.com/goverbs/goverbs/ibv"
)

// Poll takes completions off the send queue's completion queue, without
// blocking, and returns how many work requests are known to be done that were not
// before. An error is the queue's own, or the *[ibv.CompletionError] of the first
// work request that failed: those from it on may have failed too, and count as
// done. Completions of anything else than the ring's are in the error, too: a
// [ForeignError].
func (r *SendRing) Poll() (int, error) {
	if len(r.wrs) == 0 {
		return 0, r.closedError("poll")
	}
	n, err := r.cq.Poll(r.wcs)
	return r.handle(r.wcs[:n], err)
}

// Wait is Poll that waits until more is done, or there is an error: as [CQ.Wait]
// does. What was added must be posted, or nothing comes; nor does it for those behind
// the last one that is signalled, nor, with some devices, for what was posted when the
// queue pair had failed already. Nobody else uses the ring meanwhile. But once it
// waits, the ring and the queue pair may be closed, which it is told as soon as
// anything wakes it: [ErrClosed].
func (r *SendRing) Wait(ctx context.Context) (int, error) {
	if n, err := r.Poll(); n > 0 || err != nil {
		return n, err
	}
	// Whoever closes the ring, or the queue pair, has the same lock as closedError: so
	// neither sees the other halfway.
	const op = "wait on"
	if err := r.closedError(op); err != nil {
		return 0, err
	}
	n, err := r.cq.Wait(ctx, r.wcs)
	if n == 0 {
		return 0, err
	}
	if err := r.closedError(op); err != nil {
		return 0, err
	}
	return r.handle(r.wcs[:n], err)
}

// handle takes note of completions, and returns what Poll does. err came with them.
func (r *SendRing) handle(wcs []ibv.WC, err error) (int, error) {
	before := r.done
	var foreign []ibv.WC
	for i := range wcs {
		wc := &wcs[i]
		if !r.Handle(wc) {
			foreign = append(foreign, *wc)
			continue
		}
		if err == nil {
			err = wc.Err()
		}
	}
	if foreign != nil {
		err = both(err, &ForeignError{Op: "poll send ring", WCs: foreign})
	}
	return int(r.done - before), err
}

// Handle takes note of a completion that the caller has taken off the completion
// queue: all work requests up to it are done, or have failed, if [ibv.WC.Err] says
// so. own is false, and nothing is done, if it is not one of the ring's that is
// outstanding.
func (r *SendRing) Handle(wc *ibv.WC) (own bool) {
	ahead := (ticketNumber(wc.WRID) - r.done) & countMask
	// A failure has nothing but its WRID, its status and its queue pair.
	if wc.WRID&tagMask != r.tag || ahead >= r.posted-r.done || wc.QPNum != r.qp.number || len(r.wrs) == 0 ||
		wc.Status == ibv.WCSuccess && wc.Opcode&ibv.WCRecv != 0 {
		return false
	}
	r.done += ahead + 1
	return true
}

// Done reports whether the work request with that WRID is known to be done, so that
// its buffers are the caller's again.
func (r *SendRing) Done(wrID uint64) bool {
	return wrID&tagMask == r.tag && (ticketNumber(wrID)-r.done)&countMask > countMask/2
}
