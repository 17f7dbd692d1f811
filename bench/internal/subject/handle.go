package subject

import (
	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/ibv"
)

// The variants that go through package rdma's handles. Where there are none, as on
// the stub, they go through what those stand on, as those do.

func handleRecv(d device.Device, chain *ibv.RecvChain) variant {
	if h := d.Handles(); h != nil {
		qp := h.QP
		return variant{RDMA, timed(func(n int) int {
			for i := range n {
				if _, err := qp.PostRecv(chain); err != nil {
					return i
				}
			}
			return n
		})}
	}
	poster := new(ibv.RecvPoster)
	*poster = d.QP().RecvPoster()
	return postRecvs(poster, chain)
}

func handleRecvFull(d device.Device, chain *ibv.RecvChain) variant {
	if h := d.Handles(); h != nil {
		qp := h.QP
		return variant{RDMA, timed(func(n int) int {
			for i := range n {
				if accepted, err := qp.PostRecv(chain); accepted != 0 || err == nil {
					return i
				}
			}
			return n
		})}
	}
	poster := new(ibv.RecvPoster)
	*poster = d.QP().RecvPoster()
	return variant{RDMA, timed(func(n int) int {
		for i := range n {
			if accepted, err := poster.Whole(chain, 0, 0); accepted != 0 || err == nil {
				return i
			}
		}
		return n
	})}
}

func handleSRQRecv(d device.Device, chain *ibv.RecvChain) variant {
	if h := d.Handles(); h != nil {
		srq := h.SRQ
		return variant{RDMA, timed(func(n int) int {
			for i := range n {
				if _, err := srq.PostRecv(chain); err != nil {
					return i
				}
			}
			return n
		})}
	}
	poster := new(ibv.RecvPoster)
	*poster = d.SRQ().RecvPoster()
	return postRecvs(poster, chain)
}

func postRecvs(poster *ibv.RecvPoster, chain *ibv.RecvChain) variant {
	return variant{RDMA, timed(func(n int) int {
		for i := range n {
			if _, err := poster.Whole(chain, 0, 0); err != nil {
				return i
			}
		}
		return n
	})}
}

func handleSend(d device.Device, chain *ibv.SendChain) variant {
	if h := d.Handles(); h != nil {
		qp := h.QP
		return variant{RDMA, timed(func(n int) int {
			for i := range n {
				if _, err := qp.PostSend(chain); err != nil {
					return i
				}
			}
			return n
		})}
	}
	poster := new(ibv.SendPoster)
	*poster = d.QP().SendPoster()
	return variant{RDMA, timed(func(n int) int {
		for i := range n {
			if _, err := poster.Whole(chain, 0, 0); err != nil {
				return i
			}
		}
		return n
	})}
}

func handlePoll(d device.Device, wcs []ibv.WC, want int) variant {
	if h := d.Handles(); h != nil {
		cq := h.CQ
		return variant{RDMA, timed(func(n int) int {
			for i := range n {
				if got, err := cq.Poll(wcs); got != want || err != nil {
					return i
				}
			}
			return n
		})}
	}
	poller := new(ibv.Poller)
	*poller = d.CQ().Poller()
	return variant{RDMA, timed(func(n int) int {
		for i := range n {
			if got, err := poller.Poll(wcs); got != want || err != nil {
				return i
			}
		}
		return n
	})}
}
