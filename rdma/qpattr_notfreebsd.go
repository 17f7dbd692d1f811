//go:build !freebsd

package rdma

import "github.com/goverbs/goverbs/ibv"

// ModifyRateLimit limits how fast the queue pair sends: see
// [ibv.QP.ModifyRateLimit]. Any goroutine may call it, one at a time for a queue
// pair.
//
// C: ibv_modify_qp_rate_limit(3)
func (qp *QP) ModifyRateLimit(attr ibv.QPRateLimitAttr) error {
	return qp.lifetime().during("limit the rate of", func() error { return qp.raw.ModifyRateLimit(attr) })
}

// QueryECE asks for the extensions to its connection that the queue pair has, or
// can have: see [ibv.QP.QueryECE]. Any goroutine may call it.
//
// C: ibv_query_ece(3)
func (qp *QP) QueryECE() (ibv.ECE, error) {
	return ask(qp.lifetime(), "query connection extensions of", func() (ibv.ECE, error) { return qp.raw.QueryECE() })
}

// SetECE asks for extensions, and changes ece to those that were accepted: see
// [ibv.QP.SetECE]. Any goroutine may call it.
//
// C: ibv_set_ece(3)
func (qp *QP) SetECE(ece *ibv.ECE) error {
	return qp.lifetime().during("set connection extensions of", func() error { return qp.raw.SetECE(ece) })
}

// QueryDataInOrder tells what of a message the device writes to memory in order:
// see [ibv.QP.QueryQPDataInOrder]. Any goroutine may call it.
//
// C: ibv_query_qp_data_in_order(3)
func (qp *QP) QueryDataInOrder(op ibv.WROpcode, flags ibv.QueryQPDataInOrderFlags) (ibv.QueryQPDataInOrderCaps, error) {
	return ask(qp.lifetime(), "query the order of data of", func() (ibv.QueryQPDataInOrderCaps, error) {
		return qp.raw.QueryQPDataInOrder(op, flags)
	})
}
