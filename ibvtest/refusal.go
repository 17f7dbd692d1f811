//go:build !freebsd

package ibvtest

import (
	"fmt"
	"syscall"
)

// Refusal is how a provider says that it does not take a work request. The man page
// wants a positive errno value, and bad_wr to point to the work request: that is the
// zero Refusal but for its Errno. Real providers have all of the others.
type Refusal struct {
	// Errno is the reason; 0 is syscall.ENOMEM, that of a full queue.
	Errno syscall.Errno
	// Result is what the post returns.
	Result ResultKind
	// BadWR is what it leaves in bad_wr.
	BadWR BadWRKind
}

// ResultKind is how a post's result tells the reason.
type ResultKind int

// The kinds of results that providers have.
const (
	PositiveErrno ResultKind = iota // the errno value, as the man page has it
	NegativeErrno                   // its negative, as the kernel has it: siw, qedr, erdma, cxgb4, rxe before 40
	MinusOne                        // -1, and the reason is in errno: mthca
	Zero                            // 0, though bad_wr points to a work request: siw's sends. With another BadWR, nobody can tell it from success.
)

// String is the name of the constant.
func (k ResultKind) String() string {
	return nameOf(int(k), "PositiveErrno", "NegativeErrno", "MinusOne", "Zero")
}

// BadWRKind is what a refused post leaves in bad_wr.
type BadWRKind int

// The kinds of bad_wr that providers leave.
const (
	BadWRRefused BadWRKind = iota // the work request that was refused, as the man page has it
	BadWRUnset                    // nothing: what was there before
	BadWRNull                     // NULL
	BadWRStale                    // a work request of a list that was posted before
	BadWRForeign                  // an address that is no work request
)

// String is the name of the constant.
func (k BadWRKind) String() string {
	return nameOf(int(k), "BadWRRefused", "BadWRUnset", "BadWRNull", "BadWRStale", "BadWRForeign")
}

func nameOf(k int, names ...string) string {
	if k < 0 || k >= len(names) {
		return fmt.Sprintf("unknown kind %d", k)
	}
	return names[k]
}

// String is the reason and the convention.
func (r Refusal) String() string {
	return fmt.Sprintf("%v (%v, %v)", r.reason(), r.Result, r.BadWR)
}

func (r Refusal) reason() syscall.Errno {
	if r.Errno == 0 {
		return syscall.ENOMEM
	}
	return r.Errno
}

// foreign is what BadWRForeign leaves.
var foreign [64]byte

// stale is a work request of a list that was posted before.
var stale [64]byte

// results are what a post returns that refuses the work request at an address.
func (r Refusal) results(wr uintptr) (result, errno int32, bad uintptr) {
	switch r.Result {
	case NegativeErrno:
		result = -int32(r.reason())
	case MinusOne:
		result, errno = -1, int32(r.reason())
	case Zero:
	default:
		result = int32(r.reason())
	}
	switch r.BadWR {
	case BadWRRefused:
		bad = wr
	case BadWRStale:
		bad = address(&stale)
	case BadWRForeign:
		bad = address(&foreign)
	}
	return result, errno, bad
}

// inHook is how verbs of the fabric are refused that a hook of it calls.
var inHook = Refusal{Errno: syscall.EDEADLK}
