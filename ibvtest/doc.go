// Package ibvtest has RDMA devices in the process, for tests without hardware.
//
//	func TestService(t *testing.T) {
//		f := ibvtest.New(t)
//		dev, err := rdma.Open(f.Names()[0], rdma.DeviceOptions{}) // as real ones are
//		…
//	}
//
// Programs that open the first device there is, "", find it, too; in tests that run in
// parallel that may be another test's.
//
// A [Fabric] is some devices that reach each other, until its test ends: what is still
// open of them fails with syscall.EIO then, and can be closed. They are of the same types
// as real ones, and met through the same calls: ibv.Open and rdma.Open, queue pairs of RC, UC and
// UD, shared receive queues, completion queues with channels to wait on, memory regions
// and windows, RDMA, atomics, multicast, asynchronous events. They do what the
// specification says: keys, bounds and access are checked, queues are full, receives are
// missing, retries end, failed queue pairs are flushed. Everything is Go: there is no C,
// no kernel, no root and no cgo in it, so tests run on Linux, macOS and Windows alike, and
// as WebAssembly. Real devices can be used beside them, and a program that does not import
// the package pays nothing for it. FreeBSD's verbs lack half of what these devices serve,
// so the package is empty there: tests that use it begin with //go:build !freebsd.
//
// # Events
//
// Completion channels and asynchronous events have files that poll(2) and Go's runtime can
// wait for, as C's have; on Windows, and as WebAssembly, there are none, and FD is -1.
// Package rdma waits without them. Getting an event that has not come waits for it, unless
// SetNonblock said otherwise. What nobody has ended by the end of the test ends then: who
// still waits has syscall.EIO.
//
// # Time
//
// A message arrives within the call that posts it, unless it has to wait: for a receive,
// for an answer that does not come, or as long as [Delay] says. That goes by the clocks of
// package time, so in a bubble of testing/synctest nothing takes any time, and waiting
// for completions and events lets the bubble's clock go on. Make the fabric in the bubble.
//
// # Strictness
//
// Where the specification leaves a choice, the devices take the one that finds mistakes.
// Queues are as deep as was asked for, and a work request has its place until its
// completion is polled, or that of a later one if it was not signaled, so a program that
// never has a send signaled finds its queue full. A failed completion has its WRID,
// status and queue pair's number, and zeros elsewhere. Packet numbers and path MTUs that
// two peers do not agree about fail as they do in a network. The bytes in front of a
// datagram that hardware leaves as they are hold nothing of use.
//
// # Races
//
// With go test -race, memory that the device has is the device's: a program that writes to
// a buffer that it has posted, or reads a receive's before its completion is polled, is
// reported, even where one goroutine does it all.
//
// # Faults
//
// [Fabric.OnCall], [Fabric.OnPost], [Fabric.OnPoll] and [Fabric.OnMessage] have hooks see
// what programs do, and have it fail, in each of the ways that real providers have:
// [As] has devices behave as those of a known provider do. [Delay], [Loss] and [Doubles]
// are by chance, drawn from a [Seed] that a failed test says if anything was drawn.
// [Device], [Fabric.FailQP] and [Fabric.OverrunCQ] have devices be unplugged, processes
// die, ports go down and queues fail. [Functions] are the control verbs that hooks see.
//
// What tests of this package have in common with hardware is proved by package
// conformance: its scenarios run on these devices, on Soft-RoCE, on siw, and on any other.
package ibvtest
