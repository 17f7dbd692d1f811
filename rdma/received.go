package rdma

import (
	"context"

	"github.com/goverbs/goverbs/ibv"
)

// Received is a message that a [RecvRing] hands out, with its buffer.
type Received struct {
	// WC is the completion. When it has failed, see [ibv.WC.Err], Data is empty. Its WRID
	// is the ring's own.
	WC ibv.WC
	// Data is the message, as of [RecvRing.Data]. It is the caller's until Release.
	// Of a UD message, [RecvRing.Header] has what stands in front.
	Data []byte
}

// Poll is PollWC that hands out messages: up to len(into) of them, 64 at most.
// What else completes on the ring's completion queue is not handed out, but in the
// error, a [ForeignError].
func (r *RecvRing) Poll(into []Received) (int, error) {
	wcs := r.wcs[:min(len(into), len(r.wcs))]
	n, err := r.PollWC(wcs)
	return r.handOut(into, wcs[:n], err)
}

// Wait is Poll that waits until there is a message, or an error: as [CQ.Wait] does.
// Nobody else uses the ring meanwhile. But once it waits, the ring and what it posts
// to may be closed, which it is told as soon as anything wakes it: [ErrClosed].
func (r *RecvRing) Wait(ctx context.Context, into []Received) (int, error) {
	if n, err := r.Poll(into); n > 0 || err != nil || len(into) == 0 {
		return n, err
	}
	wcs := r.wcs[:min(len(into), len(r.wcs))]
	n, err := r.park(ctx, wcs)
	if n == 0 {
		return 0, err
	}
	return r.handOut(into, wcs[:n], err)
}

// WaitWC is PollWC that waits until there is a completion, or an error: as [CQ.Wait]
// does, and RecvRing.Wait.
func (r *RecvRing) WaitWC(ctx context.Context, wcs []ibv.WC) (int, error) {
	if n, err := r.PollWC(wcs); n > 0 || err != nil || len(wcs) == 0 {
		return n, err
	}
	return r.park(ctx, wcs)
}

// park waits for completions. Whoever closes the ring, or what it posts to, has the
// same lock as closedError: so neither sees the other halfway.
func (r *RecvRing) park(ctx context.Context, wcs []ibv.WC) (int, error) {
	const op = "wait on"
	if err := r.closedError(op); err != nil {
		return 0, err
	}
	n, err := r.cq.Wait(ctx, wcs)
	if n == 0 {
		return 0, err
	}
	if err := r.l.check(op); err != nil {
		return 0, err // the messages are gone
	}
	return n, both(err, r.closedError(op))
}

// handOut hands out the messages of completions, with the error that came with them.
func (r *RecvRing) handOut(into []Received, wcs []ibv.WC, err error) (int, error) {
	wrs := r.wrs
	for i := range wcs {
		wc := &wcs[i]
		slot := wc.WRID & slotMask
		if slot >= uint64(len(wrs)) || wrs[slot].WRID != wc.WRID {
			return r.sortOut(into, i, len(wcs), err)
		}
		m := &into[i]
		m.WC, m.Data = *wc, r.message(int(slot), wc)
	}
	return len(wcs), err
}

// sortOut goes on with the completion at i, of n that were polled, which is not the
// ring's.
func (r *RecvRing) sortOut(into []Received, i, n int, err error) (int, error) {
	foreign := &ForeignError{Op: "poll receive ring"}
	taken := i
	for ; i < n; i++ {
		wc := &r.wcs[i]
		if !r.has(wc.WRID) {
			foreign.WCs = append(foreign.WCs, *wc)
			continue
		}
		into[taken] = Received{WC: *wc, Data: r.Data(wc)}
		taken++
	}
	return taken, both(err, foreign)
}

// Release gives buffers back, as ReleaseWC does.
func (r *RecvRing) Release(received ...Received) error {
	wrs, tail := r.wrs, r.tail
	if tail == nil {
		return r.closedError("release a buffer of")
	}
	for i := range received {
		id := received[i].WC.WRID
		slot := id & slotMask
		if slot >= uint64(len(wrs)) || wrs[slot].WRID != id {
			rest := received[i:]
			r.released += uint64(i)
			return r.releaseRest(tail, len(rest), func(k int) uint64 { return rest[k].WC.WRID })
		}
		tail = giveBack(&wrs[slot], id+oneLap, tail)
	}
	r.tail = tail
	r.released += uint64(len(received))
	return nil
}
