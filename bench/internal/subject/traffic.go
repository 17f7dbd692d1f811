package subject

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/native"
	"github.com/goverbs/goverbs/bench/internal/ticks"
	"github.com/goverbs/goverbs/ibv"
)

const (
	messageSize = 64
	// signalEvery is of how many sends one is signalled, and how many receives are
	// posted again at a time where there are many under way.
	signalEvery = 16
	// Rounds are short, so that most of them are over before the system gives the
	// processor to another program.
	pingPongs = 64
	messages  = 256
	idle      = 1 << 27
)

// course is a way for messages: how many there are in a round, and what all loops
// keep to.
type course struct {
	native.Traffic
	messages, list int // list: work requests that are posted at a time
	wcs            []ibv.WC
}

// traffic sends messages between two queue pairs on one device, whose loops post
// and poll in one thread. C and chains have a pair, with work requests, in common.
// Rings have one of their own; so that it can be told what that does, C has
// another one, too.
func traffic(d device.Device, op string, size int) ([]*Subject, error) {
	typ := ibv.QPTRC
	if op == PingPongUD || op == MessageRateUD {
		typ = ibv.QPTUD
	}
	rate := op == MessageRateRC || op == MessageRateUD
	c := &course{messages: pingPongs, list: 1}
	if rate {
		c.messages, c.list = messages, signalEvery
	}
	c.Traffic = native.Traffic{Batch: signalEvery, Window: device.Window, Idle: idle}
	c.wcs = make([]ibv.WC, signalEvery)
	var subjects []*Subject
	add := func(impl string, calls func(first, n int) (int, int64), before func(), after func() error) {
		s := &Subject{Op: op, Impl: impl, Bytes: size, Calls: c.messages, warm: c.messages / 4, after: after}
		first := 0
		s.before = func() error {
			first = 0
			before()
			return nil
		}
		s.calls = func(n int) (int, int64) {
			good, ticks := calls(first, n)
			first += n
			return good, ticks
		}
		subjects = append(subjects, s)
	}
	for _, impl := range []string{C, CAgain, GoverbsRing} {
		pair, err := d.Pair(typ, c.messages, size)
		if err != nil || pair == nil {
			return nil, err
		}
		c.Received = pair.A.Received()
		if impl == GoverbsRing {
			a, b, err := newRings(c, pair)
			if err != nil {
				return nil, err
			}
			loop := c.pingPongRings
			if rate {
				loop = c.messageRateRings
			}
			write, check := bothWays(rate, a.write, b.write, a.check, b.check)
			add(impl, timedFrom(func(first, n int) int { return loop(a, b, first, n) }), write, check)
			continue
		}
		a, b, err := newChains(c, pair)
		if err != nil {
			return nil, err
		}
		loop, newLoop := c.pingPong, native.NewPingPong
		if rate {
			loop, newLoop = c.messageRate, native.NewMessageRate
		}
		inC, err := newLoop(a.native, b.native, c.Traffic)
		if err != nil {
			return nil, err
		}
		a.Keep(inC.Close)
		write, check := bothWays(rate, a.Write, b.Write, a.check, b.check)
		add(impl, func(first, n int) (int, int64) {
			defer runtime.KeepAlive(a)
			defer runtime.KeepAlive(b)
			return inC.Run(first, n)
		}, write, check)
		if impl == C {
			add(Goverbs, timedFrom(func(first, n int) int { return loop(a, b, first, n) }), write, check)
		}
	}
	return subjects, nil
}

// bothWays is what is done to messages before a round and after it: nothing comes
// back to a where only the rate is measured.
func bothWays(rate bool, writeA, writeB func(), checkA, checkB func() error) (write func(), check func() error) {
	return func() { writeA(); writeB() }, func() error {
		if err := checkB(); err != nil || rate {
			return err
		}
		return checkA()
	}
}

// timedFrom is timed for loops that begin with some message.
func timedFrom(loop func(first, n int) int) func(first, n int) (int, int64) {
	return func(first, n int) (int, int64) {
		start := ticks.Now()
		good := loop(first, n)
		return good, ticks.Now() - start
	}
}

// await polls until there is a completion, and reports whether it is a success,
// and of a message if received is not 0.
func (c *course) await(cq *ibv.CQ, received int) bool {
	for range c.Idle {
		got, err := cq.Poll(c.wcs[:1])
		if err != nil {
			return false
		}
		if got > 0 {
			wc := &c.wcs[0]
			return wc.Status == ibv.WCSuccess && (received == 0 || int(wc.ByteLen) == received)
		}
	}
	return false
}

