package rdma

import (
	"fmt"
	"syscall"
)

// check is the error of doing something with an object that is not open, or nil.
func (l *life) check(op string) error {
	if l == nil {
		return noHandle(op)
	}
	l.tree.Lock()
	defer l.tree.Unlock()
	return l.closedIf(op)
}

// closedIf is check, with the tree locked.
func (l *life) closedIf(op string) error {
	switch l.state {
	case open:
		return nil
	case closed:
		return &Error{Op: op, On: l.text(), Err: ErrClosed, made: l.stack, closed: l.closedBy}
	default:
		return l.closingError(op)
	}
}

func (l *life) closingError(op string) error {
	return &Error{Op: op, On: l.text(), Err: errClosing, made: l.stack}
}

// failed is the error of an operation on the object.
func (l *life) failed(op string, err error, hint string) error {
	return &Error{Op: op, On: l.text(), Err: err, Hint: hint}
}

// noHandle is the error of doing something with a handle that is nil or zero.
func noHandle(op string) error {
	return &Error{Op: op, Err: syscall.EINVAL, Hint: "the handle is nil, or was not made by this package"}
}

// noRaw is the error of adopting nothing.
func noRaw(op string) error {
	return &Error{Op: op, Err: syscall.EINVAL, Hint: "C's object is nil"}
}

func differentDevices(op string, a, b *life) error {
	return &Error{Op: op, Err: syscall.EINVAL, Hint: fmt.Sprintf("what it takes belongs to different openings of devices: %s and %s", a.text(), b.text())}
}
