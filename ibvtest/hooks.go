//go:build !freebsd

package ibvtest

import (
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/goverbs/goverbs/ibv"
)

// hooks are what tests have put in the way of the fabric's calls.
type hooks struct {
	calls    hookList[func(*Call)]
	posts    hookList[func(*PostedWR)]
	polls    hookList[func(*Polled)]
	messages hookList[func(*Message)]

	callCounts map[string]int
	wrs        int
	polled     int
	sent       int
}

// hookList is hooks in the order in which they were put there.
type hookList[F any] struct{ all []*hooked[F] }

type hooked[F any] struct {
	hook    F
	removed atomic.Bool // which a hook may see to itself, while the lock is held
}

// add adds a hook, and drops those that were removed.
func (l *hookList[F]) add(f *Fabric, hook F) (remove func()) {
	defer f.lock()()
	h := &hooked[F]{hook: hook}
	all := slices.DeleteFunc(slices.Clone(l.all), func(h *hooked[F]) bool { return h.removed.Load() })
	l.all = append(all, h)
	return func() { h.removed.Store(true) }
}

// tell has each hook see something.
func tell[E any](f *Fabric, l *hookList[func(*E)], event *E) {
	if len(l.all) == 0 {
		return
	}
	defer f.hooking.enter()()
	for _, h := range l.all {
		if !h.removed.Load() {
			h.hook(event)
		}
	}
}

// Call is a control verb that a program calls, before the device carries it out.
type Call struct {
	// Device is the name of the device.
	Device string
	// Function is the name that its man page has, such as ibv_reg_mr or
	// ibv_query_port. [Functions] are all there are.
	Function string
	// Nth counts the calls of this function on the fabric from 1.
	Nth int

	errno syscall.Errno
}

// Fail has the call fail with a reason, as C has it fail: nothing is done. What C gives no
// way to fail, such as ibv_ack_cq_events, goes on. The Refusal of a post is more than
// that: see [Fabric.OnPost].
func (c *Call) Fail(errno syscall.Errno) { c.errno = errno }

// OnCall has the fabric tell a hook of each control verb, of all its devices. remove
// takes it away again, and may be called by the hook itself. Hooks run one at a time, on
// the goroutine that calls, while the fabric does nothing else. They may do what Fabric
// and [Device] have, such as to unplug a device, but no verbs, nor wait for others that
// do: a hook's own are syscall.EDEADLK.
func (f *Fabric) OnCall(hook func(*Call)) (remove func()) { return f.hooks.calls.add(f, hook) }

// PostedWR is a work request that a program posts, before the device takes it.
type PostedWR struct {
	// Device is the name of the device, and QPNum the queue pair's number, 0 for a
	// shared receive queue.
	Device string
	QPNum  uint32
	// Receive tells a receive from a send.
	Receive bool
	// Opcode is what a send does; it is 0 of a receive.
	Opcode ibv.WROpcode
	// WRID is its number, and Index its place in the list, from 0.
	WRID  uint64
	Index int
	// Nth counts the work requests that were posted on the fabric, from 1.
	Nth int

	refusal *Refusal
}

// Refuse has the post end here: those before it are posted, it and those behind it are
// not. A Refusal with Zero and a BadWR other than BadWRRefused is a device that loses
// them: 0 is success, so the post tells nobody.
func (p *PostedWR) Refuse(r Refusal) { p.refusal = &r }

// OnPost has the fabric tell a hook of each work request: see [Fabric.OnCall].
func (f *Fabric) OnPost(hook func(*PostedWR)) (remove func()) { return f.hooks.posts.add(f, hook) }

// Polled is a poll of a completion queue, before the device carries it out.
type Polled struct {
	// Device is the name of the device.
	Device string
	// Room is how many completions the program asks for.
	Room int
	// Nth counts the polls on the fabric from 1.
	Nth int

	told   bool
	result int
}

