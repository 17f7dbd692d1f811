package ibv

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// CreateWQ makes a work queue: a receive queue without a queue pair, for spreading
// packets over several: see [Context.CreateRWQIndTable]. It begins in RESET, and
// takes receives in RDY. attr is updated to what the queue really has. The caller
// closes it. It may be called from any goroutine. WQContext is a number as
// cqContext is in [Context.CreateCQWithChannel].
//
// C: ibv_create_wq(3)
func (ctx *Context) CreateWQ(attr *WQInitAttr) (*WQ, error) {
	act := ctx.action("create work queue", sizeHints)
	switch {
	case attr == nil:
		return nil, act.invalid("attributes are missing")
	case attr.PD == nil || attr.CQ == nil:
		return nil, act.invalid("PD and CQ are both needed")
	case attr.PD.Context != ctx || attr.CQ.Context != ctx:
		return nil, act.invalid("PD and CQ belong to a different context")
	}
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.CreateWQ))
	// Found before, so that there is no queue that lacks something.
	if err := canFinishWQ(); err != nil {
		return nil, act.from(err)
	}
	c := new(WQInitAttr)
	*c = *attr
	wq, err := callVerbsContextCreateWQ(fn, ctx, c)
	if err != nil {
		idle := unnamed(countsBy(attr.CompMask, WQInitAttrFlags, "CreateFlags", attr.CreateFlags != 0))
		err := explainWith(act.from(err), func() []string { return idle })
		return nil, explainUnsupported(err, idle, asked{"CreateFlags", attr.CreateFlags, attr.CompMask&WQInitAttrFlags != 0})
	}
	if err := finishWQ(wq, c.WQContext); err != nil {
		return nil, errors.Join(act.from(err), wq.Close())
	}
	*attr = *c
	return wq, nil
}

// Modify changes the attributes that attr.AttrMask names, mostly the state, and
// updates attr to what C leaves in it. It may be called from any goroutine, one at
// a time for a queue.
//
// C: ibv_modify_wq(3)
func (s *WQ) Modify(attr *WQAttr) error {
	act := s.action("modify", map[syscall.Errno]string{
		syscall.EINVAL: "the state cannot be reached from the present one, or the device does not have the flags",
	})
	if attr == nil {
		return act.invalid("attributes are missing")
	}
	fn := s.Context.operation(unsafe.Offsetof(VerbsContext{}.ModifyWQ))
	c := new(WQAttr)
	*c = *attr
	if err := callVerbsContextModifyWQ(fn, s, c); err != nil {
		return act.from(err)
	}
	*attr = *c
	return nil
}

// Close destroys the work queue. The tables that name it must be closed before. It
// waits until all events of the queue that were got are acknowledged, as
// [CQ.Close] does.
//
// C: ibv_destroy_wq(3)
func (s *WQ) Close() error {
	act := s.action("destroy", closeHints)
	fn := s.Context.operation(unsafe.Offsetof(VerbsContext{}.DestroyWQ))
	return act.from(callVerbsContextDestroyWQ(fn, s))
}

// Post posts the list of receive work requests that starts at wr to the work
// queue. In everything else it is like [QP.PostRecv]. A provider without such
// posts, as mana is, is syscall.EOPNOTSUPP, and bad is wr. (C's member of that
// name has the function, so the method has another.)
//
// C: ibv_post_wq_recv(3); a provider without the function is an error, where C's program ends
func (s *WQ) Post(wr *RecvWR) (bad *RecvWR, err error) {
	if s.PostRecv == 0 && wr != nil {
		return wr, s.action("post receive to", nil).failed(syscall.EOPNOTSUPP)
	}
	// Safe: as in QP.PostRecv.
	p, err := ccall.PostFrom(uintptr(s.PostRecv), unsafe.Pointer(s), unsafe.Pointer(wr), nil, wqRecvFromRefused)
	return (*RecvWR)(p), err
}

func wqRecvFromRefused(wr unsafe.Pointer, result, errno int32, bad uintptr) (unsafe.Pointer, error) {
	return fromRefused[RecvWR](opPostWQRecv, wr, result, errno, bad)
}

// String is a line about the work queue.
func (s *WQ) String() string {
	if s == nil {
		return nilText
	}
	return fmt.Sprintf("work queue %#x (in %v)", s.WQNum, s.State)
}

// action names the work queue in the errors of an operation.
func (s *WQ) action(op string, hints map[syscall.Errno]string) action {
	return s.Context.action(op+" "+s.String(), hints)
}
