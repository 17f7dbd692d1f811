package rdma

import "github.com/goverbs/goverbs/ibv"

// There are no batches in FreeBSD's verbs.

type sendOps = struct{}

type batchQueue struct{}

func (*QPOptions) create(pd *ibv.PD, attr *ibv.QPInitAttr) (*ibv.QP, error) { return pd.CreateQP(attr) }

func newBatchQueue(*ibv.QP, *life, sendOps, bool) batchQueue { return batchQueue{} }

func (*batchQueue) retire(*life) (revive func()) { return func() {} }
