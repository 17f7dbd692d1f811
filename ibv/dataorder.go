//go:build !freebsd

package ibv

// QueryQPDataInOrder tells what of a message the queue pair's device writes to
// memory in order, for sends, writes or reads: whether a program may look for the
// end of a message in memory, rather than wait for its completion. Without
// QueryQPDataInOrderReturnCaps among the flags, the answer has no bit but
// QueryQPDataInOrderWholeMsg. Flags that the library does not know are answered
// with 0. It may be called from any goroutine.
//
// C: ibv_query_qp_data_in_order(3)
func (qp *QP) QueryQPDataInOrder(op WROpcode, flags QueryQPDataInOrderFlags) (QueryQPDataInOrderCaps, error) {
	caps, err := cQueryQPDataInOrder(qp, op, uint32(flags))
	return QueryQPDataInOrderCaps(caps), qp.Context.action("query the order of data", nil).from(err)
}
