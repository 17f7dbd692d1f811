package ibv

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/goverbs/goverbs/clib"
)

// Error is the failure of a verb. It unwraps to the [syscall.Errno] that C
// gives, so errors.Is(err, syscall.ENOMEM) works on it. What the installed
// libibverbs, the kernel or the device's provider does not have is
// errors.ErrUnsupported by errors.Is: syscall.EOPNOTSUPP or syscall.ENOSYS.
type Error struct {
	Op    string        // what was attempted, such as "create queue pair"
	On    string        // on what, such as "rxe0"
	Errno syscall.Errno // why not
	Hint  string        // what to do about it, or ""
}

// Error says what was attempted, on what, why it failed and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ibv: %s", e.Op)
	if e.On != "" {
		fmt.Fprintf(&b, " on %s", e.On)
	}
	b.WriteString(": " + describe(e.Errno))
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap gives the errno.
func (e *Error) Unwrap() error { return e.Errno }

// describe is an errno as text, with the name that C programs know it by.
func describe(errno syscall.Errno) string {
	if name := errnoName(errno); name != "" {
		return fmt.Sprintf("%s (%s)", errno.Error(), name)
	}
	return errno.Error()
}

// ErrNoLibrary is what errors are, by errors.Is, when there is no libibverbs that
// the program could load: the machine has none, or none that fits, or the program
// is built for a system or in a way that cannot load any. The error says which,
// and what to install. So a program that can do without RDMA asks whether there is
// any: by [Devices], or by [Open]. With a library, the error is syscall.ENOSYS where
// the kernel has no support for RDMA loaded, and Open's is syscall.ENODEV where that
// has no device.
var ErrNoLibrary = clib.ErrNoLibrary

// action is what a verb attempts, on what, and advice by reason for when it
// fails: the part of an error that is known beforehand.
type action struct {
	op, on string
	hints  map[syscall.Errno]string
}

// failed is the error of the action for a reason.
func (a action) failed(errno syscall.Errno) error {
	hint := a.hints[errno]
	if hint == "" {
		hint = commonHints[errno]
	}
	if hint == hintLocksMemory {
		hint = memoryHint()
	}
	return &Error{Op: a.op, On: a.on, Errno: errno, Hint: hint}
}

// unavailable is the error of an action whose function could not be found.
func (a action) unavailable(err error) error {
	if errors.Is(err, clib.ErrNoFunction) {
		return &Error{Op: a.op, On: a.on, Errno: syscall.EOPNOTSUPP, Hint: err.Error()}
	}
	return fmt.Errorf("ibv: %s: %w", a.op, err)
}

// noReason is of an error that left none in errno.
const noReason = "C gave no reason: it may know no such argument, or the device has failed"

// from is the error of the action for that of a generated call, and nil for nil.
func (a action) from(err error) error {
	var failure *clib.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failure) && failure.Errno == 0 && a.hints[syscall.EIO] == "":
		return a.because(syscall.EIO, noReason)
	case errors.As(err, &failure):
		return a.failed(errnoOf(failure))
	}
	return a.unavailable(err)
}

// because is the error of an action that C was not asked for, with the advice that
// fits the case.
func (a action) because(errno syscall.Errno, format string, args ...any) error {
	return &Error{Op: a.op, On: a.on, Errno: errno, Hint: fmt.Sprintf(format, args...)}
}

// invalid is the error of an action that was given something senseless.
func (a action) invalid(format string, args ...any) error {
	return a.because(syscall.EINVAL, format, args...)
}

// commonHints say what to do where it does not depend on the verb.
var commonHints = map[syscall.Errno]string{
	syscall.EACCES:     hintNoAccess,
	syscall.EPERM:      "the operation needs a capability or an access right that the process does not have",
	syscall.EOPNOTSUPP: "the device's provider or this libibverbs does not have it",
	syscall.ENOSYS:     "the kernel or the device's provider does not have it",
	syscall.ENODEV:     "the device is gone",
	syscall.EIO:        "the device is gone or has failed",
	syscall.EAGAIN:     hintLater,
	syscall.ENOMEM:     "the machine or the device has not enough memory for it: close objects",
}

// hintLocksMemory is of verbs that lock memory: memoryHint takes its place, which
// tells the limit that there is then.
const hintLocksMemory = "it locks memory"

// memoryHints are for verbs that register memory.
var memoryHints = map[syscall.Errno]string{
	syscall.EFAULT: "the memory is not mapped, or not writable though the access flags ask for it",
	syscall.EINVAL: "if the flags ask for remote write or remote atomic access, they have to ask for local write access too; or the device has no more regions: see QueryDevice",
	syscall.ENOMEM: hintLocksMemory,
}

// sizeHints are for verbs that make an object with capacities, whose memory is locked.
var sizeHints = map[syscall.Errno]string{
	syscall.EINVAL: numberHints[syscall.EINVAL],
	syscall.ENOMEM: hintLocksMemory,
}

// numberHints are for verbs that make an object of which a device has so many.
var numberHints = map[syscall.Errno]string{
	syscall.EINVAL: "an attribute is outside the device's limits, or the device has no more of them: see QueryDevice",
}

// closeHints are for verbs that destroy an object.
var closeHints = map[syscall.Errno]string{
	syscall.EBUSY: "other objects still use it: close those first",
}

// regionHints are for verbs that end a registration.
var regionHints = map[syscall.Errno]string{
	syscall.EBUSY:  "other objects still use it, as a memory window that is bound to it: close or unbind those first",
	syscall.EINVAL: "a memory window may be bound to it: close or unbind that first",
}

// alsoTry adds advice to the error that something is not supported.
func alsoTry(err error, advice string) error {
	var e *Error
	if errors.Is(err, errors.ErrUnsupported) && errors.As(err, &e) {
		e.Hint += "; " + advice
	}
	return err
}

// errnoOf is the errno that an error of the syscall package is.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return syscall.EIO
}
