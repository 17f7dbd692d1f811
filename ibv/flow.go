package ibv

import (
	"fmt"
	"syscall"
	"unsafe"
)

// CreateFlow makes a rule of flow steering: packets that match attr's
// specifications go to the queue pair, or its actions are carried out on them.
// attr is C's: a struct with the specifications behind it, in the same memory.
// [NewFlowAttr] makes it; a copy of the struct alone has none. The caller closes
// the flow, before the queue pair. It may be called from any goroutine.
//
// C: ibv_create_flow(3)
func (qp *QP) CreateFlow(attr *FlowAttr) (*Flow, error) {
	act := qp.action("create a flow to", map[syscall.Errno]string{
		syscall.EINVAL: "the device does not have the specifications, their masks, their order or the flags, or the port is wrong",
		syscall.EPERM:  "flow steering needs the capability CAP_NET_RAW",
		syscall.EACCES: "flow steering needs the capability CAP_NET_RAW",
	})
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	fn := qp.Context.operation(unsafe.Offsetof(VerbsContext{}.IbvCreateFlow))
	flow, err := callVerbsContextIbvCreateFlow(fn, qp, attr)
	return flow, act.from(err)
}

// Close destroys the flow: packets are no longer steered by it.
//
// C: ibv_destroy_flow(3)
func (s *Flow) Close() error {
	act := s.Context.action("destroy flow", closeHints)
	fn := s.Context.operation(unsafe.Offsetof(VerbsContext{}.IbvDestroyFlow))
	return act.from(callVerbsContextIbvDestroyFlow(fn, s))
}

// String is a line about the flow.
func (s *Flow) String() string {
	if s == nil {
		return nilText
	}
	return fmt.Sprintf("flow (handle %d)", s.Handle)
}
