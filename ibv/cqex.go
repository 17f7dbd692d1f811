package ibv

import "unsafe"

// CreateCQEx makes a completion queue whose completions can tell more than a [WC],
// as attr.WCFlags asks for: timestamps, VLANs, flow tags. attr is left as C leaves
// it. The caller closes it. It may be called from any goroutine. Devices and
// libraries without such queues give errors.ErrUnsupported; so do devices that
// cannot do what WCFlags asks for, and the error lists that. A member whose bit
// CompMask lacks does not count, and is named where C refuses.
//
// C: ibv_create_cq_ex(3)
func (ctx *Context) CreateCQEx(attr *CQInitAttrEx) (*CQEx, error) {
	act := ctx.action("create extended completion queue", sizeHints)
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	if attr.Channel != nil && attr.Channel.Context != ctx {
		return nil, act.invalid("the completion channel belongs to a different context")
	}
	if err := attr.check(ctx, act); err != nil {
		return nil, err
	}
	if attr.CQE == 0 {
		return nil, act.invalid("it cannot have 0 entries")
	}
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.CreateCQEx))
	c := new(CQInitAttrEx)
	*c = *attr
	cq, err := callVerbsContextCreateCQEx(fn, ctx, c)
	if err != nil {
		idle := unnamed(attr.members()...)
		err := ctx.explainLimits(act.from(err), func(device *DeviceAttr) []limit {
			return []limit{{"CQE", attr.CQE, device.MaxCQE}}
		}, append(ctx.noVector("CompVector", attr.CompVector), idle...)...)
		return nil, explainUnsupported(err, idle,
			asked{"WCFlags", CreateCQWCFlags(attr.WCFlags), attr.WCFlags != 0},
			asked{"Flags", attr.Flags, attr.CompMask&CQInitAttrMaskFlags != 0})
	}
	*attr = *c
	return cq, nil
}

// CQ is the queue as one that queue pairs are made with, and events are about. It
// is the same object, so it is closed once. Whether [CQ.Poll] works on it depends
// on the provider.
//
// C: ibv_cq_ex_to_cq
func (s *CQEx) CQ() *CQ {
	// Safe: C's two structs begin alike, and the compiler checks their layouts.
	return (*CQ)(unsafe.Pointer(s))
}

// Close is [CQ.Close].
func (s *CQEx) Close() error { return s.CQ().Close() }

// String is a line about the completion queue.
func (s *CQEx) String() string {
	if s == nil {
		return nilText
	}
	return "extended " + s.CQ().String()
}

// What both structs have, they have at the same places.
var (
	_ = [1]struct{}{}[unsafe.Offsetof(CQEx{}.Context)-unsafe.Offsetof(CQ{}.Context)]
	_ = [1]struct{}{}[unsafe.Offsetof(CQEx{}.AsyncEventsCompleted)-unsafe.Offsetof(CQ{}.AsyncEventsCompleted)]
)
