package rdma

import "github.com/goverbs/goverbs/ibv"

// Number is the queue pair's number, which completions name as their QPNum, and
// which the peer sends to. It works after Close, too.
func (qp *QP) Number() uint32 { return qp.number }

// Type is what kind of queue pair it is, and 0 of a nil handle.
func (qp *QP) Type() ibv.QPType {
	if qp == nil {
		return 0
	}
	return qp.typ
}

// State asks the device which state the queue pair is in. Raw().State is the one
// that the library knows, which is out of date when the device has moved the queue
// pair to ERR. Some devices do not tell, siw among them, and say RESET. Any
// goroutine may call it.
//
// C: ibv_query_qp(3)
func (qp *QP) State() (ibv.QPState, error) {
	attr, _, err := qp.Query(ibv.QPAttrMaskState)
	return attr.QPState, err
}

// Query reads the attributes that mask names, and perhaps more, and those that the
// queue pair was made with: see [ibv.QP.Query]. Any goroutine may call it.
//
// C: ibv_query_qp(3)
func (qp *QP) Query(mask ibv.QPAttrMask) (attr ibv.QPAttr, init ibv.QPInitAttr, err error) {
	err = qp.lifetime().during("query", func() error {
		attr, init, err = qp.raw.Query(mask)
		return err
	})
	return attr, init, err
}

// Modify changes the attributes that mask names, among them the state: see
// [ibv.QP.Modify]. ToInit and its neighbours put the attributes of a move together.
// Any goroutine may call it, one at a time for a queue pair.
//
// C: ibv_modify_qp(3)
func (qp *QP) Modify(attr *ibv.QPAttr, mask ibv.QPAttrMask) error {
	return qp.lifetime().during("modify", func() error { return qp.checked.modified(qp.watched.modify(attr, mask), attr, mask) })
}
