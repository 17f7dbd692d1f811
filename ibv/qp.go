package ibv

import (
	"fmt"
	"strings"
	"syscall"
)

// CreateQP makes a queue pair in the protection domain, as ibv_create_qp(3)
// does, and leaves it in RESET. attr.Cap is updated to what the queue pair
// really has, which may be more than was asked for. The caller closes it, after
// which its completion queues may still hold its completions. It may be called
// from any goroutine.
//
// Queue pairs of type QPTDriver are made by functions of their providers, such as
// mlx5dv_create_qp, and work here too once they are there.
//
// C: ibv_create_qp(3)
func (pd *PD) CreateQP(attr *QPInitAttr) (*QP, error) {
	act := pd.Context.action("create queue pair", sizeHints)
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	if err := pd.checkQP(act, attr); err != nil {
		return nil, err
	}
	// A copy, because C writes to it and the caller's may be on a stack that moves.
	c := new(QPInitAttr)
	*c = *attr
	qp, err := cCreateQP(pd, c)
	if err != nil {
		return nil, pd.Context.explainLimits(act.from(err), attr.Cap.limits)
	}
	attr.Cap = c.Cap
	return qp, nil
}

// checkQP refuses attributes that providers would follow without looking.
func (pd *PD) checkQP(act action, attr *QPInitAttr) error {
	switch {
	case attr.QPType == 0:
		return act.invalid("QPType is missing")
	case attr.QPType == QPTXRCRecv:
		return act.invalid("the receiving end of XRC belongs to an XRC domain: Context.CreateQPEx makes it")
	case attr.QPType == QPTXRCSend && attr.SendCQ == nil:
		return act.invalid("SendCQ is needed")
	case attr.QPType != QPTXRCSend && (attr.SendCQ == nil || attr.RecvCQ == nil):
		return act.invalid("SendCQ and RecvCQ are both needed; they may be the same")
	}
	// The kernel knows objects by their numbers, so those of another context would be
	// taken for whatever has the same number in this one.
	switch ctx := pd.Context; {
	case attr.SendCQ.Context != ctx, attr.RecvCQ != nil && attr.RecvCQ.Context != ctx:
		return act.invalid("the completion queues and the protection domain belong to different contexts")
	case attr.SRQ != nil && attr.SRQ.Context != ctx:
		return act.invalid("the shared receive queue and the protection domain belong to different contexts")
	}
	return nil
}

// Close destroys the queue pair, as ibv_destroy_qp(3) does. What is outstanding
// on it is dropped without a completion. One that is attached to a multicast group
// is busy: see [QP.DetachMcast]. It waits until all events of the queue
// pair that were got are acknowledged, as [CQ.Close] does.
//
// C: ibv_destroy_qp(3)
func (qp *QP) Close() error {
	return qp.action("destroy", closeHints).from(cDestroyQP(qp))
}

// Modify changes the attributes that mask names, as ibv_modify_qp(3) does;
// among them the state. Each change of state has attributes that it needs and
// others that it takes, by the type of the queue pair. An error names those that
// are missing or too many, the states that can be moved to, and values that are out
// of range. It may be called from any goroutine, one at a time for a queue pair.
//
// The mask is checked before C is called where the device's driver is known to go
// by the same table, which is the kernel's (InfiniBand and RoCE on Linux, of most
// makers), and by the state that the device says. Elsewhere the device decides,
// and the table explains what it refused: on iWARP, on FreeBSD, of unknown
// providers and types, with attributes that are newer than the table (above
// QPAttrMaskDestQPN). Values are for the device to judge, because devices take
// some that others do not.
//
// C: ibv_modify_qp(3); a change that the kernel would refuse is refused before, with the reason
func (qp *QP) Modify(attr *QPAttr, mask QPAttrMask) error {
	act := qp.action("modify", map[syscall.Errno]string{
		syscall.EINVAL: "a value is out of range, or the mask has an attribute too many for this state",
		syscall.EPERM:  "a QKey whose highest bit is set takes the capability CAP_NET_RAW",
		noEntry:        "the GID index has no entry: see Context.GIDs",
		// How the kernel says that it found no way by IP.
		syscall.ENETUNREACH:  "there is no route to the peer's GID",
		syscall.EHOSTUNREACH: "there is no route to the peer's GID",
		syscall.ETIMEDOUT:    "nobody answers at the peer's GID",
	})
	if attr == nil {
		return act.invalid("attributes are missing")
	}
	if mask&QPAttrMaskState != 0 {
		act.op = qp.moving(attr.QPState).op
	}
	act.op += fmt.Sprintf(" (%v)", mask)
	if objections := qp.foreseen(attr, mask); len(objections) > 0 {
		return act.invalid("%s", strings.Join(objections, "; "))
	}
	c := new(QPAttr)
	*c = *attr
	if err := cModifyQP(qp, c, mask); err != nil {
		return qp.explain(act.from(err), attr, mask)
	}
	return nil
}

// Query reads the attributes that mask names, and perhaps more, and those that
// the queue pair was made with, as ibv_query_qp(3) does. It may be called from
// any goroutine.
//
// C: ibv_query_qp(3)
func (qp *QP) Query(mask QPAttrMask) (QPAttr, QPInitAttr, error) {
	attr, init := new(QPAttr), new(QPInitAttr)
	err := cQueryQP(qp, attr, mask, init)
	return *attr, *init, qp.action("query", nil).from(err)
}

// action names the queue pair in the errors of an operation.
func (qp *QP) action(op string, hints map[syscall.Errno]string) action {
	return qp.Context.action(op+" "+qp.String(), hints)
}

// moving is a change of state for errors, before C is asked.
func (qp *QP) moving(to QPState) action {
	act := qp.action("move", nil)
	act.op += " to " + to.String()
	return act
}
