// Package ibv is InfiniBand verbs for Go: it drives RDMA devices, InfiniBand and
// RoCE alike, through the machine's own libibverbs, without cgo. It is C's verbs as
// they are, with C's rules: nothing here counts, owns or protects. Most programs want
// package rdma, whose handles stand on this one and say what is wrong with their use.
//
// # Where to begin
//
// The package's example opens a device and sends a message to itself. Objects are
// made in this order, and closed in the reverse one:
//
//   - [Open] gives a [Context], an opened device: [Context.QueryPort] asks for a
//     port's state, [Context.BestGID] for the address to use with RoCE.
//   - [Context.AllocPD] gives a [PD], which holds together what is made in it.
//   - [AllocBuffer] and [PD.RegMR] give an [MR], memory that the device may use.
//   - [Context.CreateCQ] gives a [CQ], where finished work is found.
//   - [PD.CreateQP] gives a [QP], one end of the communication, and [PD.CreateSRQ]
//     an [SRQ], from which many of them take their receives.
//   - [QP.Modify] moves it to INIT, RTR and RTS, which connects it to its peer. UD is
//     not connected: its sends name the peer by an [AH] of [PD.CreateAHTo].
//
// # The data path
//
// Work requests are posted in lists. A [RecvChain] or [SendChain] is such a list
// built once, in one block of memory, and posted in one call as often as one
// likes, whole or in part. [QP.PostRecv], [QP.PostSend] and [SRQ.PostRecv] take lists in C's own shape. A
// post that is cut short tells how many work requests were accepted, so that the
// caller can go on from there.
//
// A [Batch] is C's ibv_wr_start, what follows it, and ibv_wr_complete: work requests
// for a [QPEx], some of which no chain can have. All of them are posted, or none.
//
// [CQ.Poll] takes completions, and does not wait for them; [WC.Err] tells success
// from failure. On UD, the first [GRHLength] bytes of each receive's buffer are for
// a header, there or not: make room for them, and see [WC.UDPayload]. An
// [ExtendedPoll] reads more of completions, or less, of a [CQEx].
//
// These calls allocate nothing where the direct call is available, which
// [DirectCalls] tells, and cost a few nanoseconds more than in C. What they are
// given must be on the heap for that, or the compiler moves it there, all but the
// slice that [CQ.Poll] fills. A [CompletionError] is made for each failure. The
// garbage collector waits for them, as for any code that runs. Each call leaves a
// place where the goroutine can be stopped, so a loop of nothing but posts or polls
// makes way for the collector and for other goroutines like any loop in Go. With
// the race detector, two goroutines on one chain or batch are reported, and so are
// two that poll into one slice.
//
// The functions in [Context].Ops are C's, and are called on the thread's own
// stack. One of them that leads to Go, such as an exported function of cgo's or a
// callback of purego's, ends the process with an error of the Go runtime.
//
// Never come back to Go from C with a lock of C's held: the goroutine may be
// stopped there, while another one spins in C for the lock and cannot be. Some
// providers hold one from wr_start to wr_complete of a [QPEx], and from start_poll
// to end_poll of a [CQEx], so functions of these must not be called one by one
// from Go. A [Batch] and an [ExtendedPoll] go to C once for all of them.
//
// A CPU profile shows the time in C as runtime._ExternalCode, below no function
// of Go's, for a stack of C's cannot be followed there. Its labels count all the
// same: what runs within [runtime/pprof.Do] can be told apart by them.
//
// # Events
//
// Who does not want to poll all the time has completions reported: a [CompChannel]
// is a file with an event for each request of [CQ.ReqNotify], and
// [CompChannel.GetCQEvent] waits for them. With a deadline, and without a thread, it
// waits as the example of [CompChannel.SetNonblock] does. [Context.GetAsyncEvent]
// waits for what happens to queues, queue pairs and ports. Both are C's: a goroutine
// that waits is in a system call, events are acknowledged, and an object's Close
// waits until those are that are about it.
//
// # Peers
//
// The two ends of a connection tell each other their numbers over a socket, say. A
// [GID] is text, also in JSON. Package rdma connects queue pairs, so that a peer that
// has died is noticed.
//
// # Memory
//
// A type such as [QP] or [RecvWR] is C's struct, byte for byte, and a *QP is C's
// object: a pointer that a C library made works here too, and the other way round.
// An object is closed once, after everything made from it, and is C's memory,
// gone, afterwards. A copy of the struct is no object: go vet reports it.
//
// A device reads and writes the memory of a work request at any time between the
// post and the completion. [AllocBuffer] gives memory outside the Go heap for
// that. The work requests themselves are the caller's again when a post returns.
//
// A union of C's is bytes to the garbage collector, and pointers in it are numbers:
// a [Ptr], which keeps nothing alive. So they are in every struct that is part of
// a union somewhere, wherever else it is used, as an [MWBindInfo] in an [MWBind].
// Pointers to functions are numbers everywhere, each a [FuncPtr].
//
// # Goroutines
//
// Any goroutine may use an object of C's at any time, as any thread may in C, as
// long as nobody closes it. A chain or a batch is for one goroutine at a time.
//
// # Errors
//
// Errors unwrap to the [syscall.Errno] that C gives, so that errors.Is(err,
// syscall.ENOMEM) works on them; they say what was attempted, on what, and what
// to do about it. What the installed libibverbs, the kernel or the device does not
// have is errors.ErrUnsupported. Where there is no libibverbs, all errors are
// [ErrNoLibrary]. Work that fails later has a [CompletionError].
//
// # Names
//
// C's names lose the prefix ibv_ and take Go's form: ibv_recv_wr is [RecvWR], its
// member num_sge is NumSGE, IBV_WC_RNR_RETRY_EXC_ERR is [WCRNRRetryExcErr]. Where
// that would be a type's name, values begin with their own type's: IBV_QP_STATE is
// [QPAttrMaskState]. Words that Go or the field writes in capitals, such as QP, SGE
// or LKey, are in a table in gen/internal/gosrc/name.go. Every declaration names
// its C original, and the release of rdma-core that brought it if that is later
// than 33.0.
//
// # What is here
//
// All of infiniband/verbs.h has its types here, and its verbs are methods of these.
// What stands for something of C's says so in its last line, so that a search for a
// C name finds it. The page [verbs.md] has all functions, inline functions and macros
// of C's, what each is here, which release brought it, and what differs.
//
// # Platforms
//
// It works on 64-bit Linux on amd64, arm64, loong64, ppc64le, riscv64 and s390x,
// and is for FreeBSD on amd64 and arm64. On other systems of 64 bits but Plan 9,
// programs compile, with the layouts of Linux, and get [ErrNoLibrary]; tests have the
// devices of package ibvtest there too. The C library may be glibc or musl. Without
// cgo, the go command takes glibc's loader: for musl, as on Alpine, build with
// -ldflags="-I /lib/ld-musl-x86_64.so.1" (aarch64 on arm64). On arm64, musl lays out
// some structs otherwise than glibc: the build tag musl selects it. On riscv64 without
// cgo, Go 1.26 takes another C library's loader by default: build with
// -ldflags="-I /lib/ld-linux-riscv64-lp64d.so.1", which Go 1.27 does not need.
//
// The library is loaded when the first device is looked for. A machine without
// it gets an [ErrNoLibrary] then that names the package to install. The environment
// variable GOVERBS_LIBIBVERBS names another library file, and GOVERBS_LIBRARIES
// lists folders in which libraries are looked for first, unless the program has rights
// of its own, as a set-user-ID one does. [Library] tells which file it was, and of
// which release. GOVERBS_CCALL=portable
// switches off the direct call of C functions in favour of a slower way that
// does not depend on the Go runtime's inside.
//
// FreeBSD's libibverbs is a branch of its own: fewer verbs, other layouts, which
// are generated from its own headers. A program that uses what its verbs.h lacks does
// not compile there: the column FreeBSD of [verbs.md] says what, and a build constraint
// keeps such files out. There is no direct call there, so a post
// allocates and takes longer. The package compiles and links for FreeBSD, and has
// not been run there. A program that is built without cgo, as from another system,
// loads libibverbs if the go command is given -tags goverbs_fakecgo and
// -gcflags=github.com/ebitengine/purego/internal/fakecgo=-std.
//
// [verbs.md]: https://github.com/goverbs/goverbs/blob/main/docs/verbs.md
package ibv

import _ "github.com/goverbs/goverbs/ibv/internal/platform" // first, to say where this package cannot be

//go:generate go run ../gen generate -header infiniband/verbs.h -package ibv
//go:generate go run ./internal/verbsdoc -o ../docs/verbs.md
