//go:build !freebsd

package ibv

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"
)

// CreateCounters makes a set of counters, all 0. They count once they are attached
// to something: see [Counters.AttachPointFlow]. The caller closes it, after the
// flows that count into it. It may be called from any goroutine.
//
// C: ibv_create_counters(3)
func (ctx *Context) CreateCounters(attr CountersInitAttr) (*Counters, error) {
	act := ctx.action("create counters", numberHints)
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.CreateCounters))
	c := new(CountersInitAttr)
	*c = attr
	counters, err := callVerbsContextCreateCounters(fn, ctx, c)
	return counters, act.from(err)
}

// AttachPointFlow says that place attr.Index of the set counts the packets or the
// bytes of the flow. With a nil flow it is for the flows that are then made with
// the set, by a [FlowSpecCounterAction]; nothing can be attached any more while
// there are some. It may be called from any goroutine.
//
// C: ibv_attach_counters_point_flow(3)
func (s *Counters) AttachPointFlow(attr CounterAttachAttr, flow *Flow) error {
	act := s.Context.action("attach counters to a flow", map[syscall.Errno]string{
		syscall.EINVAL: "the flow is of another device, or the device does not count this",
		syscall.EBUSY:  "a flow has the set already",
	})
	fn := s.Context.operation(unsafe.Offsetof(VerbsContext{}.AttachCountersPointFlow))
	c := new(CounterAttachAttr)
	*c = attr
	return act.from(callVerbsContextAttachCountersPointFlow(fn, s, c, flow))
}

// Read reads the first len(values) places of the set. With
// ReadCountersAttrPreferCached a device may give values that are older, and are
// there sooner. It may be called from any goroutine.
//
// C: ibv_read_counters(3)
func (s *Counters) Read(values []uint64, flags ReadCountersFlags) error {
	act := s.Context.action("read counters", map[syscall.Errno]string{
		syscall.EINVAL: "more places are read than there are, or nothing is attached",
	})
	if uint64(len(values)) > math.MaxUint32 {
		return act.invalid("no set has so many places")
	}
	fn := s.Context.operation(unsafe.Offsetof(VerbsContext{}.ReadCounters))
	return act.from(callVerbsContextReadCounters(fn, s, unsafe.SliceData(values), uint32(len(values)), uint32(flags)))
}

// Close destroys the set.
//
// C: ibv_destroy_counters(3)
func (s *Counters) Close() error {
	act := s.Context.action("destroy counters", closeHints)
	fn := s.Context.operation(unsafe.Offsetof(VerbsContext{}.DestroyCounters))
	return act.from(callVerbsContextDestroyCounters(fn, s))
}

// String is a line about the counters.
func (s *Counters) String() string {
	if s == nil {
		return nilText
	}
	return fmt.Sprintf("counters at %p", s)
}
