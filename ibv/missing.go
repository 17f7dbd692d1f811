package ibv

import (
	"errors"

	"github.com/goverbs/goverbs/clib"
)

// isMissing reports whether an error of a call is that there was nothing to call.
func isMissing(err error) bool {
	return errors.Is(err, clib.ErrNoFunction) || errors.Is(err, clib.ErrNoLibrary)
}
