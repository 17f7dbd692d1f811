package ccall

import (
	"math"
	"unsafe"
)

// The calls made step by step, of what there is on every platform: post and poll. The race detector sees in them who uses
// what at a time, which it cannot see in assembly and C.

func postAny(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr) {
	raceRelease()
	return post(fn, object, list)
}

func postFrom(fn uintptr, object, first, unless unsafe.Pointer, refused FromRefused) (unsafe.Pointer, error) {
	return postFromBy(postAny, fn, object, first, unless, refused)
}

func postList(fn uintptr, object unsafe.Pointer, l *List, unless unsafe.Pointer, refused ListRefused) (int, error) {
	return postListBy(postAny, fn, object, l, unless, refused)
}

func postFromBy(post postFunc, fn uintptr, object, first, unless unsafe.Pointer, refused FromRefused) (unsafe.Pointer, error) {
	if unless != nil {
		return refused(first, 0, NotAsked, 0)
	}
	if first == nil {
		return nil, nil
	}
	result, errno, bad := post(fn, object, first)
	if result == 0 && bad == 0 {
		return nil, nil
	}
	return refused(first, result, errno, bad)
}

func postListBy(post postFunc, fn uintptr, object unsafe.Pointer, l *List, unless unsafe.Pointer, refused ListRefused) (int, error) {
	if unless != nil {
		return refused(l, 0, NotAsked, 0)
	}
	if l.Len == 0 {
		return 0, nil
	}
	l.bad = 0 // one call at a time may have the list
	result, errno, bad := post(fn, object, l.First)
	if result == 0 && bad == 0 {
		return l.Len, nil
	}
	return refused(l, result, errno, bad)
}

func pollInto(fn uintptr, cq, into unsafe.Pointer, n int, failed PollFailed) (int, error) {
	if n == 0 {
		return 0, nil
	}
	asked := clampAsked(n)
	got, errno := poll(fn, cq, asked, into)
	if got < 0 || got > asked {
		return failed(cq, got, errno, asked)
	}
	raceTaken(into, int(got), CompletionSize)
	return int(got), nil
}

// clampAsked is how many completions C can be asked for.
func clampAsked(n int) int32 { return int32(min(n, math.MaxInt32)) }