// chains is an end with lists of work requests that are built once.
type chains struct {
	*device.End
	messages int
	sends    []*ibv.SendChain
	recvs    []*ibv.RecvChain
	native   native.End
}

// newChains makes both ends of a pair, and posts all receives.
func newChains(c *course, pair *device.Pair) (a, b *chains, err error) {
	if a, err = c.chains(pair.A); err != nil {
		return nil, nil, err
	}
	b, err = c.chains(pair.B)
	return a, b, err
}

func (c *course) chains(end *device.End) (*chains, error) {
	e := &chains{End: end, messages: c.messages, native: native.End{QP: end.QP, SendCQ: end.SendCQ, RecvCQ: end.RecvCQ}}
	for first := 0; first < c.messages; first += c.list {
		sends, err := ibv.NewSendChain(c.list, 1)
		if err != nil {
			return nil, err
		}
		recvs, err := ibv.NewRecvChain(c.list, 1)
		if err != nil {
			return nil, err
		}
		for k := range c.list {
			i, flags := first+k, ibv.SendFlags(0)
			if (i+1)%c.Batch == 0 {
				flags = ibv.SendSignaled
			}
			if err := sends.Set(k, uint64(i), ibv.WRSend, flags, e.Out(i)); err != nil {
				return nil, err
			}
			e.Address(sends.WR(k))
			if err := recvs.Set(k, uint64(i), e.In(i)); err != nil {
				return nil, err
			}
		}
		if _, err := recvs.Post(e.QP); err != nil {
			return nil, err
		}
		e.sends, e.recvs = append(e.sends, sends), append(e.recvs, recvs)
		// Safe: e keeps the chains, whose memory does not move.
		e.native.Sends = append(e.native.Sends, uintptr(unsafe.Pointer(sends.WR(0))))
		e.native.Recvs = append(e.native.Recvs, uintptr(unsafe.Pointer(recvs.WR(0))))
	}
	return e, nil
}

// check looks at all messages of a round.
func (e *chains) check() error { return arrived(e.End, e.messages, e.Inbox) }

func arrived(e *device.End, messages int, inbox func(i int) []byte) error {
	for i := range messages {
		if !e.Arrived(inbox(i), i) {
			return fmt.Errorf("message %d of %d has not arrived as it was sent", i, messages)
		}
	}
	return nil
}

// pingPong is what ping_pong_loop does in C.
func (c *course) pingPong(a, b *chains, first, n int) int {
	for i := range n {
		if !c.ping(a, b, first+i) || !c.ping(b, a, first+i) {
			return i
		}
		if (i+1)%c.Batch == 0 && (!c.await(a.SendCQ, 0) || !c.await(b.SendCQ, 0)) {
			return i
		}
	}
	return n
}

func (c *course) ping(from, to *chains, i int) bool {
	if _, err := from.sends[i].Post(from.QP); err != nil {
		return false
	}
	if !c.await(to.RecvCQ, c.Received) {
		return false
	}
	_, err := to.recvs[i].Post(to.QP)
	return err == nil
}

// messageRate is what message_rate_loop does in C.
func (c *course) messageRate(a, b *chains, first, n int) int {
	posted, done, received, reposted, idle := 0, 0, 0, 0, 0
	batch, window := c.Batch, c.Window
	for received < n || done < n {
		if posted < n && posted+batch <= done+window {
			if _, err := a.sends[(first+posted)/batch].Post(a.QP); err != nil {
				break
			}
			posted += batch
		}
		got, err := b.RecvCQ.Poll(c.wcs)
		if err != nil {
			break
		}
		for i := range c.wcs[:got] {
			if wc := &c.wcs[i]; wc.Status != ibv.WCSuccess || int(wc.ByteLen) != c.Received {
				return min(received, done)
			}
		}
		received += got
		if idle++; got > 0 {
			idle = 0
		}
		if received >= reposted+batch {
			if _, err := b.recvs[(first+reposted)/batch].Post(b.QP); err != nil {
				break
			}
			reposted += batch
		}
		got, err = a.SendCQ.Poll(c.wcs[:window/batch])
		if err != nil || idle > c.Idle {
			break
		}
		for i := range c.wcs[:got] {
			if c.wcs[i].Status != ibv.WCSuccess {
				return min(received, done)
			}
		}
		done += got * batch
	}
	return min(received, done)
}
