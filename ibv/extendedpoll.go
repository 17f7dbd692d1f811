//go:build !freebsd

package ibv

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// ExtendedPoll polls an extended completion queue, and reads of each completion
// what was asked for. [NewExtendedPoll] makes one. Any number of goroutines may use
// it at the same time, each with memory of its own for the completions.
type ExtendedPoll struct {
	_ noCopy

	poll   ccall.ExtendedPoll
	cq     *CQEx
	fields WCFields
	single bool // one completion at a time: see rxePolls
}

// read is where the provider has the function for a field, and where in a record
// its result goes. That is stored as a whole register, so it writes over the number
// beside it, of 32 bits too: the one behind it, or before it on a big-endian
// processor. So they are read in an order in which that one comes later: see
// [ordered].
type read struct {
	field  WCFields
	slot   uintptr
	result uintptr
}

var reads = []read{
	{WCFieldOpcode, unsafe.Offsetof(CQEx{}.ReadOpcode), unsafe.Offsetof(ExtendedWC{}.opcode)},
	{WCFieldWCFlags, unsafe.Offsetof(CQEx{}.ReadWCFlags), unsafe.Offsetof(ExtendedWC{}.wcFlags)},
	{WCFieldByteLen, unsafe.Offsetof(CQEx{}.ReadByteLen), unsafe.Offsetof(ExtendedWC{}.byteLen)},
	{WCFieldImm, unsafe.Offsetof(CQEx{}.ReadImmData), unsafe.Offsetof(ExtendedWC{}.imm)},
	{WCFieldQPNum, unsafe.Offsetof(CQEx{}.ReadQPNum), qpNumAt()},
	{WCFieldSrcQP, unsafe.Offsetof(CQEx{}.ReadSrcQP), unsafe.Offsetof(ExtendedWC{}.srcQP)},
	{WCFieldSLID, unsafe.Offsetof(CQEx{}.ReadSLID), unsafe.Offsetof(ExtendedWC{}.slid)},
	{WCFieldSL, unsafe.Offsetof(CQEx{}.ReadSL), unsafe.Offsetof(ExtendedWC{}.sl)},
	{WCFieldDLIDPathBits, unsafe.Offsetof(CQEx{}.ReadDLIDPathBits), unsafe.Offsetof(ExtendedWC{}.dlidPathBits)},
	{WCFieldCVLAN, unsafe.Offsetof(CQEx{}.ReadCVLAN), unsafe.Offsetof(ExtendedWC{}.cvlan)},
	{WCFieldFlowTag, unsafe.Offsetof(CQEx{}.ReadFlowTag), unsafe.Offsetof(ExtendedWC{}.flowTag)},
	{WCFieldCompletionTS, unsafe.Offsetof(CQEx{}.ReadCompletionTS), unsafe.Offsetof(ExtendedWC{}.ts)},
	{WCFieldWallclock, unsafe.Offsetof(CQEx{}.ReadCompletionWallclockNS), unsafe.Offsetof(ExtendedWC{}.wallclock)},
	{WCFieldTMInfo, unsafe.Offsetof(CQEx{}.ReadTMInfo), unsafe.Offsetof(ExtendedWC{}.tmInfo)}, // which it fills itself
}

// bigEndian tells that a number's highest byte comes first in memory.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// qpNumAt is where the queue pair's number is in a record.
func qpNumAt() uintptr {
	if bigEndian {
		return unsafe.Offsetof(ExtendedWC{}.qpNumBigEndian)
	}
	return unsafe.Offsetof(ExtendedWC{}.qpNumLittleEndian)
}

// readInto is the call of fn, whose result goes to a place in a record.
func readInto(fn, result uintptr) ccall.Read {
	if bigEndian && result < unsafe.Offsetof(ExtendedWC{}.ts) {
		result -= 4 // the register's lower half comes second
	}
	return ccall.Read{Fn: fn, Result: result}
}

// ordered is calls in the order in which none writes over another's result.
func ordered(calls []ccall.Read) *ccall.Read {
	slices.SortFunc(calls, func(a, b ccall.Read) int { return cmp.Compare(a.Result, b.Result) })
	if bigEndian {
		slices.Reverse(calls)
	}
	return ccall.Reads(calls...)
}

// noAttr is what C wants to be told of a poll: nothing so far. Nobody writes it.
var noAttr PollCQAttr

// A completion begins as C has it in the queue, from comp_mask on.
var _ = [1]struct{}{}[unsafe.Offsetof(CQEx{}.Status)-unsafe.Offsetof(CQEx{}.CompMask)-unsafe.Offsetof(ExtendedWC{}.Status)|
	unsafe.Offsetof(CQEx{}.WRID)-unsafe.Offsetof(CQEx{}.CompMask)-unsafe.Offsetof(ExtendedWC{}.WRID)|
	unsafe.Offsetof(ExtendedWC{}.compMask)]

