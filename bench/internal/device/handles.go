package device

import (
	"errors"

	"github.com/goverbs/goverbs/rdma"
)

// Handles are package rdma's, of a device's objects.
type Handles struct {
	QP  *rdma.QP
	SRQ *rdma.SRQ
	CQ  *rdma.CQ
}

// Handles are of the queues that posts and polls are measured on.
func (d *real) Handles() *Handles { return d.handles }

// adopt makes the handles, which destroy nothing.
func (d *real) adopt() (h *Handles, err error) {
	h = &Handles{}
	if h.CQ, err = d.dev.AdoptCQ(d.cq, rdma.CQOptions{}); err != nil {
		return h, err
	}
	if h.SRQ, err = d.domain.AdoptSRQ(d.srq); err != nil {
		return h, err
	}
	h.QP, err = d.domain.AdoptQP(d.qp, rdma.QPOptions{SendCQ: h.CQ, RecvCQ: h.CQ})
	return h, err
}

// close closes what there is.
func (h *Handles) close() error {
	if h == nil {
		return nil
	}
	var errs []error
	if h.QP != nil {
		errs = append(errs, h.QP.Close())
	}
	if h.SRQ != nil {
		errs = append(errs, h.SRQ.Close())
	}
	if h.CQ != nil {
		errs = append(errs, h.CQ.Close())
	}
	return errors.Join(errs...)
}

// Handles is nil: they ask C's library about their objects, which does not know
// the stub's.
func (*Stub) Handles() *Handles { return nil }
