//go:build !freebsd

package ibv

import (
	"fmt"
	"math"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// Batch is work requests for the send queue of an extended queue pair, made of C's
// functions ibv_wr_*: all that a [SendChain] can do, and the operations that those
// alone have. It is built once, patched in place, and posted in one call, whole or
// in part, as often as one likes. The provider takes what is posted at once as a
// whole, or nothing of it.
//
// A work request is begun by the method of its operation, from Send to SendTSO.
// Then it gets its data, by SetSGE, SetSGEs, SetInline or SetInlineList, and on UD
// or XRC its receiver, by SetUD or SetXRC, in any order. Each of these takes the
// place of what was set before, so a work request has its data once. To begin it
// anew forgets all of that.
//
// What a work request cannot be is an error when it is set. Its arguments stay as
// they were, but the batch keeps the error, so that nobody has to look at each one:
// Err has it, and so has every post with that work request, until the work request
// is begun anew, or gets its data or its receiver right if these were wrong, or
// until Reset. For an index that the batch does not have, only the call itself has
// the error. What a work request lacks is an error of Err and Post too.
//
// A batch belongs to its queue pair, which must be open when it is posted. One
// goroutine at a time may use it; the race detector sees when there are two.
type Batch struct {
	_ noCopy

	program ccall.Program
	qp      *QPEx
	ops     QPCreateSendOpsFlags
	oldRxe  bool
	address lacks // what an operation with a receiver lacks at first

	// C reads what a step does not hold by addresses in it, which keep nothing alive:
	// maxSGE entries for each work request, and the rest once there is need of it.
	steps   []ccall.Step
	entries []SGE
	maxSGE  int
	values  []uint64
	binds   []MWBindInfo
	kept    []unsafe.Pointer // memory of the caller's: see keep

	parts      []part
	unfinished int               // how many parts lack something
	errs       map[lacking]error // what went wrong with those
	posts      int               // counted for the race detector
}

// part is what is known of a work request besides its step.
type part struct {
	op    batchOp
	lacks lacks
}

// lacking is that a work request lacks something because of an error.
type lacking struct {
	i    int
	what lacks
}

// lacks is what a work request is not to be posted without.
type lacks uint8

const (
	lacksOp lacks = 1 << iota
	lacksData
	lacksUD
	lacksXRC
)

// first is the first of what is lacking.
func (l lacks) first() lacks { return l & -l }

// String says what to call.
func (l lacks) String() string {
	switch {
	case l&lacksOp != 0:
		return "its operation: begin it with Send, RDMAWrite or another one"
	case l&lacksData != 0:
		return "its data: call SetSGE, SetSGEs, SetInline or SetInlineList"
	case l&lacksUD != 0:
		return "its receiver: call SetUD"
	default:
		return "its shared receive queue: call SetXRC"
	}
}

// NewBatch makes a batch of n work requests, with room for lists of maxSGE
// scatter/gather entries, or pieces of inline data, in each. None of them is begun
// yet. ops is what the queue pair was created for, its SendOpsFlags: the
// operations that the batch may have. C does not remember them, and there may be
// anything where the function of another operation would be. ops may be a part of
// them; an operation that is claimed and not there is an error here, if the
// library knows that operation. The batch is memory of Go's, and needs no closing.
//
// n may be more than the queue takes at once, which is an error of the post then,
// and the limits for entries and inline data are those that the queue pair was
// created with.
func NewBatch(qp *QPEx, ops QPCreateSendOpsFlags, n, maxSGE int) (*Batch, error) {
	if qp == nil {
		return nil, action{op: "make a batch"}.invalid("the queue pair is missing")
	}
	act := qp.QPBase.action(fmt.Sprintf("make a batch of %d work requests with %d scatter/gather entries each for", n, maxSGE), nil)
	if n < 1 || maxSGE < 0 || maxSGE > math.MaxInt32 {
		return nil, act.invalid("there must be at least 1 work request, and room for 0 entries or more")
	}
	if uintptr(n) > maxBlock/(unsafe.Sizeof(ccall.Step{})+uintptr(maxSGE)*unsafe.Sizeof(SGE{})) {
		return nil, act.because(syscall.ENOMEM, "a batch has at most 1 GiB, and no queue takes so many at once")
	}
	if err := qp.check(act, ops); err != nil {
		return nil, err
	}
	b := &Batch{
		program: ccall.Program{
			Object: unsafe.Pointer(qp), Start: uintptr(qp.WRStart), Complete: uintptr(qp.WRComplete),
			Words: unsafe.Pointer(&qp.WRID),
		},
		qp: qp, ops: ops, oldRxe: rxeBefore64(uintptr(qp.WRStart)),
		steps: make([]ccall.Step, n), entries: make([]SGE, n*maxSGE), maxSGE: maxSGE, parts: make([]part, n),
	}
	switch qp.QPBase.QPType {
	case QPTUD:
		b.address = lacksUD
	case QPTXRCSend:
		b.address = lacksXRC
	}
	b.Reset()
	return b, nil
}

// A step has its WRID and its flags as the queue pair has them.
var _ = [1]struct{}{}[unsafe.Offsetof(QPEx{}.WRFlags)-unsafe.Offsetof(QPEx{}.WRID)-unsafe.Sizeof(QPEx{}.WRID)]

// check looks whether the queue pair has what every batch needs, and the
// operations.
func (s *QPEx) check(act action, ops QPCreateSendOpsFlags) error {
	if s.WRStart == 0 || s.WRComplete == 0 {
		return act.because(syscall.EOPNOTSUPP, "it was created without QPInitAttrSendOpsFlags, so it takes work requests by PostSend only")
	}
	if ops == 0 {
		return act.invalid("no operation is named: pass the SendOpsFlags that it was created with")
	}
	for op := range batchOps {
		flag := operations[op].flag
		if ops&flag == 0 {
			continue
		}
		if s.at(operations[op].slot) == 0 {
			return act.invalid("it was created without %v", flag)
		}
		ops &^= flag
	}
	if ops != 0 {
		return act.invalid("no operation is known for %v", ops)
	}
	return nil
}

// at is what is in a slot for a function of the provider's. Slots of operations are
// looked at only if the queue pair was created for those.
func (s *QPEx) at(slot uintptr) uintptr {
	// Safe: the struct grows at its end, and a library that has accepted an operation's
	// flag has an object that reaches as far as its slot.
	return *(*uintptr)(unsafe.Add(unsafe.Pointer(s), slot))
}

// QP is the queue pair that the batch was made for.
func (b *Batch) QP() *QPEx { return b.qp }

// Len is the number of work requests.
func (b *Batch) Len() int { return len(b.steps) }

// Reset forgets everything that was set, and all errors.
func (b *Batch) Reset() {
	clear(b.steps)
	clear(b.kept)
	for i := range b.parts {
		b.parts[i] = part{lacks: lacksOp}
	}
	b.unfinished, b.errs = len(b.parts), nil
}

// Err is nil if the whole batch can be posted, and otherwise the error that Post
// would have for it, without asking C.
func (b *Batch) Err() error { return b.ready(0, len(b.steps)) }

// Post posts the whole batch to the send queue, from C's ibv_wr_start to
// ibv_wr_complete. It returns how many work requests the provider accepted: all of
// them when err is nil, and otherwise none. The error is a [PostError] then, or
// says which work request was not set, and what it lacks. Nothing is allocated for
// a batch that can be posted, whatever the result.
//
// accepted is -1 with [ErrAcceptedUnknown] if the provider has failed in a state of
// the queue pair that comes before RTS: Soft-RoCE, for one, keeps the work requests
// then, and carries them out with the next ones in RTS.
//
// The work requests are the caller's again on return, and so is what they send
// inline. Other buffers are the device's until the completion of this or of a later
// work request has been polled. The calls of other goroutines to the same queue
// pair, by batches or PostSend, wait for a moment in C.
//
// C: ibv_wr_start, ibv_wr_complete, ibv_wr_abort; a batch is whole before it starts, so ibv_wr_abort is never needed
func (b *Batch) Post() (accepted int, err error) { return b.PostRange(0, len(b.steps)) }

// PostRange is Post for the work requests from first on and before end. Those
// outside need not be set. An empty range is a success, without asking C. The
// collector waits for the whole range, some ten nanoseconds for each of them.
func (b *Batch) PostRange(first, end int) (accepted int, err error) {
	if b.unfinished > 0 || first < 0 || first > end || end > len(b.steps) {
		if err := b.ready(first, end); err != nil {
			return 0, err
		}
	}
	if first == end {
		return 0, nil
	}
	if ccall.RaceDetector {
		b.posting(first, end)
	}
	result, errno := b.program.Play(b.steps[first:end])
	runtime.KeepAlive(b) // the steps have addresses
	if result == 0 {
		return end - first, nil
	}
	return b.refused(result, errno)
}

// ready is why the range cannot be posted, or nil.
func (b *Batch) ready(first, end int) error {
	act := action{op: "post a batch"}
	if b.qp != nil {
		act = b.qp.QPBase.action("post a batch to", nil)
	}
	switch {
	case first < 0 || first > end || end > len(b.steps):
		return act.invalid("%d to %d are asked for, the batch has 0 to %d", first, end, len(b.steps))
	case b.unfinished == 0:
		return nil
	}
	for i, p := range b.parts[first:end] {
		if p.lacks == 0 {
			continue
		}
		if err := b.errs[lacking{first + i, p.lacks.first()}]; err != nil {
			return fmt.Errorf("%w; the batch is not posted before work request %d is set", err, first+i)
		}
		return act.invalid("work request %d of the batch lacks %v", first+i, p.lacks)
	}
	return nil
}

// refused is what it means that ibv_wr_complete has failed.
func (b *Batch) refused(result, errno int32) (int, error) {
	switch b.qp.QPBase.State {
	case QPSReset, QPSInit, QPSRTR:
		return -1, postFailed(opPostBatch, result, errno, true)
	}
	return 0, postFailed(opPostBatch, result, errno, false)
}

// posting tells the race detector that C reads what the range consists of, and
// that no one else may post the batch meanwhile.
func (b *Batch) posting(first, end int) {
	b.posts++
	if b.maxSGE > 0 {
		ccall.RaceRead(unsafe.Pointer(&b.entries[first*b.maxSGE]), uintptr((end-first)*b.maxSGE)*unsafe.Sizeof(SGE{}))
	}
	if b.values != nil {
		ccall.RaceRead(unsafe.Pointer(&b.values[first]), uintptr(end-first)*wordSize)
	}
	if b.binds != nil {
		ccall.RaceRead(unsafe.Pointer(&b.binds[first]), uintptr(end-first)*unsafe.Sizeof(MWBindInfo{}))
	}
}

// String is a line about the batch.
func (b *Batch) String() string {
	if b == nil {
		return nilText
	}
	return fmt.Sprintf("batch of %d work requests, %d of them set, with at most %d scatter/gather entries each", b.Len(), b.Len()-b.unfinished, b.maxSGE)
}
