package ibv

import "unsafe"

// CreateQPEx makes a queue pair of any type, as attr.CompMask says, and leaves it in
// RESET. It is the way to an XRC receiver (QPTXRCRecv, with XRCD), to creation
// flags, to RSS (RWQIndTbl and RxHashConf), to TSO, and to operations that are
// posted as a [QPEx] (SendOpsFlags). attr.Cap is updated to what the queue pair
// really has. The caller closes it. It may be called from any goroutine. QPContext
// is a number as cqContext is in [Context.CreateCQWithChannel].
//
// With CompMask QPInitAttrPD and nothing else it does what [PD.CreateQP] does, in C
// too.
//
// C: ibv_create_qp_ex(3)
func (ctx *Context) CreateQPEx(attr *QPInitAttrEx) (*QP, error) {
	act := ctx.action("create queue pair", sizeHints)
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	if err := ctx.checkQPEx(act, attr); err != nil {
		return nil, err
	}
	c := new(QPInitAttrEx)
	*c = *attr
	qp, err := ctx.createQPEx(act, c)
	if err != nil {
		return nil, ctx.explainLimits(err, attr.Cap.limits)
	}
	attr.Cap = c.Cap
	return qp, nil
}

// createQPEx is C's inline function.
func (ctx *Context) createQPEx(act action, attr *QPInitAttrEx) (*QP, error) {
	if attr.CompMask == QPInitAttrPD {
		// Safe: C's two structs begin alike, and the compiler checks their layouts.
		qp, err := cCreateQP(attr.PD, (*QPInitAttr)(unsafe.Pointer(attr)))
		return qp, act.from(err)
	}
	fn := VerbsContextCreateQPExFunc(ctx.operation(unsafe.Offsetof(VerbsContext{}.CreateQPEx)))
	qp, err := fn.call(ctx, attr)
	return qp, act.from(err)
}

// checkQPEx refuses attributes that C would follow without looking, or take for
// another context's.
func (ctx *Context) checkQPEx(act action, attr *QPInitAttrEx) error {
	const pd, xrcd, table = QPInitAttrPD, QPInitAttrXRCD, QPInitAttrIndTable
	switch {
	case attr.CompMask&pd != 0 && (attr.PD == nil || attr.PD.Context != ctx):
		return act.invalid("CompMask names PD, which is nil or belongs to a different context")
	case attr.CompMask&xrcd != 0 && (attr.XRCD == nil || attr.XRCD.Context != ctx):
		return act.invalid("CompMask names XRCD, which is nil or belongs to a different context")
	case attr.CompMask&table != 0 && (attr.RWQIndTbl == nil || attr.RWQIndTbl.Context != ctx):
		return act.invalid("CompMask names RWQIndTbl, which is nil or belongs to a different context")
	case attr.CompMask == pd:
		// Safe: as in createQPEx.
		return attr.PD.checkQP(act, (*QPInitAttr)(unsafe.Pointer(attr)))
	case attr.SendCQ != nil && attr.SendCQ.Context != ctx, attr.RecvCQ != nil && attr.RecvCQ.Context != ctx:
		return act.invalid("the completion queues belong to a different context")
	case attr.SRQ != nil && attr.SRQ.Context != ctx:
		return act.invalid("the shared receive queue belongs to a different context")
	}
	return nil
}

// What both structs have, they have at the same places.
var (
	_ = [1]struct{}{}[unsafe.Offsetof(QPInitAttrEx{}.QPContext)-unsafe.Offsetof(QPInitAttr{}.QPContext)]
	_ = [1]struct{}{}[unsafe.Offsetof(QPInitAttrEx{}.Cap)-unsafe.Offsetof(QPInitAttr{}.Cap)]
	_ = [1]struct{}{}[unsafe.Offsetof(QPInitAttrEx{}.SQSigAll)-unsafe.Offsetof(QPInitAttr{}.SQSigAll)]
)

// limits compares what a queue pair shall have with what the device can do.
func (s *QPCap) limits(device *DeviceAttr) []limit {
	return []limit{
		{"Cap.MaxSendWR", s.MaxSendWR, device.MaxQPWR}, {"Cap.MaxSendSGE", s.MaxSendSGE, device.MaxSGE},
		{"Cap.MaxRecvWR", s.MaxRecvWR, device.MaxQPWR}, {"Cap.MaxRecvSGE", s.MaxRecvSGE, device.MaxSGE},
	}
}
