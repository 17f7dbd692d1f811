//go:build !freebsd

package rdma

import (
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// sendOps is ibv's type where there is one.
type sendOps = ibv.QPCreateSendOpsFlags

// batchQueue is the send queue of a queue pair as batches see it.
type batchQueue struct {
	ex   *ibv.QPEx
	post func(b *ibv.Batch, first, end int) (accepted int, err error)
	none error // why it takes no batches, if it is not nil
}

// create makes C's object.
func (opts *QPOptions) create(pd *ibv.PD, attr *ibv.QPInitAttr) (*ibv.QP, error) {
	if opts.SendOps == 0 {
		return pd.CreateQP(attr)
	}
	ex := ibv.QPInitAttrEx{
		QPContext: attr.QPContext, SendCQ: attr.SendCQ, RecvCQ: attr.RecvCQ, SRQ: attr.SRQ, Cap: attr.Cap,
		QPType: attr.QPType, SQSigAll: attr.SQSigAll,
		CompMask: ibv.QPInitAttrPD | ibv.QPInitAttrSendOpsFlags, PD: pd, SendOpsFlags: uint64(opts.SendOps),
	}
	raw, err := pd.Context.CreateQPEx(&ex)
	attr.Cap = ex.Cap
	return raw, err
}

// newBatchQueue binds the post of batches. Of a queue pair that was made here, ops
// tells whether it is extended.
func newBatchQueue(raw *ibv.QP, l *life, ops sendOps, adopted bool) batchQueue {
	const hint = "make it with QPOptions.SendOps, which names the operations"
	none := func(err error) batchQueue {
		return batchQueue{none: err, post: func(*ibv.Batch, int, int) (int, error) { return 0, l.failed("post a batch to", err, hint) }}
	}
	if ops == 0 && !adopted {
		return none(syscall.EOPNOTSUPP)
	}
	ex, err := raw.Ex()
	if err != nil {
		return none(err)
	}
	return batchQueue{ex: ex, post: func(b *ibv.Batch, first, end int) (int, error) {
		if b.QP() != ex {
			return 0, l.failed("post a batch to", syscall.EINVAL, "the batch was made for another queue pair")
		}
		return b.PostRange(first, end)
	}}
}

// retire has posts of batches return ErrClosed, until they are revived.
func (q *batchQueue) retire(l *life) (revive func()) {
	before := q.post
	q.post = func(*ibv.Batch, int, int) (int, error) { return 0, l.check("post a batch to") }
	return func() { q.post = before }
}

// NewBatch makes a batch of n work requests for the queue pair, with room for
// lists of maxSGE scatter/gather entries in each, and with the operations that
// QPOptions.SendOps named: see [ibv.NewBatch]. It is memory of Go's, and needs no
// closing. Post it with PostBatch: its own Post does not know when the queue pair is
// closed.
//
// The error is syscall.EOPNOTSUPP if the queue pair takes no batches. For one that
// was adopted, only who made it knows its operations: use ibv.NewBatch.
func (qp *QP) NewBatch(n, maxSGE int) (*ibv.Batch, error) {
	const op = "make a batch for"
	return ask(qp.lifetime(), op, func() (*ibv.Batch, error) {
		switch {
		case qp.batch.none != nil:
			return nil, qp.l.failed(op, qp.batch.none, "make it with QPOptions.SendOps, which names the operations")
		case qp.sendOps == 0:
			return nil, qp.l.failed(op, syscall.EINVAL, "it was adopted, and its operations are not known: use ibv.NewBatch of Raw().Ex()")
		}
		return ibv.NewBatch(qp.batch.ex, qp.sendOps, n, maxSGE)
	})
}

// PostBatch posts a whole batch of this queue pair's: see [ibv.Batch.Post]. A batch
// of another queue pair's is an error, and so is any after Close.
func (qp *QP) PostBatch(b *ibv.Batch) (accepted int, err error) { return qp.batch.post(b, 0, b.Len()) }

// PostBatchRange posts a part of a batch: see [ibv.Batch.PostRange].
func (qp *QP) PostBatchRange(b *ibv.Batch, first, end int) (accepted int, err error) {
	return qp.batch.post(b, first, end)
}
