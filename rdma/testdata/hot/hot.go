// Package hot has the hot calls of handles, each in a function of its own, for a
// test that looks at what the compiler makes of them.
package hot

import (
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

func PostRecv(qp *rdma.QP, c *ibv.RecvChain) (int, error) { return qp.PostRecv(c) }

func PostRecvRange(qp *rdma.QP, c *ibv.RecvChain, first, end int) (int, error) {
	return qp.PostRecvRange(c, first, end)
}

func PostSend(qp *rdma.QP, c *ibv.SendChain) (int, error) { return qp.PostSend(c) }

func PostSendRange(qp *rdma.QP, c *ibv.SendChain, first, end int) (int, error) {
	return qp.PostSendRange(c, first, end)
}

func PostSRQRecv(srq *rdma.SRQ, c *ibv.RecvChain) (int, error) { return srq.PostRecv(c) }

func PostSRQRecvRange(srq *rdma.SRQ, c *ibv.RecvChain, first, end int) (int, error) {
	return srq.PostRecvRange(c, first, end)
}

func Poll(cq *rdma.CQ, wcs []ibv.WC) (int, error) { return cq.Poll(wcs) }
