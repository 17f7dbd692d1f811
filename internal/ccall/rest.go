package ccall

// A call of assembly has no place where the compiler would look whether the goroutine is to stop, and a loop of calls that
// are inlined may have none at all: the collector, and all other goroutines with it, would wait for a moment between two
// calls in which the goroutine can be interrupted. So the assembly looks itself, on every way back: it compares the stack
// pointer with the goroutine's guard, as the compiler does at the beginning of a function. If the goroutine is to stop, it
// goes on at a Go function, at whose beginning that is done.

// yield gives way, if the goroutine is to, and does nothing else.
//
//go:noinline
func yield() { rest() }

// rest is called so that the caller begins by looking at the guard: the compiler has functions that call none do without.
//
//go:noinline
func rest() {}
