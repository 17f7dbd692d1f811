// Package ccall calls C function pointers at nearly the price C pays.
//
// The verbs that matter have no symbol: ibv_post_recv and its kin jump through a table of function pointers. [Post] and
// [Poll] make that jump. On Linux for amd64, arm64, ppc64le, riscv64 and s390x (without cgo from Go 1.27 on), and on
// freebsd/amd64, they are a direct call, a few instructions of assembly; elsewhere, and whenever the start-up check does
// not recognise the Go runtime, they go through purego, with the same results, for two allocations and about a hundred
// nanoseconds more. [Direct] tells which.
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
//     assembly; the runtime never preempts there and tries again later. Signals run on a stack of their own.
//   - A profiling signal is counted as external code. The runtime does not unwind through a function that writes the
//     stack pointer, as the assembler marks this one to do.
//   - C keeps the registers the call needs afterwards. Go's assembly convention keeps none but the current goroutine's and
//     a constant zero, which the call sees to, and the compiler sets up its own again after a call into assembly.
//   - The out-slot for bad lies on the system stack. No Go pointer is stored where the collector would have to know.
//
// # What the C function must keep to
//
// The garbage collector waits for the call: to stop the world, which it does twice a cycle, every goroutine that runs has
// to stop first, and this one cannot before C returns. From then on the other goroutines wait too. So the C function must
// be short and must not block. It must not call back into Go. A fault inside it ends the process, as it would end a C
// program: no recover catches it, no deferred function runs, and the runtime's report shows the goroutine with this
// package's Post or Poll and who called it. It has the thread's stack, less what is in use: usually 8 MiB with glibc,
// 128 KiB with musl.
//
// # Choosing
//
// The environment variable GOVERBS_CCALL, read once at start-up, can be set to "portable" to rule the direct call out.
// Any other value is ignored.
package ccall

import "unsafe"

// Post calls result = fn(object, list, &bad): the shape of the provider operations behind ibv_post_recv, ibv_post_send
// and ibv_post_srq_recv. bad is cleared before the call. When result is -1, errno is the C errno, read in the same call;
// otherwise it is 0. fn must not be zero.
func Post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad unsafe.Pointer) {
	return callPost(fn, object, list)
}

// Poll calls result = fn(cq, n, wc): the shape of the provider operation behind ibv_poll_cq. errno is as for [Post].
// fn must not be zero.
func Poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32) {
	return callPoll(fn, cq, n, wc)
}

// Direct reports whether the direct call is in use. It is false where [Post] and [Poll] go the portable way.
func Direct() bool { return direct }
