package ccall

import "unsafe"

// ExtendedPoll takes completions off an extended completion queue in one crossing, from start_poll to end_poll. C's lock,
// which those take and let go of, is never seen in Go.
type ExtendedPoll struct {
	CQ   unsafe.Pointer // struct ibv_cq_ex
	Attr unsafe.Pointer // struct ibv_poll_cq_attr

	// Start is int (*)(cq, attr), Next int (*)(cq), and End void (*)(cq). None may be 0.
	Start, Next, End uintptr

	// Head is where in CQ the current completion's comp_mask, status and wr_id are, 16 bytes.
	Head unsafe.Pointer

	// OnSuccess is what is read of a completion whose status is 0, and OnFailure of another: C leaves most of those
	// without a value.
	OnSuccess, OnFailure []Read

	// Size is a record's.
	Size uintptr
}

// Read is one call for each completion, T (*)(cq, record+Arg), whose result goes to record+Result, the register as it
// is: a word, of which C defines as many of the lower bits as T has. Functions without a second argument do
// not mind it, and those without a result leave a word that means nothing. Fn must not be 0.
type Read struct {
	Fn          uintptr
	Arg, Result uintptr
}

// headSize is how much of a record the head takes.
const headSize = 16

// mostPolled is how many completions are taken off a queue in one crossing. The collector waits for it.
const mostPolled = 256

// Poll takes up to n completions and fills as many records at into: first the head, and what is read where [Read] says.
// into must not be on the goroutine's stack.
//
// result is 0 if there were n. Otherwise it is why there are no more: what start_poll or next_poll returned, ENOENT
// for an empty queue. errno is as with [Post]. end_poll is called after every start that returned 0, and once. Where a
// function is missing, nothing is called, result is -1 and errno is [NotAsked].
func (p *ExtendedPoll) Poll(into unsafe.Pointer, n int) (got int, result, errno int32) {
	if p.Start == 0 || p.Next == 0 || p.End == 0 {
		return 0, -1, NotAsked
	}
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

func (r Read) into(record unsafe.Pointer) *uintptr {
	return (*uintptr)(unsafe.Add(record, r.Result)) // safe: the record has a word there
}
