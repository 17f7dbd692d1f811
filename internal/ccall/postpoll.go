package ccall

import "unsafe"

// Pair is a post and then a poll of C's, with their arguments and results, which are as those of [Post] and of the C
// functions themselves: the smallest program of calls. It has assembly of its own, because each call has its own place
// there: a loop over a list of calls, which jumps, and from which both functions are called at one place, made a ring one or
// two nanoseconds slower.
type Pair struct {
	PostFn       uintptr
	Object, List unsafe.Pointer
	PollFn       uintptr
	CQ, Into     unsafe.Pointer
	Room         int32

	Bad                   uintptr // a number, because C may have left anything there
	PostResult, PostErrno int32   // in one word, which the assembly stores at once
	Got, PollErrno        int32
}

// Make makes both calls, the second one whatever came of the first. On amd64 and arm64 it goes to C once for both. The
// functions are C's, and not served ones: a choice here would cost rings a nanosecond.
func (p *Pair) Make() { makePair(p) }

// pairStepwise makes the calls one by one, each in the way that is there for it.
//
//lint:ignore U1000 the assembly goes on at it
func pairStepwise(p *Pair) {
	p.PostResult, p.PostErrno, p.Bad = post(p.PostFn, p.Object, p.List)
	p.Got, p.PollErrno = poll(p.PollFn, p.CQ, p.Room, p.Into)
}

var _ = [1]struct{}{}[unsafe.Offsetof(Pair{}.PostErrno)-unsafe.Offsetof(Pair{}.PostResult)-4|unsafe.Offsetof(Pair{}.PostResult)%8]
