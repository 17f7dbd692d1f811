//go:build !freebsd

package rdma

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// bindBatch has posts of batches checked.
func (q *checkedQP) bindBatch(qp *QP) {
	if qp.batch.none != nil {
		return
	}
	ex, post := qp.batch.ex, qp.batch.post
	qp.batch.post = func(b *ibv.Batch, first, end int) (int, error) {
		const op = "post a batch to"
		if b.QP() != ex || first < 0 || first >= end || end > b.Len() {
			return post(b, first, end)
		}
		leave, at, m := enter(&q.usage, q.l, b)
		if m != nil {
			return 0, m.error(op, q.l)
		}
		defer leave()
		requests := make([]request, end-first)
		for i := range requests {
			e, ok := b.Entry(first + i)
			if !ok {
				return post(b, first, end) // which says what it lacks
			}
			requests[i] = request{
				index: first + i, wrID: e.WRID, opcode: e.Opcode, flags: e.Flags, sges: e.SGEs,
				inline: e.Flags&ibv.SendInline != 0, inlined: e.Inline,
				// Safe: an address is compared with others, and not followed.
				ah: uintptr(unsafe.Pointer(e.AH)), remoteQPN: e.RemoteQPN,
			}
		}
		return q.postSends(op, requests, false, at, func(n int) (int, error) { return post(b, first, first+n) })
	}
}
