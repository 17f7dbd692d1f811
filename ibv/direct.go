package ibv

import "github.com/goverbs/goverbs/internal/ccall"

// DirectCalls reports whether posts and polls call the provider directly. Where
// it is false, they take the portable way, with the same results, for some hundred
// nanoseconds and two small allocations more each: on processors and systems without
// the direct call, with a Go runtime that it does not recognise, and with
// GOVERBS_CCALL=portable in the environment. It never changes while a program
// runs.
func DirectCalls() bool { return ccall.Direct() }
