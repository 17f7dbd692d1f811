//go:build !freebsd

package ibvtest

import (
	"syscall"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// channel is a completion channel.
type channel struct {
	raw    ibv.CompChannel // first: C's
	ctx    *context
	events eventQueue[*completionQueue]
}

func init() {
	symbols["ibv_create_comp_channel"] = createCompChannel
	symbols["ibv_destroy_comp_channel"] = destroyCompChannel
	symbols["ibv_get_cq_event"] = getCQEvent
	symbols["ibv_ack_cq_events"] = ackCQEvents
}

func createCompChannel(a ccall.Args) (uintptr, syscall.Errno) {
	c := contextAt(a[0])
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	ch := &channel{ctx: c}
	if errno := ch.events.open(c.f); errno != 0 {
		return null, errno
	}
	ch.raw.Context, ch.raw.FD = c.raw(), ch.events.file.fd()
	c.f.keep(ch)
	return address(&ch.raw), 0
}

// destroyCompChannel wakes nobody who waits for an event, as closing C's file does not.
func destroyCompChannel(a ccall.Args) (uintptr, syscall.Errno) {
	ch := of[channel](a[0])
	ch.ctx.f.mu.Lock()
	defer ch.ctx.f.mu.Unlock()
	if ch.raw.Refcnt > 0 {
		return uintptr(syscall.EBUSY), 0
	}
	ch.events.file.close()
	if ch.events.waiting == 0 {
		ch.ctx.f.drop(ch)
	}
	return 0, 0
}

func (ch *channel) opened() *context { return ch.ctx }

func (ch *channel) end() {
	ch.events.end()
	ch.events.file.close()
}

func getCQEvent(a ccall.Args) (uintptr, syscall.Errno) {
	ch := of[channel](a[0])
	ch.ctx.f.mu.Lock()
	defer ch.ctx.f.mu.Unlock()
	cq, errno := ch.events.get()
	if errno != 0 {
		return failed, errno
	}
	cq.told++
	*clib.At[uintptr](a[1]), *clib.At[uintptr](a[2]) = address(&cq.raw), cq.raw.CQContext
	return 0, 0
}

func ackCQEvents(a ccall.Args) (uintptr, syscall.Errno) {
	cq := of[completionQueue](a[0])
	defer cq.ctx.f.lock()()
	cq.raw.CompEventsCompleted += uint32(a[1])
	cq.ctx.f.acknowledged.Broadcast()
	return 0, 0
}
