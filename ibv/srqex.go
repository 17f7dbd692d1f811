package ibv

import (
	"syscall"
	"unsafe"
)

// CreateSRQEx makes a shared receive queue of any type: an ordinary one in attr.PD,
// one for XRC (SRQTXRC, with XRCD and CQ), or one that matches tags (SRQTTM, with
// CQ and TMCap). CompMask names the members that count; the others are named where
// the queue is refused. attr.Attr is updated to
// what the queue really has. The caller closes it. It may be called from any
// goroutine. SRQContext is a number as cqContext is in
// [Context.CreateCQWithChannel].
//
// An ordinary one, with no more than SRQInitAttrPD and SRQInitAttrType in CompMask,
// needs no more than [PD.CreateSRQ] does, in C too.
//
// C: ibv_create_srq_ex(3)
func (ctx *Context) CreateSRQEx(attr *SRQInitAttrEx) (*SRQ, error) {
	act := ctx.action("create shared receive queue", sizeHints)
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	// C would follow these without looking.
	switch mask := attr.CompMask; {
	case mask&SRQInitAttrPD != 0 && (attr.PD == nil || attr.PD.Context != ctx):
		return nil, act.invalid("CompMask names PD, which is nil or belongs to a different context")
	case mask&SRQInitAttrXRCD != 0 && (attr.XRCD == nil || attr.XRCD.Context != ctx):
		return nil, act.invalid("CompMask names XRCD, which is nil or belongs to a different context")
	case mask&SRQInitAttrCQ != 0 && (attr.CQ == nil || attr.CQ.Context != ctx):
		return nil, act.invalid("CompMask names CQ, which is nil or belongs to a different context")
	}
	c := new(SRQInitAttrEx)
	*c = *attr
	srq, err := ctx.createSRQEx(act, c)
	if err != nil {
		idle := unnamed(attr.members()...)
		err = ctx.explainLimits(err, func(device *DeviceAttr) []limit {
			return []limit{{"Attr.MaxWR", attr.Attr.MaxWR, device.MaxSRQWR}, {"Attr.MaxSGE", attr.Attr.MaxSGE, device.MaxSRQSGE}}
		}, idle...)
		return nil, explainUnsupported(err, idle, asked{"SRQType", attr.SRQType, attr.CompMask&SRQInitAttrType != 0})
	}
	attr.Attr = c.Attr
	return srq, nil
}

// createSRQEx is C's inline function.
func (ctx *Context) createSRQEx(act action, attr *SRQInitAttrEx) (*SRQ, error) {
	basic := attr.CompMask&SRQInitAttrType == 0 || attr.SRQType == SRQTBasic
	if basic && attr.CompMask&^SRQInitAttrType == SRQInitAttrPD {
		// Safe: C's two structs begin alike, and the compiler checks their layouts.
		srq, err := cCreateSRQ(attr.PD, (*SRQInitAttr)(unsafe.Pointer(attr)))
		return srq, act.from(err)
	}
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.CreateSRQEx))
	srq, err := callVerbsContextCreateSRQEx(fn, ctx, attr)
	return srq, act.from(err)
}

// members are those that count by CompMask.
func (s *SRQInitAttrEx) members() []member {
	return append([]member{
		countsBy(s.CompMask, SRQInitAttrType, "SRQType", s.SRQType != 0),
		countsBy(s.CompMask, SRQInitAttrPD, "PD", s.PD != nil),
		countsBy(s.CompMask, SRQInitAttrXRCD, "XRCD", s.XRCD != nil),
		countsBy(s.CompMask, SRQInitAttrCQ, "CQ", s.CQ != nil),
	}, s.moreMembers()...)
}

// What both structs have, they have at the same places.
var (
	_ = [1]struct{}{}[unsafe.Offsetof(SRQInitAttrEx{}.SRQContext)-unsafe.Offsetof(SRQInitAttr{}.SRQContext)]
	_ = [1]struct{}{}[unsafe.Offsetof(SRQInitAttrEx{}.Attr)-unsafe.Offsetof(SRQInitAttr{}.Attr)]
)

// Num is the number of a shared receive queue for XRC, which senders put into
// their work requests. It may be called from any goroutine.
//
// C: ibv_get_srq_num(3)
func (srq *SRQ) Num() (uint32, error) {
	act := srq.Context.action("get number of shared receive queue", map[syscall.Errno]string{
		syscall.EINVAL: "only those for XRC have one",
	})
	fn := srq.Context.operation(unsafe.Offsetof(VerbsContext{}.GetSRQNum))
	num := new(uint32)
	if err := callVerbsContextGetSRQNum(fn, srq, num); err != nil {
		return 0, act.from(err)
	}
	return *num, nil
}
