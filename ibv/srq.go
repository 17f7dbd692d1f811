package ibv

import "syscall"

// CreateSRQ makes a shared receive queue in the protection domain, as
// ibv_create_srq(3) does: the queue pairs that are made with it receive into
// what is posted to it. attr.Attr is updated to what the queue really has. The
// caller closes it. It may be called from any goroutine.
//
// C: ibv_create_srq(3)
func (pd *PD) CreateSRQ(attr *SRQInitAttr) (*SRQ, error) {
	act := pd.Context.action("create shared receive queue", sizeHints)
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	c := new(SRQInitAttr)
	*c = *attr
	srq, err := cCreateSRQ(pd, c)
	if err != nil {
		return nil, pd.Context.explainLimits(act.from(err), func(device *DeviceAttr) []limit {
			return []limit{{"Attr.MaxWR", attr.Attr.MaxWR, device.MaxSRQWR}, {"Attr.MaxSGE", attr.Attr.MaxSGE, device.MaxSRQSGE}}
		})
	}
	attr.Attr = c.Attr
	return srq, nil
}

// Close destroys the shared receive queue, as ibv_destroy_srq(3) does. The
// queue pairs that use it must be closed before. It waits until all events of the
// queue that were got are acknowledged, as [CQ.Close] does.
//
// C: ibv_destroy_srq(3)
func (srq *SRQ) Close() error {
	return srq.Context.action("destroy shared receive queue", closeHints).from(cDestroySRQ(srq))
}

// Modify changes the attributes that mask names, as ibv_modify_srq(3) does: the
// queue's size, where the device can, or the fill level below which it reports
// an event once: see [Context.GetAsyncEvent]. It may be called from any goroutine.
//
// C: ibv_modify_srq(3)
func (srq *SRQ) Modify(attr SRQAttr, mask SRQAttrMask) error {
	c := new(SRQAttr)
	*c = attr
	act := srq.Context.action("modify shared receive queue", map[syscall.Errno]string{
		syscall.EINVAL: "the limit is above the queue's size, the size is below what is outstanding, or the device cannot resize",
		syscall.ENOMEM: hintLocksMemory,
	})
	return act.from(cModifySRQ(srq, c, mask))
}

// Query reads the queue's attributes, as ibv_query_srq(3) does. It may be
// called from any goroutine.
//
// C: ibv_query_srq(3)
func (srq *SRQ) Query() (SRQAttr, error) {
	attr := new(SRQAttr)
	err := cQuerySRQ(srq, attr)
	return *attr, srq.Context.action("query shared receive queue", nil).from(err)
}
