package ibv

import (
	"math"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// CreateCQ makes a completion queue with room for at least entries completions,
// as ibv_create_cq(3) does. CQ.CQE says how many it has. A queue that overruns
// loses completions and fails: give it room for all that can be outstanding.
// The caller closes it. It may be called from any goroutine.
func (ctx *Context) CreateCQ(entries int) (*CQ, error) {
	act := ctx.action("create completion queue", sizeHints)
	if entries <= 0 || entries > math.MaxInt32 {
		return nil, act.invalid("it cannot have %d entries", entries)
	}
	cq, err := cCreateCQ(ctx, int32(entries), 0, nil, 0)
	if err != nil {
		return nil, ctx.explainLimits(act.from(err), func(device *DeviceAttr) []limit {
			return []limit{{"the number of entries", uint32(entries), device.MaxCQE}}
		})
	}
	return cq, nil
}

// Close destroys the completion queue, as ibv_destroy_cq(3) does. The queue
// pairs that use it must be closed before.
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
