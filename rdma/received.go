package rdma

import "github.com/goverbs/goverbs/ibv"

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
	wrs := r.wrs
	for i := range wcs[:n] {
		wc := &wcs[i]
		slot := wc.WRID & slotMask
		if slot >= uint64(len(wrs)) || wrs[slot].WRID != wc.WRID {
			return r.sortOut(into, i, n, err)
		}
		m := &into[i]
		m.WC, m.Data = *wc, r.message(int(slot), wc)
	}
	return n, err
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
			return r.releaseRest(tail, len(rest), func(k int) uint64 { return rest[k].WC.WRID })
		}
		tail = giveBack(&wrs[slot], id+oneLap, tail)
	}
	r.tail = tail
	return nil
}
