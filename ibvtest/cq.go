//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// completionQueue is a completion queue.
type completionQueue struct {
	raw   ibv.CQEx // first: C's, which begins as struct ibv_cq does
	ctx   *context
	depth int
	found []completion // oldest first
	uses  int          // how many queues complete to it: it cannot be destroyed before them
}

func init() {
	equip = append(equip, func(v *ibv.VerbsContext) { v.Context.Ops.PollCQ = ibv.ContextOpsPollCQFunc(opPollCQ) })
	symbols["ibv_create_cq"] = createCQ
	symbols["ibv_destroy_cq"] = func(a ccall.Args) (uintptr, syscall.Errno) {
		cq := of[completionQueue](a[0])
		cq.ctx.f.mu.Lock()
		defer cq.ctx.f.mu.Unlock()
		if cq.uses > 0 {
			return uintptr(syscall.EBUSY), 0
		}
		cq.ctx.f.drop(cq)
		return 0, 0
	}
}

var opPollCQ = ccall.Serve(ccall.Served{
	Name: "poll_cq",
	Poll: func(cq unsafe.Pointer, n int32, into unsafe.Pointer) (int32, int32) {
		return ofPointer[completionQueue](cq).poll(n, into)
	},
	BindPoll: func(cq unsafe.Pointer) func(int32, unsafe.Pointer) (int32, int32) {
		return ofPointer[completionQueue](cq).poll
	},
})

func createCQ(a ccall.Args) (uintptr, syscall.Errno) {
	c := contextAt(a[0])
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	cq := &completionQueue{ctx: c, depth: int(int32(a[1]))}
	cq.raw.Context, cq.raw.CQContext, cq.raw.Channel, cq.raw.CQE = &c.verbs.Context, a[2], of[ibv.CompChannel](a[3]), int32(a[1])
	cq.raw.Handle = c.dev.handle()
	c.f.keep(cq)
	return address(&cq.raw), 0
}

// poll is poll_cq.
func (cq *completionQueue) poll(n int32, into unsafe.Pointer) (int32, int32) {
	cq.ctx.f.mu.Lock()
	defer cq.ctx.f.mu.Unlock()
	if result, told := cq.ctx.f.pollReturns(cq.ctx.dev, int(n)); told {
		return int32(result), 0
	}
	// Safe: there is room for n.
	wcs := unsafe.Slice((*ibv.WC)(into), n)
	got := min(len(wcs), len(cq.found))
	for i := range got {
		wcs[i] = cq.found[i].wc
		cq.found[i].polled()
	}
	cq.found = cq.found[:copy(cq.found, cq.found[got:])]
	return int32(got), 0
}

// push adds a completion. The fabric's lock is held.
func (cq *completionQueue) push(c completion) { cq.found = append(cq.found, c) }
