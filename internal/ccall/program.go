package ccall

import (
	"sync/atomic"
	"unsafe"
)

// Program is a batch of calls on one object of C's that are made in one crossing: C's lock, which the first one takes
// and the last one lets go of, is never seen in Go. It is for ibv_wr_start, what follows it, and ibv_wr_complete. Any
// number of goroutines may play it at the same time, each with steps of its own.
//
// Between start and complete there are steps, one for each work request. The collector waits for all of it, so
// whoever builds a program bounds it.
type Program struct {
	Object unsafe.Pointer // the first argument of every call

	// Start is void (*)(object), and Complete is int (*)(object). Neither may be 0,
	// and neither changes once the program was played.
	Start, Complete uintptr

	// Words is where a step's WRID goes, and its Flags behind that: wr_id of a struct ibv_qp_ex, say.
	Words unsafe.Pointer

	// checked is 1 once the functions are known to be there.
	checked uint32
}

// Step is a work request: two stores, and up to three calls, in the order of the fields. A call whose function is 0
// is not made. Arguments are whole registers, as C's convention has them: see [Unsigned].
//
// Memory that an argument points to is the caller's to keep alive and in place, from when its address was taken until
// the program was played: the collector does not know the numbers.
type Step struct {
	WRID  uint64
	Flags uint32

	// Plain may be 1 in a step that has an Op with no more than three arguments, no Address, and Data: the assembly does not
	// look for the rest then, which makes most batches a little faster.
	Plain uint32

	Op     uintptr // the operation, void (*)(object, …)
	OpArgs [5]uintptr

	Address     uintptr // whom it goes to, likewise
	AddressArgs [3]uintptr

	Data     uintptr // what it is about, likewise
	DataArgs [3]uintptr
}

// Play makes the calls: start, each step's, and complete, whose result it returns. errno is as with [Post]. Where there is
// no function to start or to complete with, nothing is called, result is -1 and errno is [NotAsked].
func (p *Program) Play(steps []Step) (result, errno int32) {
	return playChosen(p, unsafe.SliceData(steps), len(steps))
}

// The calls that Play, Poll and Call are, chosen as those of the package are.
var (
	playChosen   playFunc
	pollExChosen pollExFunc
	callChosen   callFunc
)

func init() { playChosen, pollExChosen, callChosen = choosePrograms() }

type (
	playFunc   = func(p *Program, first *Step, n int) (result, errno int32)
	pollExFunc = func(p *ExtendedPoll, into unsafe.Pointer, n int) (got int, result, errno int32)
	callFunc   = func(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32)
)

func playProgram(p *Program, first *Step, n int) (result, errno int32) {
	if p.Start == 0 || p.Complete == 0 {
		yield()
		return -1, NotAsked
	}
	atomic.StoreUint32(&p.checked, 1) // any number of goroutines may play it
	if RaceDetector {
		RaceRead(unsafe.Pointer(first), uintptr(n)*unsafe.Sizeof(Step{}))
		raceRelease()
	}
	return playSteps(p, first, n)
}
