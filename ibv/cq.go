package ibv

import (
	"math"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv/internal/ccall"
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
	cq, err := callPointer(act, "ibv_create_cq", uintptr(unsafe.Pointer(ctx)), uintptr(entries), 0, 0, 0)
	return pointerTo[CQ](cq), err
}

// Close destroys the completion queue, as ibv_destroy_cq(3) does. The queue
// pairs that use it must be closed before.
func (cq *CQ) Close() error {
	return callInt(cq.Context.action("destroy completion queue", closeHints), "ibv_destroy_cq", uintptr(unsafe.Pointer(cq)))
}

// Poll takes up to len(wcs) completions off the queue, oldest first, as
// ibv_poll_cq(3) does, and returns how many; 0 says that there are none now.
// An error says that the queue itself has failed, and that nothing was taken.
// A completion of work that failed is no error here: see [WC.Err].
//
// It does not block and does not allocate, and may be called from any
// goroutine; completions are handed out once. wcs is the caller's.
func (cq *CQ) Poll(wcs []WC) (int, error) {
	// Safe: C gets its own queue, and room for as many completions as it is told.
	return ccall.Poll(uintptr(cq.Context.Ops.PollCQ), unsafe.Pointer(cq), unsafe.Pointer(unsafe.SliceData(wcs)), len(wcs), pollFailed)
}

// pollFailed says what a negative result of a poll means.
func pollFailed(cq unsafe.Pointer, result, errno int32) (int, error) {
	// Safe: it is the queue that was polled.
	act := (*CQ)(cq).Context.action("poll completion queue", map[syscall.Errno]string{
		syscall.EIO: "the queue overran, or the device has failed: destroy it and its queue pairs",
	})
	return 0, act.failed(reason(result, errno))
}
