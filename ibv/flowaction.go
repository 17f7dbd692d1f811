//go:build !freebsd

package ibv

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"
)

// CreateFlowActionESP makes an action that encrypts or decrypts packets by ESP. A
// [FlowSpecActionHandle] gives it to flows. The caller closes it, after them. It
// may be called from any goroutine.
//
// keymat is the key, and replay the protection against replay; where one is not
// nil, attr's kind, length and pointer of it are not looked at. Where it is nil,
// they count: the pointer must then be to memory of C's, or be 0. attr.ESPAttr and
// attr.ESPEncap may point to Go's memory. The pointers in a [FlowActionESPEncap] are
// numbers, which keep nothing alive and in place: what they lead to is memory of
// C's, or pinned by a [runtime.Pinner] until this returns.
//
// C: ibv_create_flow_action_esp(3)
func (ctx *Context) CreateFlowActionESP(attr *FlowActionESPAttr, keymat *FlowActionESPKeymatAESGCM, replay *FlowActionESPReplayBmp) (*FlowAction, error) {
	act := ctx.action("create ESP action of flows", espHints)
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.CreateFlowActionESP))
	var flowAction *FlowAction
	err := attr.with(keymat, replay, func(c *FlowActionESPAttr) (err error) {
		flowAction, err = callVerbsContextCreateFlowActionESP(fn, ctx, c)
		return err
	})
	return flowAction, act.from(err)
}

// ModifyESP changes the action in all flows that have it. What is not to change is
// nil or 0; attr.ESPAttr then, too. In everything else the arguments are those of
// [Context.CreateFlowActionESP].
//
// C: ibv_modify_flow_action_esp(3)
func (s *FlowAction) ModifyESP(attr *FlowActionESPAttr, keymat *FlowActionESPKeymatAESGCM, replay *FlowActionESPReplayBmp) error {
	act := s.Context.action("modify ESP action of flows", espHints)
	if attr == nil {
		return act.invalid("attributes are missing")
	}
	fn := s.Context.operation(unsafe.Offsetof(VerbsContext{}.ModifyFlowActionESP))
	return act.from(attr.with(keymat, replay, func(c *FlowActionESPAttr) error { return callVerbsContextModifyFlowActionESP(fn, s, c) }))
}

// Close destroys the action. The flows that have it must be closed before.
//
// C: ibv_destroy_flow_action(3)
func (s *FlowAction) Close() error {
	act := s.Context.action("destroy action of flows", closeHints)
	fn := s.Context.operation(unsafe.Offsetof(VerbsContext{}.DestroyFlowAction))
	return act.from(callVerbsContextDestroyFlowAction(fn, s))
}

// String is a line about the action.
func (s *FlowAction) String() string {
	if s == nil {
		return nilText
	}
	return fmt.Sprintf("action of flows at %p", s)
}

// with calls use with a copy of the attributes that has the key and the protection
// against replay in it. Pointers to them are numbers there, so they are kept until
// then.
func (s *FlowActionESPAttr) with(keymat *FlowActionESPKeymatAESGCM, replay *FlowActionESPReplayBmp, use func(*FlowActionESPAttr) error) error {
	c := new(FlowActionESPAttr)
	*c = *s
	// On the heap, where they do not move while there is only a number of them.
	k, r := new(FlowActionESPKeymatAESGCM), new(FlowActionESPReplayBmp)
	if keymat != nil {
		*k = *keymat
		c.KeymatProto, c.KeymatLen = FlowActionESPKeymatGCM, uint16(unsafe.Sizeof(*k))
		c.KeymatPtr = uintptr(ToPtr(k))
	}
	if replay != nil {
		*r = *replay
		c.ReplayProto, c.ReplayLen = FlowActionESPReplay_Bmp, uint16(unsafe.Sizeof(*r))
		c.ReplayPtr = uintptr(ToPtr(r))
	}
	err := use(c)
	runtime.KeepAlive(k)
	runtime.KeepAlive(r)
	return err
}

var espHints = map[syscall.Errno]string{
	syscall.EINVAL: "the device does not have the kind of key, the protection against replay or the flags",
}
