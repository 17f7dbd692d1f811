package ibv

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// CreateCompChannel makes a completion channel, a file that tells when there is
// something to poll: see [Context.CreateCQWithChannel] and [CQ.ReqNotify]. The
// caller closes it. It may be called from any goroutine.
//
// C: ibv_create_comp_channel(3)
func (ctx *Context) CreateCompChannel() (*CompChannel, error) {
	channel, err := cCreateCompChannel(ctx)
	return channel, ctx.action("create completion channel", fileHints).from(err)
}

// Close destroys the channel and closes its file. With completion queues on it,
// the error is syscall.EBUSY: close those first.
//
// It does not wake a goroutine that waits in [CompChannel.GetCQEvent]: that waits
// on, and [Context.Close] may end it then with syscall.EIO. A program sees to it
// before that nobody waits, by a last event or by a file that does not block, as in
// the example of [CompChannel.SetNonblock], for nobody may begin to wait on a closed channel: it is gone memory.
//
// C: ibv_destroy_comp_channel(3)
func (s *CompChannel) Close() error {
	return s.Context.action("destroy completion channel", closeHints).from(cDestroyCompChannel(s))
}

// SetNonblock says whether [CompChannel.GetCQEvent] is to return at once where
// there is no event. With a channel that does not block, a program waits for FD to
// become readable, with poll(2) say, or as Go waits for files: until a deadline, and
// without a thread. The example shows how. FD stays the channel's: it is closed with
// it, so an [os.File] gets a duplicate.
func (s *CompChannel) SetNonblock(nonblocking bool) error {
	// Safe: it is only looked at.
	return setNonblock(s.Context.action("set blocking of completion channel", nil), unsafe.Pointer(s), s.FD, nonblocking)
}

// GetCQEvent waits for the next event of the channel: something has come to cq,
// which was made with the number cqContext, since its notification was requested.
// There is one event for a request; several requests, and events that nobody has
// fetched yet, add up.
//
// Each event that was got must be acknowledged, by [CQ.AckEvents], before its
// queue can be closed.
//
// The goroutine is in a system call while it waits, so it has a thread of the
// system's to itself, and neither other goroutines nor the garbage collector wait
// for it. Only an event ends the waiting, or the end of the device, with
// syscall.EIO: see [CompChannel.Close]. To wait with a deadline, see the example of
// [CompChannel.SetNonblock]. Where the channel does not block, and there
// is no event, the error is syscall.EAGAIN. It may be called from any goroutine;
// each event is got once.
//
// C: ibv_get_cq_event(3)
func (s *CompChannel) GetCQEvent() (cq *CQ, cqContext uintptr, err error) {
	// Before the call, for the channel may be closed while it waits.
	act := s.Context.action("get event of completion channel", eventHints)
	// Safe: C stores there before it returns, and the pointer is to memory of its own.
	got := new(struct {
		cq      *CQ
		context uintptr
	})
	if err := cGetCQEvent(s, &got.cq, &got.context); err != nil {
		return nil, 0, act.from(err)
	}
	return got.cq, got.context, nil
}

// setNonblock changes whether reads of the file of an object block.
func setNonblock(act action, object unsafe.Pointer, file int32, nonblocking bool) error {
	if ccall.AskNonblock(object, nonblocking) {
		return nil
	}
	if err := setNonblocking(file, nonblocking); err != nil {
		act.op += fmt.Sprintf(" (file %d)", file)
		return act.failed(errnoOf(err))
	}
	return nil
}

// fileHints are for verbs that open a file.
var fileHints = map[syscall.Errno]string{
	syscall.EMFILE: "the process has as many files open as it may have: see ulimit -n",
	syscall.ENFILE: "the system has as many files open as it may have",
}

// eventHints are for verbs that read events from a file.
var eventHints = map[syscall.Errno]string{
	syscall.EAGAIN: "there is no event now, and the file does not block: wait until it is readable",
	syscall.EINTR:  "a signal came while it waited: try again",
	syscall.EBADF:  "the file is closed",
}
