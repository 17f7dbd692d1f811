package ccall

import "unsafe"

// BindList and BindPoll are [PostList] and [Poll] with the function, the object and the handler of refusals given once: what
// there is of them is in the func value's closure, so that the call has nothing to look up and nothing to ask. What was
// bound must not be called once the object is gone. They are variables because the calls are.
var (
	BindList listBinder
	BindPoll pollBinder
)

func init() { BindList, BindPoll = chooseBound() }

// BoundList is [PostList], bound. BoundPoll is [Poll], bound, whose into may be on the goroutine's stack too.
//
// The words without a name are nobody's, and 0. A call that does not return by itself goes on at a handler, or at a function
// that gives way, which spill their own arguments, three words, where the caller made room for those of the call: so it has
// as many.
type (
	BoundList = func(l *List, _, _ uintptr) (accepted int, err error)
	BoundPoll = func(into unsafe.Pointer, n int, _ uintptr) (got int, err error)
)

type (
	listBinder = func(fn uintptr, object unsafe.Pointer, refused ListRefused) BoundList
	pollBinder = func(fn uintptr, cq unsafe.Pointer, failed PollFailed) BoundPoll
)

func bindList(fn uintptr, object unsafe.Pointer, refused ListRefused) BoundList {
	return func(l *List, _, _ uintptr) (int, error) { return postList(fn, object, l, nil, refused) }
}

func bindPoll(fn uintptr, cq unsafe.Pointer, failed PollFailed) BoundPoll {
	return func(into unsafe.Pointer, n int, _ uintptr) (int, error) { return pollInto(fn, cq, into, n, failed) }
}
