package rdma

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// ErrClosed is what the error is, by errors.Is, of using an object after its Close,
// and of a second Close. It is fs.ErrClosed too. While another goroutine is closing
// the object, or a CloseAll has come to it, the error is syscall.EBUSY besides: that
// may fail, and then the object stays.
var ErrClosed = error(closedError{})

type closedError struct{}

func (closedError) Error() string        { return "it is closed" }
func (closedError) Is(target error) bool { return target == fs.ErrClosed }

// errClosing is the reason while an object is being closed, which may yet fail.
var errClosing = error(closingError{})

type closingError struct{}

func (closingError) Error() string        { return "it is being closed" }
func (closingError) Is(target error) bool { return target == ErrClosed || target == fs.ErrClosed }
func (closingError) Unwrap() error        { return syscall.EBUSY }

// Error is a failure that this package finds itself; those of C's functions are of
// type *[github.com/goverbs/goverbs/ibv.Error]. It unwraps to its reason: a
// syscall.Errno, or [ErrClosed], say.
type Error struct {
	Op   string // what was attempted, such as "close"
	On   string // on what, such as "queue pair 0x11 on rxe0"
	Err  error  // why not
	Hint string // what to do about it, or ""

	made, closed stack
	others       string // where other objects were made and closed
}

// Error says what was attempted, on what, why it failed and what to do. In checked
// mode it says too where the object was made and closed.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rdma: %s", e.Op)
	if e.On != "" {
		fmt.Fprintf(&b, " %s", e.On)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	if e.made != nil {
		fmt.Fprintf(&b, "\nmade by\n%v", e.made)
	}
	if e.closed != nil {
		fmt.Fprintf(&b, "\nclosed by\n%v", e.closed)
	}
	b.WriteString(e.others)
	return b.String()
}

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Err }

// ChildrenError is the error of closing an object while others need it. It is
// syscall.EBUSY too.
type ChildrenError struct {
	Object   string   // what was to be closed
	Children []string // what has to be closed before, the newest first
}

// Error names them, ten at most.
func (e *ChildrenError) Error() string {
	children, more := e.Children, ""
	if len(children) > 10 {
		children, more = children[:10], fmt.Sprintf(" and %d more", len(e.Children)-10)
	}
	return fmt.Sprintf("rdma: close %s: close first, or use CloseAll: %s%s", e.Object, strings.Join(children, ", "), more)
}

// Unwrap gives the errno.
func (e *ChildrenError) Unwrap() error { return syscall.EBUSY }
