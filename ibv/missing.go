package ibv

import (
	"errors"
	"syscall"

	"github.com/goverbs/goverbs/clib"
)

// unsupported is the error of an action whose operation the library or the
// provider does not have.
func (a action) unsupported() error { return a.failed(syscall.EOPNOTSUPP) }

// isMissing reports whether an error of a call is that there was nothing to call.
func isMissing(err error) bool {
	return errors.Is(err, clib.ErrNoFunction) || errors.Is(err, clib.ErrNoLibrary)
}
