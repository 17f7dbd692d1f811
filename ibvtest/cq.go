//go:build !freebsd

package ibvtest

import (
	"slices"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// completionQueue is a completion queue.
type completionQueue struct {
	raw     ibv.CQEx // first: C's, which begins as struct ibv_cq does
	ctx     *context
	channel *channel // or nil

	found completions
	uses  int  // how many queues complete to it: it cannot be destroyed before them
	dead  bool // it overran
	ended bool // it is closed
	armed arming
	moderation
	told uint32 // events that the program got

	extended // where it was made as one
}

func init() {
	equip = append(equip, func(v *ibv.VerbsContext) {
		v.Context.Ops.PollCQ, v.Context.Ops.ReqNotifyCQ = opPollCQ, opReqNotifyCQ
		v.CreateCQEx = opCreateCQEx
		v.ModifyCQ = opModifyCQ
	})
	symbols["ibv_create_cq"] = createCQ
	symbols["ibv_destroy_cq"] = destroyCQ
	symbols["ibv_resize_cq"] = resizeCQ
}

var opPollCQ = serve(ccall.Served{
	Name: "poll_cq",
	Poll: func(cq unsafe.Pointer, n int32, into unsafe.Pointer) (int32, int32) {
		return ofPointer[completionQueue](cq).poll(n, into)
	},
})

func createCQ(a ccall.Args) (uintptr, syscall.Errno) {
	c := contextAt(a[0])
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	cq, errno := c.newCQ(int64(int32(a[1])), a[2], of[ibv.CompChannel](a[3]), int64(int32(a[4])))
	if errno != 0 {
		return null, errno
	}
	return address(&cq.raw), 0
}

// newCQ makes a queue. The lock is held.
func (c *context) newCQ(entries int64, number uintptr, events *ibv.CompChannel, vector int64) (*completionQueue, syscall.Errno) {
	if entries <= 0 || entries > int64(c.dev.attr.MaxCQE) || vector < 0 || vector >= int64(c.raw().NumCompVectors) {
		return nil, syscall.EINVAL
	}
	cq := &completionQueue{ctx: c, found: completions{depth: int(entries)}}
	if events != nil {
		if cq.channel = among[channel](c, address(events)); cq.channel == nil {
			return nil, syscall.EINVAL
		}
		events.Refcnt++
	}
	cq.raw.Context, cq.raw.CQContext, cq.raw.Channel, cq.raw.CQE = c.raw(), number, events, int32(entries)
	cq.raw.Handle = c.dev.handle()
	c.f.keep(cq)
	return cq, 0
}

func destroyCQ(a ccall.Args) (uintptr, syscall.Errno) {
	cq := of[completionQueue](a[0])
	f := cq.ctx.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if errno := closeUnused(cq, cq.uses); errno != 0 { // before the wait, so that it is closed once
		return uintptr(errno), 0
	}
	for cq.raw.CompEventsCompleted != cq.told && !f.closed {
		f.acknowledged.Wait()
	}
	cq.ctx.forgetEvents(address(&cq.raw), &cq.raw.AsyncEventsCompleted)
	return 0, 0
}

func (cq *completionQueue) opened() *context { return cq.ctx }

func (cq *completionQueue) end() {
	cq.ended = true
	cq.calm()
	if cq.channel != nil {
		cq.channel.events.drop(func(of *completionQueue) bool { return of == cq })
		cq.channel.raw.Refcnt--
	}
}

// resizeCQ makes room for another number of completions, no less than there are.
func resizeCQ(a ccall.Args) (uintptr, syscall.Errno) {
	cq, entries := of[completionQueue](a[0]), int(int32(a[1]))
	cq.ctx.f.mu.Lock()
	defer cq.ctx.f.mu.Unlock()
	if entries <= 0 || entries > int(cq.ctx.dev.attr.MaxCQE) || entries < cq.found.n || cq.dead {
		return uintptr(syscall.EINVAL), 0
	}
	cq.found.resize(entries)
	cq.raw.CQE = int32(entries)
	return 0, 0
}

// poll is poll_cq.
func (cq *completionQueue) poll(n int32, into unsafe.Pointer) (int32, int32) {
	if cq.ctx.f.hooking.here() {
		return -1, int32(syscall.EDEADLK)
	}
	cq.ctx.f.mu.Lock()
	defer cq.ctx.f.mu.Unlock()
	if result, told := cq.ctx.f.pollReturns(cq.ctx.dev, int(n)); told {
		return int32(result), 0
	}
	switch {
	case cq.ended:
		return -1, int32(syscall.EINVAL)
	case cq.dead && cq.found.n == 0:
		return -1, 0
	}
	got := min(int(n), cq.found.n)
	wcs := unsafe.Slice((*ibv.WC)(into), got) // safe: there is room for n
	for i := range wcs {
		c := cq.found.take()
		wcs[i] = c.wc
		c.polled()
	}
	return int32(got), 0
}

// push adds a completion. The fabric's lock is held.
func (cq *completionQueue) push(c completion) {
	if cq.dead || cq.ended {
		return // nobody can tell of it
	}
	if cq.found.n == cq.found.depth && !cq.loseOldest() {
		cq.overrun()
		return
	}
	if cq.timed {
		c.at = now()
	}
	*cq.found.add() = c
	if cq.armed == armedAny || cq.armed == armedSolicited && c.solicited {
		cq.due()
	}
}

// overrun is a completion for which there is no room: it is lost, and nothing more can be said of the work on the queue.
// What is in the queue can be polled, and then polls fail. So its queue pairs are in ERR.
func (cq *completionQueue) overrun() {
	cq.dead = true
	cq.ctx.event(ibv.EventCQErr, address(&cq.raw))
	for _, qp := range cq.queuePairs() {
		qp.fatal()
	}
}

// queuePairs are those that use the queue, oldest first.
func (cq *completionQueue) queuePairs() (all []*queuePair) {
	for _, qp := range cq.ctx.dev.queuePairs {
		if qp.sendCQ == cq || qp.recvCQ == cq {
			all = append(all, qp)
		}
	}
	slices.SortFunc(all, func(a, b *queuePair) int { return int(a.raw.QPBase.QPNum) - int(b.raw.QPBase.QPNum) })
	return all
}

// fatal is an error of the queue pair that no completion can tell of.
func (qp *queuePair) fatal() {
	if qp.now != ibv.QPSReset && qp.now != ibv.QPSErr {
		qp.enter(ibv.QPSErr)
		qp.event(ibv.EventQPFatal)
	}
}
