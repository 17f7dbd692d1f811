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
// too. A member whose bit CompMask lacks does not count, whatever it is: programs
// clear bits to do without something. Where the queue pair is refused, the error
// names such members that are set; where what was asked for is not supported, it
// lists that.
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
		idle := unnamed(attr.members()...)
		return nil, explainUnsupported(ctx.explainLimits(err, attr.Cap.limits, idle...), idle, attr.asked()...)
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
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.CreateQPEx))
	qp, err := callVerbsContextCreateQPEx(fn, ctx, attr)
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
	case attr.CompMask&table != 0:
		if attr.Cap.MaxSendWR > 0 && attr.SendCQ == nil {
			return act.invalid("SendCQ is needed, because Cap.MaxSendWR is not 0")
		}
	case attr.QPType != QPTXRCRecv && attr.SendCQ == nil:
		return act.invalid("SendCQ is needed")
	case attr.QPType != QPTXRCRecv && attr.QPType != QPTXRCSend && attr.RecvCQ == nil:
		return act.invalid("SendCQ and RecvCQ are both needed; they may be the same")
	}
	switch {
	case attr.SendCQ != nil && attr.SendCQ.Context != ctx, attr.RecvCQ != nil && attr.RecvCQ.Context != ctx:
		return act.invalid("the completion queues belong to a different context")
	case attr.SRQ != nil && attr.SRQ.Context != ctx:
		return act.invalid("the shared receive queue belongs to a different context")
	}
	return nil
}

// members are those that count by CompMask.
func (s *QPInitAttrEx) members() []member {
	hash := &s.RxHashConf
	return append([]member{
		countsBy(s.CompMask, QPInitAttrPD, "PD", s.PD != nil),
		countsBy(s.CompMask, QPInitAttrXRCD, "XRCD", s.XRCD != nil),
		countsBy(s.CompMask, QPInitAttrCreateFlags, "CreateFlags", s.CreateFlags != 0),
		countsBy(s.CompMask, QPInitAttrMaxTSOHeader, "MaxTSOHeader", s.MaxTSOHeader != 0),
		countsBy(s.CompMask, QPInitAttrIndTable, "RWQIndTbl", s.RWQIndTbl != nil),
		countsBy(s.CompMask, QPInitAttrRxHash, "RxHashConf", hash.RxHashFunction|hash.RxHashKeyLen != 0 || hash.RxHashKey != nil || hash.RxHashFieldsMask != 0),
	}, s.moreMembers()...)
}

// asked are the members by which a device may lack something.
func (s *QPInitAttrEx) asked() []asked {
	return []asked{
		{"QPType", s.QPType, true},
		{"CompMask", s.CompMask &^ QPInitAttrPD, s.CompMask&^QPInitAttrPD != 0},
		{"CreateFlags", s.CreateFlags, s.CompMask&QPInitAttrCreateFlags != 0},
		s.sendOps(),
	}
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
