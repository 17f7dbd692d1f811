package rdma

import "github.com/goverbs/goverbs/ibv"

// Query asks how much the queue has room for, and below how many receives it
// reports an event: see [ibv.SRQ.Query]. siw cannot tell. Any goroutine may call it.
//
// C: ibv_query_srq(3)
func (srq *SRQ) Query() (ibv.SRQAttr, error) {
	return ask(srq.lifetime(), "query", func() (ibv.SRQAttr, error) { return srq.raw.Query() })
}

// Modify changes the attributes that mask names: the queue's size, where the device
// can, or the number of receives below which it reports an event, once. See
// [ibv.SRQ.Modify]. Any goroutine may call it.
//
// C: ibv_modify_srq(3)
func (srq *SRQ) Modify(attr ibv.SRQAttr, mask ibv.SRQAttrMask) error {
	return srq.lifetime().during("modify", func() error { return srq.checked.modify(srq.raw, attr, mask) })
}
