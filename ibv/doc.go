// Package ibv is InfiniBand verbs for Go: it drives RDMA devices, InfiniBand and
// RoCE alike, through the machine's own libibverbs, without cgo.
//
// Start with [Open], [Context.AllocPD], [PD.RegMR], [Context.CreateCQ] and
// [PD.CreateQP]; then [RecvChain] or [RecvRing], [SendChain] or [SendRing],
// [CQ.Poll] and [WC.Err]. The example has all of it. Completion queues are
// polled: completion channels and asynchronous events, and the extended verbs,
// have their types here and no methods yet.
//
// # Objects
//
// A type such as [QP] or [RecvWR] is C's struct, byte for byte; an object such
// as a *QP is C's object. So a pointer that a C library made works here too, and
// the other way round. An object is closed once, after everything made from it,
// and is not to be used afterwards: it is C's memory, and gone.
//
// # Posting
//
// Work requests are posted in lists. A [RecvChain] or [SendChain] is such a list
// built once, in one block of memory, and posted in one call as often as one
// likes; [QP.PostRecv] and [QP.PostSend] take lists in C's own shape. Where the
// direct call is available, these calls and [CQ.Poll] allocate nothing, and cost
// a few nanoseconds more than in C; the garbage collector waits for them, as for
// any code that runs. A post that is cut short tells how
// many work requests were accepted, so that the caller can go on from there.
//
// # Memory
//
// A device reads and writes registered memory at any time between a post and
// its completion. [AllocBuffer] gives memory outside the Go heap for that.
// The work requests themselves are the caller's again when a post returns.
//
// # Errors
//
// Errors unwrap to the [syscall.Errno] that C gives, so that errors.Is(err,
// syscall.ENOMEM) works on them; they say what was attempted, on what, and what
// to do about it. [WC.Err] is the error of work that failed later.
//
// # libibverbs
//
// The library is loaded when the first device is looked for. A machine without
// it gets an error then that names the package to install. The environment
// variable GOVERBS_LIBIBVERBS names another library file. GOVERBS_CCALL=portable
// switches off the direct call of C functions in favour of a slower way that
// does not depend on the Go runtime's inside.
//
// # FreeBSD
//
// FreeBSD's libibverbs is a branch of its own: fewer verbs, other layouts, which
// are generated from its own headers. What it does not have is [ErrNotSupported].
// There is no direct call there, so a post allocates and takes longer. The
// package compiles and links for FreeBSD on amd64 and arm64, and has not been run
// there. A program that is built without cgo, as from another system, loads
// libibverbs if the go command is given -tags goverbs_fakecgo and
// -gcflags=github.com/ebitengine/purego/internal/fakecgo=-std.
package ibv

//go:generate go run ../gen generate -header infiniband/verbs.h -package ibv
