package subject

import (
	"math/bits"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/native"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// ring posts again what was received last, and polls for wrs receives, in both of
// a ring's ways: messages handed out, and completions in C's shape, which are
// checked, but whose messages nobody looks for, as in C. C has a work request for
// each buffer of the ring, and keeps the ring's numbers.
func ring(d device.Device, wrs int) ([]*Subject, error) {
	r := d.Ring()
	if r == nil {
		return nil, nil
	}
	inC, err := ibv.NewRecvChain(r.Recv.Len(), 1)
	if err != nil {
		return nil, err
	}
	for i := range inC.Len() {
		if err := inC.Set(i, uint64(i), r.SGE); err != nil {
			return nil, err
		}
	}
	wcs, received := make([]ibv.WC, wrs), make([]rdma.Received, wrs)
	mask := uint64(1)<<bits.Len(uint(r.Recv.Len()-1)) - 1 // of a WRID's bits that are the buffer's number
	calls := r.Recv.Len() / wrs
	return share(Subject{
		Op: Ring, WRs: wrs, Calls: calls,
		before: func() error {
			// The ring keeps what it was given back last for its next poll.
			if err := r.Recv.Flush(); err != nil {
				return err
			}
			return r.Fill(calls * wrs)
		},
	}, []variant{
		{C, func(n int) (int, int64) {
			good, ticks := native.Ring(r.SRQ, r.CQ, inC.WR(0), wcs, mask, n)
			if n > 0 && good == n { // outside of the loop, as everything behind it
				if err := repost(r.SRQ, inC, wcs, mask); err != nil {
					return 0, 0
				}
			}
			return good, ticks
		}},
		{Goverbs, timed(func(n int) int {
			for i := range n {
				if got, err := r.Recv.Poll(received); got != wrs || err != nil || r.Recv.Release(received...) != nil {
					return i
				}
			}
			return n
		})},
		{GoverbsWC, timed(func(n int) int {
			for i := range n {
				if got, err := r.Recv.PollWC(wcs); got != wrs || err != nil || r.Recv.ReleaseWC(wcs...) != nil {
					return i
				}
			}
			return n
		})},
	}), nil
}

// repost posts what C received last.
func repost(srq *ibv.SRQ, chain *ibv.RecvChain, wcs []ibv.WC, mask uint64) error {
	picked := make([]int, len(wcs))
	for k, wc := range wcs {
		picked[k] = int(wc.WRID & mask)
		chain.WR(picked[k]).WRID = wc.WRID
	}
	// C leaves the links to itself, and a chain has its own.
	for k, i := range picked {
		chain.WR(i).Next = nil
		if k > 0 {
			chain.WR(picked[k-1]).Next = chain.WR(i)
		}
	}
	_, err := srq.PostRecv(chain.WR(picked[0]))
	return err
}
