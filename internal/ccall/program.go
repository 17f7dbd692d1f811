package ccall

import "unsafe"

// Program is a batch of calls on one object of C's that are made in one crossing: C's lock, which the first one takes
// and the last one lets go of, is never seen in Go. It is for ibv_wr_start, what follows it, and ibv_wr_complete.
//
// Between start and complete there are steps, one for each work request. The collector waits for all of it, so
// whoever builds a program bounds it.
type Program struct {
	Object unsafe.Pointer // the first argument of every call

	// Start is void (*)(object), and Complete is int (*)(object). Neither may be 0.
	Start, Complete uintptr

	// Words is where a step's WRID goes, and its Flags behind that: wr_id of a struct ibv_qp_ex, say.
	Words unsafe.Pointer
}

// Step is a work request: two stores, and up to three calls, in the order of the fields. A call whose function is 0
// is not made. Arguments are whole registers, as C's convention has them: see [Unsigned].
//
// Memory that an argument points to is the caller's to keep alive and in place, from when its address was taken until
// the program was played: the collector does not know the numbers.
type Step struct {
	WRID  uint64
	Flags uint32

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
	if p.Start == 0 || p.Complete == 0 {
		return -1, NotAsked
	}
	if RaceDetector {
		RaceRead(unsafe.Pointer(unsafe.SliceData(steps)), uintptr(len(steps))*unsafe.Sizeof(Step{}))
		raceRelease()
	}
	return playSteps(p, unsafe.SliceData(steps), len(steps))
}