// NewExtendedPoll prepares polls of a completion queue that read the fields of each
// completion. [Context.CreateCQEx] must have created the queue with their flags: C
// leaves out the functions for others, which is an error here. It may be called
// from any goroutine.
func NewExtendedPoll(cq *CQEx, fields WCFields) (*ExtendedPoll, error) {
	if cq == nil {
		return nil, action{op: "prepare an extended poll"}.invalid("the completion queue is missing")
	}
	act := cq.Context.action("prepare an extended poll", nil)
	if cq.StartPoll == 0 || cq.NextPoll == 0 || cq.EndPoll == 0 {
		return nil, act.because(syscall.EOPNOTSUPP, "the completion queue was not created as extended, or its provider cannot poll it so: use Poll of the CQ")
	}
	p := &ExtendedPoll{
		poll: ccall.ExtendedPoll{
			CQ: unsafe.Pointer(cq), Attr: unsafe.Pointer(&noAttr), Head: unsafe.Pointer(&cq.CompMask),
			Start: uintptr(cq.StartPoll), Next: uintptr(cq.NextPoll), End: uintptr(cq.EndPoll),
			Size: unsafe.Sizeof(ExtendedWC{}),
		},
		cq: cq, fields: fields,
	}
	p.poll.NextEnds, p.single = rxePolls(uintptr(cq.NextPoll))
	var onSuccess, onFailure []ccall.Read
	unknown := fields
	for _, r := range reads {
		unknown &^= r.field
		if fields&r.field == 0 {
			continue
		}
		// Safe: every queue has a word for the function.
		fn := *(*uintptr)(unsafe.Add(unsafe.Pointer(cq), r.slot))
		if fn == 0 {
			return nil, act.invalid("the completion queue was created without %v", r.field)
		}
		if r.field == WCFieldTMInfo {
			p.poll.Fill, p.poll.FillAt = fn, r.result
			continue
		}
		onSuccess = append(onSuccess, readInto(fn, r.result))
	}
	if unknown != 0 {
		return nil, act.invalid("no field is known for %v", unknown)
	}
	if cq.ReadQPNum != 0 {
		onFailure = append(onFailure, readInto(uintptr(cq.ReadQPNum), qpNumAt()))
	}
	if cq.ReadVendorErr != 0 {
		onFailure = append(onFailure, readInto(uintptr(cq.ReadVendorErr), unsafe.Offsetof(ExtendedWC{}.vendorErr)))
	}
	p.poll.OnSuccess, p.poll.OnFailure = ordered(onSuccess), ordered(onFailure)
	return p, nil
}

// Poll takes up to len(into) completions off the queue, oldest first, reads them,
// and returns how many; 0 says that there are none now. It goes to C once, from
// ibv_start_poll to ibv_end_poll, or once for some hundred completions. An error
// says that the queue has failed; those that were taken before are there all the
// same. syscall.EBUSY is no failure: [WCFieldWallclock] may have to be tried again.
// A completion of work that failed is no error here: see [ExtendedWC.Err].
//
// It does not block and does not allocate, but for into, which is in the heap if
// the caller's is an array. Any goroutine may call it, and [CQ.Poll] of the same
// queue, where the provider has that, may go on meanwhile: completions are handed
// out once.
//
// Soft-RoCE of rdma-core before 59.0 does not end polls as it should. For some
// releases each completion is taken by a poll of its own, which takes longer.
//
// C: ibv_start_poll, ibv_next_poll, ibv_end_poll
func (p *ExtendedPoll) Poll(into []ExtendedWC) (n int, err error) {
	if p.single {
		return p.pollSingly(into)
	}
	n, result, errno := p.poll.Poll(unsafe.Pointer(unsafe.SliceData(into)), len(into))
	if result == 0 || result == int32(syscall.ENOENT) {
		return n, nil
	}
	return p.failed(n, result, errno)
}

// pollSingly is Poll by polls of one completion each, which end before C would have
// to say that there are no more.
func (p *ExtendedPoll) pollSingly(into []ExtendedWC) (int, error) {
	for i := range into {
		n, result, errno := p.poll.Poll(unsafe.Pointer(&into[i]), 1)
		if n == 0 {
			return p.failed(i, result, errno)
		}
	}
	return len(into), nil
}

// failed is what it means that C has ended a poll of n.
func (p *ExtendedPoll) failed(n int, result, errno int32) (int, error) {
	if p.cq == nil {
		return n, action{op: "poll extended completion queue"}.invalid("nobody has made this poll: NewExtendedPoll does")
	}
	act := p.cq.Context.action("poll extended completion queue", nil)
	switch why := reason(result, errno); why {
	case syscall.ENOENT:
		return n, nil
	case syscall.EBUSY:
		return n, act.because(why, "the wallclock was being set: try again")
	default:
		return n, act.because(why, "the queue overran, or the device has failed: destroy it and its queue pairs")
	}
}

// String is a line about the poll.
func (p *ExtendedPoll) String() string {
	if p == nil {
		return nilText
	}
	if p.cq == nil {
		return "extended poll of no completion queue"
	}
	return fmt.Sprintf("extended poll of completion queue %d for %v", p.cq.Handle, p.fields)
}
