package ibv

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// PostPicked is Post for the work requests with the given numbers, in that
// order: those whose buffers are free again, say. It still is one call, to a queue
// pair or a shared receive queue. A number that is out of range or picked twice is
// an error, and nothing is posted. accepted counts along picked, which is the
// caller's again on return.
func (c *RecvChain) PostPicked(to RecvQueue, picked []int) (accepted int, err error) {
	q := to.recvQueue()
	if q.attached() && len(picked) > 0 {
		return 0, ErrSRQAttached
	}
	object, postFn := q.object()
	return c.list.postPicked(q.op(), *postFn, object, picked)
}

// PostPicked is Post for the work requests with the given numbers, in that
// order, in one call. A number that is out of range or picked twice is an error,
// and nothing is posted. accepted counts along picked, which is the caller's
// again on return.
func (c *SendChain) PostPicked(qp *QP, picked []int) (accepted int, err error) {
	return c.list.postPicked(opPostSend, uintptr(qp.Context.Ops.PostSend), unsafe.Pointer(qp), picked)
}

// link makes work request j, or none when j is len(c.wrs), the successor of i.
func (c *chain[WR]) link(i, j int) {
	next := uintptr(0)
	if j < len(c.wrs) {
		next = uintptr(unsafe.Pointer(&c.wrs[j]))
	}
	*c.nextOf(i) = next
}

// pointsTo reports whether work request j is the successor of i.
func (c *chain[WR]) pointsTo(i, j int) bool {
	return *c.nextOf(i) == uintptr(unsafe.Pointer(&c.wrs[j]))
}

// postPicked is post for the work requests with the given numbers, in that
// order: they are linked to each other for the time of the call.
func (c *chain[WR]) postPicked(op postOp, slot uintptr, object unsafe.Pointer, picked []int) (int, error) {
	if len(picked) == 0 {
		return 0, nil
	}
	// A work request that points to itself is one that was met before. None does
	// otherwise.
	for k, i := range picked {
		if uint(i) >= uint(len(c.wrs)) || c.pointsTo(i, i) {
			c.relink(picked[:k])
			return 0, c.pickError(op, i)
		}
		c.link(i, i)
	}
	for _, i := range picked {
		c.posting(i, i+1)
	}
	first := c.linkRun(picked)
	// Safe: as in postRange.
	result, errno, bad := ccall.Post(slot, object, first)
	c.relink(picked)
	return c.acceptedPicked(op, picked, result, errno, bad)
}

// linkRun makes a list of work requests that are all different, and returns the
// first one.
func (c *chain[WR]) linkRun(picked []int) unsafe.Pointer {
	for k, i := range picked[1:] {
		c.link(picked[k], i)
	}
	c.link(picked[len(picked)-1], len(c.wrs))
	return unsafe.Pointer(&c.wrs[picked[0]])
}

// acceptedPicked is how many of the work requests were accepted, -1 if that is not
// known, and the error.
func (c *chain[WR]) acceptedPicked(op postOp, picked []int, result, errno int32, bad uintptr) (int, error) {
	if result == 0 && bad == 0 {
		return len(picked), nil
	}
	k := slices.Index(picked, index[WR](bad, unsafe.Pointer(&c.wrs[0]), len(c.wrs)))
	if err := refusal(op, result, errno, k >= 0); err != nil {
		return k, err
	}
	return len(picked), nil
}

// relink gives work requests their places in the whole chain again.
func (c *chain[WR]) relink(picked []int) {
	for _, i := range picked {
		c.link(i, i+1)
	}
}

func (c *chain[WR]) pickError(op postOp, i int) error {
	act := action{op: fmt.Sprintf("%v picked from a chain", op)}
	if uint(i) >= uint(len(c.wrs)) {
		return act.invalid("number %d is picked, the chain has 0 to %d; nothing was posted", i, len(c.wrs)-1)
	}
	return act.invalid("number %d is picked twice; nothing was posted", i)
}
