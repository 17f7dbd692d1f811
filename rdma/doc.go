// Package rdma is what programs use RDMA devices with: InfiniBand, RoCE and iWARP,
// through the machine's own libibverbs, without cgo.
//
// # Devices
//
// [Devices] lists what the machine has, and [Open] opens one of them, or the first
// that can be used. If it cannot be had, the error says what is in the way: a
// missing library, a missing file in a container, a port that is down. What is made
// from a [Device] works with what is made from the same one only.
//
// A protection domain, [PD], holds together what works together: memory, queue
// pairs, shared receive queues and address handles. It is the wall between peers
// that do not trust each other.
//
// # Memory
//
// A device reads and writes memory by itself, at any time between a post and its
// completion, or, where peers may reach it, at any time at all. So memory is
// registered: [PD.AllocRegion] gives a [Region] with memory of its own, outside of
// the Go heap, and [PD.Register] makes one of a slice. A region keeps its memory in
// place until its Close has succeeded. [Region.SGE] names a part of it for a work
// request, and [Region.Remote] one for the peer, as a [Remote]. A [Window] opens a
// part to a peer for a while.
//
// # Queues
//
// A queue pair, [QP], is one end of a connection: work requests are posted to its
// send and to its receive queue, and what is done turns up in a completion queue,
// [CQ]. One completion queue serves as many queue pairs as it has room for, and
// one [SRQ] gives many queue pairs their receives. [PD.CreateQP] makes a queue pair
// of type RC if nothing else is said: reliable, in order, one peer.
//
// A send needs a receive: the peer has to have posted one before. Messages, unlike
// bytes in TCP, stay whole.
//
// # Connecting
//
// [QP.Connect] brings a queue pair and its peer's up over any byte stream, such as
// a TCP connection. It agrees on all numbers, and comes back when both ends can
// send. It chooses the GID to send from, as [Device.ChooseGID] does: by interface or
// address if there is a choice. With ConnectOptions.Watch, the queue pair ends with the
// stream: who waits for a peer that has died, or has closed its end, is told. Whoever
// has other ways to agree moves the queue pair by itself, by [QP.ToInit], [QP.ToRTR]
// and [QP.ToRTS], with the [Peer]'s numbers.
//
// # Posting and waiting
//
// Work requests are built once, as a chain of package ibv ([ibv.RecvChain],
// [ibv.SendChain]), and posted as often as one likes, in one call, by [QP.PostRecv]
// and [QP.PostSend]. [Region.RecvChain] makes a chain of a region's buffers. [CQ.Poll]
// takes completions and does not block; [CQ.Wait] waits
// for one, without a thread or a processor, until its context ends. Posts and polls
// cost a few nanoseconds more than in C, and allocate nothing.
//
// [Device.Events] tells of what else happens: ports that go up and down, queue pairs
// that fail.
//
// # Rings
//
// A [RecvRing] keeps buffers posted: it hands out messages, and posts again what was
// given back. A [SendRing] keeps count of the room in the send queue, and has few
// completions. They are what most programs want in place of chains. A sender that is
// told [RecvRing.Posted] and sets it by [SendRing.SetLimit] sends nothing that has no
// receive. [Rings] tells, on one completion queue for many connections, whose a
// completion is.
//
// # Lifetimes
//
// Every object has a Close, which is an error while others need it: a
// [ChildrenError] names them. CloseAll closes those first, so one deferred
// dev.CloseAll() ends all that was made from a device. What is closed gives
// [ErrClosed], also the second Close, and is no crash. A Close that C refuses can be
// tried again.
//
// Nothing is closed because the program has lost it: a device may be using it.
// It is a leak, which DeviceOptions.OnLeak tells of, and which [NoLeaks] finds in
// tests. What a parent's CloseAll is to close counts as lost, too, if its handle is
// collected before: OnLeak tells of it, and [Alive] says so. So who uses OnLeak keeps
// the handles until they are closed, in a struct beside the device, say; who lets go
// of them and leaves everything to CloseAll does without OnLeak. NoLeaks does not mind,
// if CloseAll comes before the test's end. [Own] gives objects of package ibv that have no handle here a lifetime too.
//
// Handles are not to be copied; go vet sees to that. Raw gives C's object. The
// functions that begin with Adopt make a handle of one that something else has made
// and will destroy.
//
// # Errors
//
// Errors say what was attempted, on what, why it failed and what to do about it.
// They unwrap to the [syscall.Errno] that C gave, or to [ErrClosed]; those that this
// package finds are an [Error], those of C's functions an [ibv.Error], a post that
// was refused has an [ibv.PostError], and work that fails later an
// [ibv.CompletionError] of its completion's Err. What is not there is
// errors.ErrUnsupported, and no library at all is [ibv.ErrNoLibrary].
//
// # Checked mode
//
// With GOVERBS_CHECK=1 in the environment, or the build tag goverbs_check, handles
// look at what is done with them before C does. A mistake is then an error, of type
// *[Error], at the call that makes it: a work request's number and WRID, what is wrong
// with it, and where the objects were made and closed. Nothing is posted then. Outside
// of checked mode nothing of this costs anything, for handles are bound to other
// functions when they are made. Run tests in it, and whatever misbehaves.
//
// It finds, of work requests in chains, batches and rings:
//
//   - lkeys of no region, of a closed one, and of another protection domain; entries
//     outside their region; receives, reads and atomics into a region without local
//     write access
//   - operations that the type of queue pair does not have; sends before RTS and
//     receives in RESET; UD sends without an address handle, or with a closed one, and
//     to queue pair 0; messages that are too long
//   - more entries or inline data than the queue pair was made for, and operations that
//     cannot be inline
//   - Next, SGList and NumSGE that were overwritten and lead out of the chain
//   - memory that is received into, or read into, while other work has it that has not
//     completed; sends may share theirs. A completion counts when it has been polled.
//     A send after a read of the same queue pair needs SendFence.
//   - more work than a queue holds, of which as much as it holds is posted, and no more
//     than its Cap says; and send queues that are full of work that is not signalled,
//     whose end nobody would tell
//   - a chain or batch that two goroutines post at the same time
//
// CreateQP finds completion queues with less room than the queues that complete on
// them, and Close finds posts and polls of other goroutines at the same time.
//
// It accuses nobody of what may be right. Raw and the Adopt functions let a program do
// anything behind a handle's back: a queue pair or completion queue whose C object the
// program has, is not followed any more as to what is outstanding, and where a
// protection domain may have regions that have no handle, lkeys of no region are not
// known to be wrong: from PD.Raw on, and where what is in it was adopted. Raw of a
// region, a queue pair or an address handle is no reason for that; who takes the
// protection domain from there calls PD.Raw too. A queue key of 0 and the peer's
// addresses are not checked: only the peer knows.
//
// # Goroutines
//
// Any goroutine may use a device and what is made from it at any time; rings and
// chains are for one at a time. Close waits for those who make, wait or ask. It
// does not wait for posts and polls, which would cost them: the program sees to it
// that nobody posts to, or polls, what it closes.
//
// # Tests
//
// Package [github.com/goverbs/goverbs/ibvtest] has devices in the process, which [Open]
// finds: tests need no hardware with them, and have them fail on purpose. [NoLeaks]
// finds what a test has not closed.
//
// # Package ibv
//
// This package stands on [github.com/goverbs/goverbs/ibv], which has C's types,
// constants and functions as they are: completions are [ibv.WC], access flags
// [ibv.AccessFlags]. What has no handle here, such as flows or counters, is there,
// and takes what Raw gives. Pages about connections that do
// not work, containers, posts and security are in the [docs] folder.
//
// [docs]: https://github.com/goverbs/goverbs/tree/main/docs
package rdma
