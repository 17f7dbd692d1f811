package ibv

import (
	"math"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// CreateCQ makes a completion queue with room for at least entries completions,
// as ibv_create_cq(3) does without a channel for events. CQ.CQE says how many it
// has. A queue that overruns loses completions and fails: give it room for all that
// can be outstanding. The caller closes it. It may be called from any goroutine.
func (ctx *Context) CreateCQ(entries int) (*CQ, error) {
	return ctx.CreateCQWithChannel(entries, 0, nil, 0)
}

// CreateCQWithChannel is [Context.CreateCQ] for a queue whose events go to the
// channel, which may be nil, by the completion vector, from 0 to the context's
// NumCompVectors-1: vectors are interrupts, and may be handled by different
// processors. Several queues may share a channel.
//
// cqContext is the caller's own number, which C keeps in CQ.CQContext and hands
// back with each event, and which nobody else looks at: an index, a
// [runtime/cgo.Handle], or the address of memory of C's. It must not be the
// address of Go memory, for the garbage collector does not see it there. The same
// holds for the numbers that other objects are made with: QPContext, SRQContext,
// WQContext.
//
// C: ibv_create_cq(3)
func (ctx *Context) CreateCQWithChannel(entries int, cqContext uintptr, channel *CompChannel, vector int) (*CQ, error) {
	act := ctx.action("create completion queue", sizeHints)
	switch {
	case entries <= 0 || entries > math.MaxInt32:
		return nil, act.invalid("it cannot have %d entries", entries)
	case vector < 0 || vector > math.MaxInt32:
		return nil, act.invalid("there is no completion vector %d: the device has %d, counted from 0", vector, ctx.NumCompVectors)
	case channel != nil && channel.Context != ctx:
		return nil, act.invalid("the completion channel belongs to a different context")
	}
	cq, err := cCreateCQ(ctx, int32(entries), cqContext, channel, int32(vector))
	if err != nil {
		return nil, ctx.explainLimits(act.from(err), func(device *DeviceAttr) []limit {
			return []limit{{"the number of entries", uint32(entries), device.MaxCQE}}
		}, ctx.noVector("the completion vector", uint32(vector))...)
	}
	return cq, nil
}

// Resize gives the queue room for at least entries completions; CQ.CQE says how
// many it has then. It takes a device that can, and no less than the completions
// that are in it. The completions in it stay. It may be called from any goroutine.
//
// C: ibv_resize_cq(3)
func (cq *CQ) Resize(entries int) error {
	act := cq.Context.action("resize completion queue", map[syscall.Errno]string{
		syscall.EINVAL: "it is outside the device's limits, or there are more completions in the queue",
		syscall.ENOMEM: hintLocksMemory,
	})
	if entries <= 0 || entries > math.MaxInt32 {
		return act.invalid("it cannot have %d entries", entries)
	}
	if err := cResizeCQ(cq, int32(entries)); err != nil {
		return cq.Context.explainLimits(act.from(err), func(device *DeviceAttr) []limit {
			return []limit{{"the number of entries", uint32(entries), device.MaxCQE}}
		})
	}
	return nil
}

// Close destroys the completion queue. The queue pairs that use it must be closed
// before.
//
// It waits until all events of the queue that were got are acknowledged, by
// [CQ.AckEvents] and [AsyncEvent.Ack]. Nothing else ends that, so a program that
// has lost an event waits here for ever; other goroutines go on. Events of the
// queue that nobody has got yet are dropped.
//
// C: ibv_destroy_cq(3)
func (cq *CQ) Close() error {
	return cq.Context.action("destroy completion queue", closeHints).from(cDestroyCQ(cq))
}

// Poll takes up to len(wcs) completions off the queue, oldest first, as
// ibv_poll_cq(3) does, and returns how many; 0 says that there are none now.
// An error says that the queue itself has failed, and that nothing was taken.
// A completion of work that failed is no error here: see [WC.Err].
//
// A provider that claims to have found more than it was asked for is an error
// too, with len(wcs) as the number: the rest is lost.
//
// It does not block and does not allocate, and may be called from any
// goroutine; completions are handed out once. wcs is the caller's, and may be
// an array on its stack.
//
// C: ibv_poll_cq(3); the slice says how many
func (cq *CQ) Poll(wcs []WC) (n int, err error) {
	// Safe: C gets its own queue, and room for as many completions as it is told,
	// which nobody keeps. Named results let the compiler inline this.
	n, err = ccall.Poll(uintptr(cq.Context.Ops.PollCQ), unsafe.Pointer(cq), ccall.NoEscape(uintptr(unsafe.Pointer(unsafe.SliceData(wcs)))), len(wcs), pollFailed)
	return
}

// Calls know how large a completion is.
var _ = [1]struct{}{}[unsafe.Sizeof(WC{})-ccall.CompletionSize]

// pollFailed says what it means that a poll that asked for so many completions
// has a negative result, or a larger one.
func pollFailed(cq unsafe.Pointer, result, errno, asked int32) (int, error) {
	// Safe: it is the queue that was polled.
	act := (*CQ)(cq).Context.action("poll completion queue", nil)
	const hint = "the queue overran, or the device has failed: destroy it and its queue pairs"
	switch {
	case result > asked:
		return int(asked), act.because(syscall.EIO, "the provider returned %d completions where %d were asked for: those beyond are lost, and what lies behind their memory may be overwritten", result, asked)
	case result == -1 && errno > 0 && syscall.Errno(errno) != syscall.EIO:
		return 0, act.because(syscall.Errno(errno), hint)
	default:
		// The man page promises a negative number, not an errno's.
		return 0, act.because(syscall.EIO, "the provider returned %d; "+hint, result)
	}
}
