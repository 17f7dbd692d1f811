package rdma

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/dl"
)

// source is the events of C's channel, whose file does not block. So it calls C
// directly: leaving for a system call and coming back takes longer than the call, and
// may take the goroutine's processor from it.
type source struct {
	raw          *ibv.CompChannel
	getFn, ackFn uintptr
	// got is where C puts an event. The channel's lock guards it.
	got struct {
		cq     *ibv.CQ
		number uintptr
	}
}

var (
	libibverbs  = clib.Library{Soname: dl.Libibverbs}
	getCQEvent  = clib.Function{Library: &libibverbs, Name: "ibv_get_cq_event"}
	ackCQEvents = clib.Function{Library: &libibverbs, Name: "ibv_ack_cq_events"}
)

// sourceOf finds the functions. A device in the process has others.
func sourceOf(raw *ibv.CompChannel) (eventSource, error) {
	if ccall.AskReady(unsafe.Pointer(raw)) != nil { // safe: it is only looked at
		return sourceInProcess{raw}, nil
	}
	s := &source{raw: raw}
	for fn, to := range map[*clib.Function]*uintptr{&getCQEvent: &s.getFn, &ackCQEvents: &s.ackFn} {
		address, err := fn.Address()
		if err != nil {
			return nil, &Error{Op: "read", On: "completion channel", Err: err}
		}
		*to = address
	}
	return s, nil
}

func (s *source) get() (*ibv.CQ, uintptr, error) {
	// Safe: C stores there before it returns, and queues are in C's memory.
	result, errno := ccall.Call(s.getFn, uintptr(unsafe.Pointer(s.raw)), uintptr(unsafe.Pointer(&s.got.cq)), uintptr(unsafe.Pointer(&s.got.number)), 0, 0, 0)
	switch {
	case int32(result) == 0:
		return s.got.cq, s.got.number, nil
	case int32(result) == -1 && syscall.Errno(errno) == syscall.EAGAIN: // which needs no words
		return nil, 0, syscall.EAGAIN
	}
	return s.raw.GetCQEvent() // again, because that has words for it
}

func (s *source) ack(cq *ibv.CQ, n uint32) {
	// Safe: C gets its own queue. It takes a lock that nobody holds for long.
	ccall.Call(s.ackFn, uintptr(unsafe.Pointer(cq)), ccall.Unsigned(n), 0, 0, 0, 0)
}

// sourceInProcess is the events of the channel of a device in the process.
type sourceInProcess struct{ raw *ibv.CompChannel }

func (s sourceInProcess) get() (*ibv.CQ, uintptr, error) { return s.raw.GetCQEvent() }

// There is no error where an event was got: it says that there is no such function.
func (s sourceInProcess) ack(cq *ibv.CQ, n uint32) { _ = cq.AckEvents(n) }
