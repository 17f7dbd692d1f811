package ibv

import (
	"syscall"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/internal/dl"
)

// symbol finds a function of libibverbs, loading the library first if need be.
func symbol(name string) (uintptr, error) {
	library, err := dl.Load()
	if err != nil {
		return 0, err
	}
	return library.Symbol(name)
}

// callPointer calls a verb that returns a pointer, or NULL with the reason in
// errno.
//
//go:uintptrescapes
func callPointer(act action, name string, args ...uintptr) (uintptr, error) {
	fn, err := symbol(name)
	if err != nil {
		return 0, act.unavailable(err)
	}
	result, errno := dl.Call(fn, args...)
	if result == 0 {
		return 0, act.failed(known(errno))
	}
	return result, nil
}

// callInt calls a verb that returns an int: 0, or a reason in one of the ways
// that verbs have of giving one.
//
//go:uintptrescapes
func callInt(act action, name string, args ...uintptr) error {
	fn, err := symbol(name)
	if err != nil {
		return act.unavailable(err)
	}
	return callSlot(act, fn, args...)
}

// callSlot is callInt for a function whose address is at hand.
//
//go:uintptrescapes
func callSlot(act action, fn uintptr, args ...uintptr) error {
	result, errno := dl.Call(fn, args...)
	if code := int32(result); code != 0 {
		return act.failed(reason(code, int32(errno)))
	}
	return nil
}

// hasSymbol reports whether the library has a function.
func hasSymbol(name string) bool {
	_, err := symbol(name)
	return err == nil
}

// reason makes an errno of a result that is not zero. The man pages promise a
// positive errno value; providers also return its negative, or -1 with the
// reason in errno.
func reason(result, errno int32) syscall.Errno {
	// An errno is unsigned: a nonsensical one must not become enormous.
	return clib.Reason(int64(result), syscall.Errno(uint32(errno)))
}

// known replaces an errno of 0: a call that failed had some reason.
func known(errno syscall.Errno) syscall.Errno {
	if errno == 0 {
		return syscall.EIO
	}
	return errno
}
