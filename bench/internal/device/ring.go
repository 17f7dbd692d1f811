package device

import (
	"errors"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Ring is a receive ring on a shared receive queue.
type Ring struct {
	Recv *rdma.RecvRing
	SRQ  *ibv.SRQ
	CQ   *ibv.CQ // the receives'
	SGE  ibv.SGE // of memory that all receives may have in common
	// Fill has n messages received, up to the ring's length.
	Fill func(n int) error
}

const (
	ringRoom = 1024
	ringSize = 64
)

// ring is a Ring with what it receives from.
type ring struct {
	Ring
	loop *loop
}

// Ring is the ring.
func (d *real) Ring() *Ring { return &d.ring.Ring }

func (d *real) newRing() (r *ring, err error) {
	r = &ring{}
	if r.SRQ, err = d.pd.CreateSRQ(&ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: ringRoom, MaxSGE: 1}}); err != nil {
		return r, err
	}
	if r.CQ, err = d.ctx.CreateCQ(ringRoom); err != nil {
		return r, err
	}
	if r.loop, err = d.newLoop(r.SRQ, r.CQ); err != nil {
		return r, err
	}
	r.SGE = d.SGE()
	r.Fill = func(n int) error {
		for n > 0 {
			k := min(n, r.loop.sends.Len())
			if _, err := r.loop.sends.PostRange(r.loop.qp, 0, k); err != nil {
				return err
			}
			// A message has been received when its send completes.
			if err := d.poll(r.loop.cq, k); err != nil {
				return err
			}
			n -= k
		}
		return nil
	}
	cq, err := d.dev.AdoptCQ(r.CQ, rdma.CQOptions{})
	if err != nil {
		return r, err
	}
	srq, err := d.domain.AdoptSRQ(r.SRQ)
	if err != nil {
		return r, err
	}
	r.Recv, err = rdma.NewSRQRecvRing(srq, cq, rdma.RecvRingOptions{Buffers: ringRoom, Size: ringSize})
	return r, err
}

// close closes what there is.
func (r *ring) close() error {
	if r == nil {
		return nil
	}
	errs := []error{r.loop.close()}
	if r.SRQ != nil {
		errs = append(errs, r.SRQ.Close())
	}
	if r.Recv != nil {
		errs = append(errs, r.Recv.CloseAll())
	}
	if r.CQ != nil {
		errs = append(errs, r.CQ.Close())
	}
	return errors.Join(errs...)
}
