package device

import "github.com/goverbs/goverbs/rdma"

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
	if d.adopted, err = rdma.AdoptDevice(d.ctx, rdma.DeviceOptions{}); err != nil {
		return nil, err
	}
	pd, err := d.adopted.AdoptPD(d.pd)
	if err != nil {
		return nil, err
	}
	if h.CQ, err = d.adopted.AdoptCQ(d.cq, rdma.CQOptions{}); err != nil {
		return nil, err
	}
	if h.SRQ, err = pd.AdoptSRQ(d.srq); err != nil {
		return nil, err
	}
	h.QP, err = pd.AdoptQP(d.qp, h.CQ, h.CQ, nil)
	return h, err
}

// Handles is nil: they ask C's library about their objects, which does not know
// the stub's.
func (*Stub) Handles() *Handles { return nil }
