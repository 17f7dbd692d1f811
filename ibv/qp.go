package ibv

import (
	"fmt"
	"syscall"
	"unsafe"
)

// CreateQP makes a queue pair in the protection domain, as ibv_create_qp(3)
// does, and leaves it in RESET. attr.Cap is updated to what the queue pair
// really has, which may be more than was asked for. The caller closes it, after
// which its completion queues may still hold its completions. It may be called
// from any goroutine.
func (pd *PD) CreateQP(attr *QPInitAttr) (*QP, error) {
	act := pd.Context.action("create queue pair", sizeHints)
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	switch attr.QPType {
	case 0:
		return nil, act.invalid("QPType is missing")
	case QPTRC, QPTUC, QPTUD, QPTRawPacket:
		// Providers follow these pointers without looking.
		if attr.SendCQ == nil || attr.RecvCQ == nil {
			return nil, act.invalid("SendCQ and RecvCQ are both needed; they may be the same")
		}
	}
	// A copy, because C writes to it and the caller's may be on a stack that moves.
	c := new(QPInitAttr)
	*c = *attr
	qp, err := callPointer(act, "ibv_create_qp", uintptr(unsafe.Pointer(pd)), uintptr(unsafe.Pointer(c)))
	if err != nil {
		return nil, err
	}
	attr.Cap = c.Cap
	return pointerTo[QP](qp), nil
}

// Close destroys the queue pair, as ibv_destroy_qp(3) does. What is outstanding
// on it is dropped without a completion.
func (qp *QP) Close() error {
	return callInt(qp.action("destroy", closeHints), "ibv_destroy_qp", uintptr(unsafe.Pointer(qp)))
}

// Modify changes the attributes that mask names, as ibv_modify_qp(3) does;
// among them the state. Each change of state has attributes that it needs and
// others that it allows, by the type of the queue pair: the man page has the
// table. It may be called from any goroutine, one at a time for a queue pair.
func (qp *QP) Modify(attr *QPAttr, mask QPAttrMask) error {
	invalid := "a value is out of range, an attribute is missing for the change of state, or it is not allowed from this state"
	if attr != nil && mask&QPAttrMaskPort != 0 {
		invalid += fmt.Sprintf("; or the device has no port %d", attr.PortNum)
	}
	if attr != nil && mask&QPAttrMaskAV != 0 && attr.AHAttr.IsGlobal == 0 {
		invalid += "; RoCE needs the peer's GID, and IsGlobal"
	}
	act := qp.action(fmt.Sprintf("modify (%v)", mask), map[syscall.Errno]string{
		syscall.EINVAL:       invalid,
		noEntry:              "the GID index has no entry: see Context.GIDs",
		syscall.ENETUNREACH:  "there is no route to the peer's GID",
		syscall.EHOSTUNREACH: "there is no route to the peer's GID",
	})
	if mask&QPAttrMaskState != 0 && attr != nil {
		act = qp.action(fmt.Sprintf("move to %v (%v)", attr.QPState, mask), act.hints)
	}
	if attr == nil {
		return act.invalid("attributes are missing")
	}
	c := new(QPAttr)
	*c = *attr
	return callInt(act, "ibv_modify_qp", uintptr(unsafe.Pointer(qp)), uintptr(unsafe.Pointer(c)), uintptr(mask))
}

// Query reads the attributes that mask names, and perhaps more, and those that
// the queue pair was made with, as ibv_query_qp(3) does. It may be called from
// any goroutine.
func (qp *QP) Query(mask QPAttrMask) (QPAttr, QPInitAttr, error) {
	attr, init := new(QPAttr), new(QPInitAttr)
	err := callInt(qp.action("query", nil), "ibv_query_qp", uintptr(unsafe.Pointer(qp)), uintptr(unsafe.Pointer(attr)), uintptr(mask), uintptr(unsafe.Pointer(init)))
	return *attr, *init, err
}

// action names the queue pair in the errors of an operation.
func (qp *QP) action(op string, hints map[syscall.Errno]string) action {
	return qp.Context.action(fmt.Sprintf("%s queue pair %#x (%v, in %v)", op, qp.QPNum, qp.QPType, qp.State), hints)
}
