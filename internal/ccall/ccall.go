// Package ccall calls C function pointers at nearly the price C pays.
//
// The verbs that matter have no symbol: ibv_post_recv and its kin jump through a table of function pointers. [Post],
// [PostFrom], [PostList] and [Poll] make that jump, bound to one object where it is made again and again ([BindList],
// [BindPoll]), and [Call] makes it for any other function that is short. A [Program] is a batch of such calls, and an
// [ExtendedPoll] a loop of them, in one crossing. On Linux for amd64, arm64, loong64, ppc64le, riscv64 and s390x (without
// cgo from Go 1.27 on), they are a direct call, a few instructions of assembly; elsewhere, and whenever the start-up check
// does not recognise the Go runtime, they go through purego, with the same results, for two allocations and about a hundred
// nanoseconds more. [Direct] tells which. FreeBSD goes that way on every processor: nobody has run the assembly there.
//
// # How the direct call works
//
// A goroutine's stack is too small for C. But every thread has a system stack too, made by the C library's
// pthread_create (purego sees to that without cgo), which the runtime uses for itself between goroutines: while a
// goroutine runs, the part below the saved stack pointer is free. The direct call makes the thread's system goroutine,
// g0, the current one, moves the stack pointer to that place, calls, and moves back. It is what the runtime does to call
// C, without leaving the goroutine's time slice before and entering it again after.
//
// The current goroutine is known to the thread by a register, by a thread-local variable, or, where C may use that
// register, by both. Signal handlers believe the variable, so it is always changed: see threadlocal.go.
//
// On amd64, with the versions of Go that are known to allow it, arguments and results pass in registers, as between
// functions that the compiler made: see registers_amd64.go. It is the same call otherwise.
//
// # Why it is sound
//
//   - The goroutine stays running. The garbage collector cannot finish stopping the world, nor scan or move the
//     goroutine's stack, before the call has returned, so Go memory that C was given stays alive and where it is.
//   - A preemption signal during the call finds g0 current, or a program counter that belongs to no Go function or to
//     assembly; the runtime never preempts there. So the assembly itself looks on the way back whether the goroutine is
//     to give way: see rest.go. Signals run on a stack of their own.
//   - A profiling signal is counted as external code. The runtime does not unwind through a function that writes the
//     stack pointer, as the assembler marks this one to do.
//   - C keeps the registers the call needs afterwards. Go's assembly convention keeps none but the current goroutine's and
//     a constant zero, which the call sees to, and the compiler sets up its own again after a call into assembly.
//   - The out-slot for bad lies on the system stack, or is a number in a [List]. No Go pointer is stored where the
//     collector would have to know.
//
// # What the C function must keep to
//
// The garbage collector waits for the call: to stop the world, which it does twice a cycle, every goroutine that runs has
// to stop first, and this one cannot before C returns. From then on the other goroutines wait too. So the C function must
// be short and must not block. It must not call back into Go.
//
// It must not return with a lock of C's held either. On the way back the goroutine may have to wait, for the collector or
// for its turn; whoever wants that lock meanwhile spins in C, where nothing can stop it, and the two wait for each other
// for ever. Providers hold the send queue's lock from wr_start to wr_complete, and the completion queue's from start_poll
// to end_poll (mlx5 and rxe do), so calls of that kind have to be made from start to end in one crossing, as a [Program] and
// an [ExtendedPoll] are. The portable way needs no such care: whoever waits for the lock is in a system call there.
//
// A function pointer behind which there is Go, such as one that cgo or purego made, must not be called: C calling back
// from here finds no goroutine in a system call, and the runtime ends the process.
//
// A fault inside C ends the process, as it would end a C program: no recover catches it, no deferred function runs, and
// the runtime's report shows the goroutine with the function that made the call and who called that. C has the thread's
// stack, less what is in use: usually 8 MiB with glibc, 128 KiB with musl.
//
// # Choosing
//
// The environment variable GOVERBS_CCALL, read once at start-up, can be set to "portable" to rule the direct call out.
// Any other value is ignored.
package ccall

import (
	"math"
	"unsafe"
)

// The calls. They are variables because there are several ways to make them: one is chosen when the program starts, and
// nothing writes them after that. A caller that does nothing but make the call can be inlined into its own callers, which
// leaves a single call of Go's on the way to C.
var (
	// Post calls result = fn(object, list, &bad): the shape of the provider operations behind ibv_post_recv,
	// ibv_post_send and ibv_post_srq_recv. bad is cleared before the call, and is a number because C may have left
	// anything there. When result is -1, errno is the C errno, read in the same call; otherwise it is 0. fn must not be
	// zero.
	Post postFunc

	// PostFrom is Post for a list that starts at first, and returns nil if all of it was accepted, or if first is nil.
	// Otherwise, and without a call if unless is not nil, the results are those of refused.
	PostFrom fromFunc

	// PostList is PostFrom for a [List], and returns its length if all of it was accepted.
	PostList listFunc

	// Poll calls fn(cq, n, into), the shape of the provider operation behind ibv_poll_cq, unless n is 0, and returns how
	// many there were. The results are those of failed if C's is negative, or more than was asked for, which is no more
	// than math.MaxInt32. into may be on the goroutine's stack: see [NoEscape].
	Poll pollFunc
)

func init() { Post, PostFrom, PostList, Poll = choose() }

type (
	postFunc = func(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr)
	fromFunc = func(fn uintptr, object, first, unless unsafe.Pointer, refused FromRefused) (bad unsafe.Pointer, err error)
	listFunc = func(fn uintptr, object unsafe.Pointer, l *List, unless unsafe.Pointer, refused ListRefused) (accepted int, err error)
	pollFunc = func(fn uintptr, cq, into unsafe.Pointer, n int, failed PollFailed) (got int, err error)
)

// List is a list of work requests that is posted again and again. One call at a time may have it.
type List struct {
	First unsafe.Pointer // the first work request
	Len   int

	// bad is where C stores which one it refused. It is 0 between calls, so it need not be cleared before one: a store
	// less on the way to the lock that C takes, which waits for them all.
	bad uintptr
}

// FromRefused and ListRefused sort out what a provider's refusal means: a result other than 0, or something left in bad.
// They are given what [Post] returns, or errno is [NotAsked]. PollFailed does so for a poll that asked for so many.
// They have to call a function that is not inlined: then they begin by looking whether the goroutine is to give way.
type (
	FromRefused = func(first unsafe.Pointer, result, errno int32, bad uintptr) (unsafe.Pointer, error)
	ListRefused = func(l *List, result, errno int32, bad uintptr) (accepted int, err error)
	PollFailed  = func(cq unsafe.Pointer, result, errno, asked int32) (got int, err error)
)

// NotAsked, in place of an errno, tells that C was not called.
const NotAsked = math.MinInt32

// CompletionSize is the number of bytes of what a poll takes off a queue, C's struct ibv_wc.
const CompletionSize = 48

// NoEscape is the pointer that a number was just before, which hides from the compiler where it goes. It is for what
// [Poll] fills, which no call keeps: memory on the goroutine's stack can stay there then.
//
// The number must be converted from the pointer in the argument: the compiler makes both conversions none, so that what
// there is in between is a pointer, and moves with the stack. Where this is not inlined, it has no place where the stack
// could move. The type parameter says that this is meant.
//
//go:nosplit
//go:nocheckptr
func NoEscape[N ~uintptr](number N) unsafe.Pointer { return unsafe.Pointer(number) }

// Direct reports whether the direct call is in use. It is false where all calls go the portable way.
func Direct() bool { return direct }
