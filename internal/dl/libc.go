package dl

import (
	"errors"
	"fmt"
	"runtime"
)

// The C libraries of Linux, whose mutexes libibverbs embeds in its objects.
const (
	glibc = "glibc"
	musl  = "musl"
)

// errOtherLibc says that the program is built for another C library's layout of libibverbs' objects.
var errOtherLibc = errors.New("built for another C library")

// fits reports, as an error, that a program built for one C library, "" for any, runs on another. The members behind a
// mutex are elsewhere then, and what C had there would be called or written to.
func fits(builtFor, runsOn string) error {
	if builtFor == "" || builtFor == runsOn {
		return nil
	}
	flags := "without -tags musl"
	if runsOn == musl {
		flags = "with -tags musl"
	}
	return fmt.Errorf("load %s: %w: libibverbs' objects are laid out otherwise on %s with %s than with %s: build the program %s",
		Libibverbs, errOtherLibc, runtime.GOARCH, runsOn, builtFor, flags)
}
