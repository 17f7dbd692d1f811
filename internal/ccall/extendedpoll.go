package ccall

import (
	"slices"
	"sync/atomic"
	"unsafe"
)

// ExtendedPoll takes completions off an extended completion queue in one crossing, from start_poll to end_poll. C's lock,
// which those take and let go of, is never seen in Go. It does not change once it was used; any number of goroutines may use
// it at the same time, each with records of its own.
type ExtendedPoll struct {
	CQ   unsafe.Pointer // struct ibv_cq_ex
	Attr unsafe.Pointer // struct ibv_poll_cq_attr

	// Start is int (*)(cq, attr), Next int (*)(cq), and End void (*)(cq). None may be 0.
	Start, Next, End uintptr

	// Head is where in CQ the current completion's comp_mask, status and wr_id are, one after the other.
	Head unsafe.Pointer

	// OnSuccess is what is read of a completion whose status is 0, and OnFailure of another, most of whose values C leaves
	// undefined: see [Reads]. Neither is nil.
	OnSuccess, OnFailure *Read

	// Fill, if it is not 0, is void (*)(cq, record+FillAt), called for a success: read_tm_info.
	Fill, FillAt uintptr

	// Size is a record's.
	Size uintptr

	// NextEnds says that Next, when it finds nothing, does what End does, and that End must not follow. It is an error of
	// providers.
	NextEnds bool

	checked uint32 // 1 once functions and lists are known to be there
}

// Read is one call for each completion, T (*)(cq), whose result goes to record+Result, the register as it is: a word, of
// which C defines as many of the lower bits as T has.
type Read struct {
	Fn, Result uintptr
}

// Reads makes what an [ExtendedPoll] reads of a list. It ends where a function is missing.
func Reads(list ...Read) *Read { return &slices.Concat(list, []Read{{}})[0] }

// mostPolled is how many completions are taken off a queue in one crossing. The collector waits for it.
const mostPolled = 256

// Poll takes up to n completions and fills as many records at into: status is at 4, wr_id at 8, and what is read where
// [Read] says. into must not be on the goroutine's stack.
//
// result is 0 if there were n. Otherwise it is why there are no more: what start_poll or next_poll returned, ENOENT
// for an empty queue. errno is as with [Post]. end_poll is called after every start that returned 0, and once (but see
// NextEnds). Where a function or a list is missing, nothing is called, result is -1 and errno is [NotAsked].
func (p *ExtendedPoll) Poll(into unsafe.Pointer, n int) (got int, result, errno int32) {
	return pollExChosen(p, into, n)
}

func pollProgram(p *ExtendedPoll, into unsafe.Pointer, n int) (got int, result, errno int32) {
	if p.Start == 0 || p.Next == 0 || p.End == 0 || p.OnSuccess == nil || p.OnFailure == nil {
		yield()
		return 0, -1, NotAsked
	}
	atomic.StoreUint32(&p.checked, 1) // any number of goroutines may poll with it
	for got < n && result == 0 {
		// Safe: there is room for n records.
		room := unsafe.Add(into, uintptr(got)*p.Size)
		var some int
		some, result, errno = pollEx(p, room, min(n-got, mostPolled))
		raceTaken(room, some, p.Size)
		got += some
	}
	return got, result, errno
}