// Return has the poll return a number and take nothing: a negative one is a failure,
// and one that is more than was asked for is what a broken provider does.
func (p *Polled) Return(result int) { p.told, p.result = true, result }

// OnPoll has the fabric tell a hook of each poll: see [Fabric.OnCall].
func (f *Fabric) OnPoll(hook func(*Polled)) (remove func()) { return f.hooks.polls.add(f, hook) }

// Message is a message on its way from one queue pair to another.
type Message struct {
	// From and To are the names of the devices, SrcQP and DestQP the numbers of the
	// queue pairs; multicast has the number of the group, 0xffffff.
	From, To      string
	SrcQP, DestQP uint32
	// Datagram tells UD from connections.
	Datagram bool
	// Opcode is what it does.
	Opcode ibv.WROpcode
	// Bytes is its length.
	Bytes int
	// Nth counts the messages on the fabric from 1, those too that are sent again.
	Nth int

	lost    bool
	doubled bool
	delay   time.Duration
}

// Lose has the message not arrive. A datagram, and a message of UC, is gone then; RC
// sends it again, until its retries are used up.
func (m *Message) Lose() { m.lost = true }

// Double has a datagram arrive twice. Connections drop what comes twice.
func (m *Message) Double() { m.doubled = true }

// Delay has the message take so long. What follows it on its queue pair stays behind it.
func (m *Message) Delay(d time.Duration) { m.delay = max(d, 0) }

// OnMessage has the fabric tell a hook of each message: see [Fabric.OnCall].
func (f *Fabric) OnMessage(hook func(*Message)) (remove func()) {
	return f.hooks.messages.add(f, hook)
}

// callFails asks whether a control verb is to fail. The lock is not held.
func (f *Fabric) callFails(d *device, function string) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock() // also where a hook ends the test
	if len(f.hooks.calls.all) == 0 {
		return 0
	}
	if f.hooks.callCounts == nil {
		f.hooks.callCounts = map[string]int{}
	}
	f.hooks.callCounts[function]++
	c := Call{Device: d.name, Function: function, Nth: f.hooks.callCounts[function]}
	tell(f, &f.hooks.calls, &c)
	return c.errno
}

// wrRefused asks whether a work request is to be refused, and how. It is cheap where
// there are no hooks. The lock is held.
func (f *Fabric) wrRefused(c *context, qpNum uint32, opcode ibv.WROpcode, receive bool, id uint64, index int) *Refusal {
	if c.gone() {
		return &Refusal{Errno: syscall.EIO}
	}
	if len(f.hooks.posts.all) == 0 {
		return nil
	}
	f.hooks.wrs++
	p := PostedWR{Device: c.dev.name, QPNum: qpNum, Receive: receive, Opcode: opcode, WRID: id, Index: index, Nth: f.hooks.wrs}
	tell(f, &f.hooks.posts, &p)
	return p.refusal
}

// pollReturns asks whether a poll is to return something else than what is there. The lock is held.
func (f *Fabric) pollReturns(d *device, room int) (result int, told bool) {
	if len(f.hooks.polls.all) == 0 {
		return 0, false
	}
	f.hooks.polled++
	p := Polled{Device: d.name, Room: room, Nth: f.hooks.polled}
	tell(f, &f.hooks.polls, &p)
	return p.result, p.told
}

// underWay asks what becomes of a message. The lock is held.
func (f *Fabric) underWay(from, to *device, src, dest uint32, opcode ibv.WROpcode, datagram bool, bytes int) Message {
	f.hooks.sent++
	if len(f.hooks.messages.all) == 0 && f.chances == (chances{}) {
		return Message{}
	}
	m := Message{From: from.name, SrcQP: src, DestQP: dest, Datagram: datagram, Opcode: opcode, Bytes: bytes, Nth: f.hooks.sent}
	if to != nil {
		m.To = to.name
	}
	f.drawn = f.drawn || f.chances != (chances{})
	f.chances.draw(f.random, &m)
	tell(f, &f.hooks.messages, &m)
	return m
}
