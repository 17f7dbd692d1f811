package ibv

import (
	"errors"
	"sync/atomic"
	"syscall"
)

// ErrSRQAttached is the error of posting a receive to a queue pair that was
// made with a shared receive queue: receives go to that queue. C's providers
// differ in what they do then, so the provider is not asked. The error is
// syscall.EINVAL too.
var ErrSRQAttached = error(srqAttached{})

type srqAttached struct{}

func (srqAttached) Error() string {
	return "ibv: post receive: the queue pair has a shared receive queue: post to qp.SRQ instead"
}
func (srqAttached) Unwrap() error { return syscall.EINVAL }

// ErrAcceptedUnknown is what the error of a post is, by errors.Is, when the
// provider refused work requests without telling the first of them. How many it
// accepted is then unknown, and only the completions will tell.
var ErrAcceptedUnknown = errors.New("which work request was refused is not known")

// PostError is the refusal of a work request. It unwraps to the errno value
// that C returns. Errors of posts are made once and shared, so that a post onto
// a full queue allocates nothing; so they name no queue pair and no number.
type PostError struct {
	Op    string        // "post receive", "post send", "post shared receive", "post batch" or "post receive to work queue"
	Errno syscall.Errno // why the provider refused
	// Result is what the provider returned: an errno value, its negative, or -1
	// with the reason in C's errno, by provider; 0 if it left nothing but the work
	// request that it refused.
	Result int32
	// AcceptedUnknown tells that the provider did not say which work request it
	// refused.
	AcceptedUnknown bool
	// Unexplained tells that the provider refused with a result of 0, so Errno is
	// what such refusals have meant: the queue is full.
	Unexplained bool
}

// Error says what was refused, why, and what to do.
func (e *PostError) Error() string {
	text := "ibv: " + e.Op + ": " + describe(e.Errno)
	if hint := postHints[e.Errno]; hint != "" {
		text += "; " + hint
	}
	if e.Unexplained {
		text += "; the provider gave no reason, which has meant a full queue"
	}
	if e.AcceptedUnknown {
		text += "; " + ErrAcceptedUnknown.Error()
	}
	return text
}

// Unwrap gives the errno.
func (e *PostError) Unwrap() error { return e.Errno }

// Is recognises ErrAcceptedUnknown.
func (e *PostError) Is(target error) bool { return e.AcceptedUnknown && target == ErrAcceptedUnknown }

var postHints = map[syscall.Errno]string{
	syscall.ENOMEM: "the queue is full, or on some providers a work request has too many scatter/gather entries",
	syscall.EINVAL: "a work request is not valid (more scatter/gather entries or inline data than its queue was made for, say, or another type's operation), or the queue pair's state does not allow it",
	syscall.ENOSPC: "the queue is full, or a work request has more scatter/gather entries or inline data than its queue was made for",
	syscall.EIO:    "the queue pair is in the error state, or the device has failed",
}

// postOp is one of the posts.
type postOp uint8

const (
	opPostRecv postOp = iota
	opPostSend
	opPostSRQRecv
	opPostBatch
	opPostWQRecv
	postOps
)

func (op postOp) String() string {
	return [postOps]string{"post receive", "post send", "post shared receive", "post batch", "post receive to work queue"}[op]
}

// postErrors are the errors made so far: by operation, by whether the refused
// work request is unknown, by how the provider gave the reason, and by errno, with
// 0 for an unexplained refusal. Linux's errno values end at 133; an error beyond
// is made each time.
var postErrors [postOps][2][3][134]atomic.Pointer[PostError]

// postFailed is the error for a refusal that has result and errno.
func postFailed(op postOp, result, errno int32, unknown bool) error {
	e := PostError{Op: op.String(), Errno: syscall.ENOMEM, Result: result, AcceptedUnknown: unknown, Unexplained: result == 0}
	why, row, how := syscall.Errno(0), 0, 0
	if result != 0 {
		why = reason(result, errno)
		e.Errno = why
	}
	if unknown {
		row = 1
	}
	if result < 0 {
		how = 1
	}
	if result == -1 {
		how = 2
	}
	if int(why) >= len(postErrors[op][row][how]) {
		return newPostError(e)
	}
	slot := &postErrors[op][row][how][why]
	if slot.Load() == nil {
		slot.CompareAndSwap(nil, newPostError(e))
	}
	return slot.Load()
}

func newPostError(e PostError) *PostError { return &e }
