package rdma

import (
	"fmt"
	"syscall"
	"unsafe"
	"weak"

	"github.com/goverbs/goverbs/ibv"
)

// recvQueue is what a receive ring posts to: one of the two.
type recvQueue struct {
	qp  *QP
	srq *SRQ
}

const notInReset = "it takes no receives in RESET: move it to INIT first"

func (q *recvQueue) life() *life {
	if q.srq != nil {
		return q.srq.l
	}
	return q.qp.l
}

// name says which one it is, without its device.
func (q *recvQueue) name() string {
	l := q.life()
	return fmt.Sprintf("%s %s", l.kind, l.name)
}

// post is the provider's function for posts, and what it takes.
func (q *recvQueue) post() (fn uintptr, object unsafe.Pointer) {
	// Safe: C gets its own object.
	if q.srq != nil {
		return uintptr(q.srq.raw.Context.Ops.PostSRQRecv), unsafe.Pointer(q.srq.raw)
	}
	return uintptr(q.qp.raw.Context.Ops.PostRecv), unsafe.Pointer(q.qp.raw)
}

// outcome is what became of a call of that function.
func (q *recvQueue) outcome(wr *ibv.RecvWR, result, errno int32, bad uintptr) (*ibv.RecvWR, error) {
	if q.srq != nil {
		return q.srq.raw.PostRecvOutcome(wr, result, errno, bad)
	}
	return q.qp.raw.PostRecvOutcome(wr, result, errno, bad)
}

func (q *recvQueue) postRecv(wr *ibv.RecvWR) (*ibv.RecvWR, error) {
	if q.srq != nil {
		return q.srq.raw.PostRecv(wr)
	}
	return q.qp.raw.PostRecv(wr)
}

// postRange posts a work request by the handle.
func (q *recvQueue) postRange(c *ibv.RecvChain, i int) (accepted int, err error) {
	if q.srq != nil {
		return q.srq.PostRecvRange(c, i, i+1)
	}
	return q.qp.PostRecvRange(c, i, i+1)
}

// anyState is the state of what has none.
var anyState = ibv.QPSRTS

// state is where the library has the state of it. In RESET it takes nothing, and
// providers refuse a receive then without saying that they took none.
func (q *recvQueue) state() *ibv.QPState {
	if q.srq != nil || q.qp.unknownState() {
		return &anyState
	}
	return &q.qp.raw.State
}

// notReady says that it takes nothing now.
func (q *recvQueue) notReady() error {
	if *q.state() == ibv.QPSReset {
		return q.life().failed("post receives of a ring to", syscall.EINVAL, notInReset)
	}
	return nil
}

// adopt makes it the ring's child, and has it stop the ring when it is closed.
func (q *recvQueue) adopt(r *RecvRing) error {
	if err := q.life().adopt(r.l); err != nil {
		return err
	}
	hook := hookOf(r, (*RecvRing).stop)
	if q.srq != nil {
		q.srq.rings.add(hook)
	} else {
		q.qp.rings.add(hook)
	}
	return nil
}

// disown takes that back.
func (q *recvQueue) disown(r *RecvRing) {
	q.life().leave(r.l)
	// Its hook finds nothing, once the ring is collected, and harms none until then.
}

// hookOf is a hook of something that it does not keep alive.
func hookOf[T any](of *T, stop func(*T) (back func())) hook {
	w := weak.Make(of)
	return func() func() {
		if of := w.Value(); of != nil {
			return stop(of)
		}
		return nil
	}
}
