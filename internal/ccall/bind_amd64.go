//go:build linux && !go1.28

package ccall

import "unsafe"

// What is bound is a func value as the compiler makes them: a pointer to where the code begins and, behind that, what it has
// in its closure. The compiler's way of a call hands that pointer over in DX.

type boundList struct {
	code    uintptr
	fn      uintptr
	object  unsafe.Pointer
	refused ListRefused
}

type boundPoll struct {
	code   uintptr
	fn     uintptr
	cq     unsafe.Pointer
	failed PollFailed
}

// listMissing panics, because a list is nil. A fault in the assembly could not be recovered from.
//
//lint:ignore U1000 the assembly goes on at it
var listMissing = func(l *List, _, _ uintptr) (int, error) { return l.Len, nil }

// The assembly, as in registers_amd64.go.

//lint:ignore U1000 see above
func boundListInRegisters()

//lint:ignore U1000 see above
func boundPollInRegisters()

var boundListCode, boundPollCode uintptr

func bindListInRegisters(fn uintptr, object unsafe.Pointer, refused ListRefused) BoundList {
	b := &boundList{boundListCode, fn, object, refused}
	// Safe: it begins with the code, which has these arguments and results.
	return *(*BoundList)(unsafe.Pointer(&b))
}

func bindPollInRegisters(fn uintptr, cq unsafe.Pointer, failed PollFailed) BoundPoll {
	b := &boundPoll{boundPollCode, fn, cq, failed}
	// Safe: as above.
	return *(*BoundPoll)(unsafe.Pointer(&b))
}
