// Package subject is what is measured: operations, ways to implement each, on
// chains of several lengths.
package subject

import (
	"fmt"
	"math"
	"os"
	"runtime"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/ticks"
)

// Operations, in the order of reports.
const (
	PostRecv     = "PostRecv"
	PostSRQRecv  = "PostSRQRecv"
	PostSend     = "PostSend"
	PostRecvFull = "PostRecvFull" // onto a full queue, which refuses
	PollEmpty    = "PollEmpty"
	Poll         = "Poll"         // completions are there
	Ring         = "Ring"         // completions are there, and their receives are posted again
	Batch        = "Batch"        // RDMA writes, by ibv_wr_start and what follows it
	BatchAborted = "BatchAborted" // the same, given up at the end: no doorbell is rung
	ExtendedPoll = "ExtendedPoll" // completions are there, for ibv_start_poll and what follows it

	// Messages between two queue pairs, one after the other or many under way.
	PingPongRC    = "PingPongRC"
	PingPongUD    = "PingPongUD"
	MessageRateRC = "MessageRateRC"
	MessageRateUD = "MessageRateUD"

	WakeUp     = "WakeUp"     // two that wait wake each other by messages
	WakeUpIdle = "WakeUpIdle" // one waits for completions that seldom come
)

// Implementations, in the order of reports.
const (
	C           = "c"                // the loop in C
	CAgain      = "c-again"          // the same, with objects of its own: what the measuring itself can tell
	Goverbs     = "goverbs"          // chain.Post
	RDMA        = "rdma"             // through a handle of package rdma
	GoverbsList = "goverbs-list"     // qp.PostRecv and its like, with C's shape
	GoverbsWC   = "goverbs-wc"       // a ring that puts completions into the caller's own slice
	GoverbsRing = "goverbs-ring"     // a ring for sends and one for receives
	Fallback    = "goverbs-fallback" // chain.Post where there is no direct call
	Cgo         = "cgo"              // integers in, the result by value
	CgoTyped    = "cgo-typed"        // typed pointers and &bad
	CgoMarshal  = "cgo-marshal"      // one work request a call, from scalars
	Purego      = "purego"           // purego.SyscallN
)

// Ours is the implementations that are goverbs.
var Ours = []string{Goverbs, RDMA, GoverbsList, GoverbsWC, GoverbsRing}

// Chains is the lengths of chains.
var Chains = []int{1, 4, 16, 64, 256}

// portable tells that this process is one for [Fallback]: package ibv makes its
// choice when a program starts.
var portable = os.Getenv(portableEnv) == "portable"

const portableEnv = "GOVERBS_CCALL"

// PortableEnv is the environment variable, with its value, of a process that
// measures [Fallback] in place of [Goverbs].
const PortableEnv = portableEnv + "=portable"

// Subject is one implementation of an operation on chains of one length.
type Subject struct {
	Op, Impl string
	WRs      int // in a call; 0 of a message
	Bytes    int // of a message
	Calls    int // in a round: messages there and back, or one way

	warm   int          // see warmUp; 0: as most do
	before func() error // brings about the state that a round starts in
	calls  calls
	after  func() error // cleans up behind a round, and checks it
	again  func() error // if not nil, makes it possible to repeat a round that went wrong
}

// calls makes n calls, and returns how many went well and how many ticks they
// took.
type calls func(n int) (good int, ticks int64)

// Name is what go test calls it.
func (s *Subject) Name() string {
	if s.Bytes > 0 {
		return fmt.Sprintf("impl=%s/bytes=%d", s.Impl, s.Bytes)
	}
	return fmt.Sprintf("impl=%s/wr=%d", s.Impl, s.WRs)
}

// attempts is how often a round is made that can be repeated.
const attempts = 10

// warmUp is how many of a round's calls are made before the clock is read. They
// bring back into the caches what the time between rounds has driven out.
func (s *Subject) warmUp() int {
	if s.warm > 0 {
		return s.warm
	}
	return max(s.Calls/8, min(1, s.Calls-1))
}

// Round makes all calls of a round, and returns how many ticks they took, but
// for those that warm up.
func (s *Subject) Round() (ticks int64, err error) {
	for range attempts {
		var good int
		if ticks, good, err = s.round(); err != nil {
			return 0, fmt.Errorf("%s/%s: %w", s.Op, s.Name(), err)
		}
		if good == s.Calls {
			return ticks, nil
		}
		err = fmt.Errorf("%s/%s: call %d of %d went wrong", s.Op, s.Name(), good, s.Calls)
		if s.again == nil {
			break
		}
		if err := s.again(); err != nil {
			return 0, err
		}
	}
	return 0, err
}

func (s *Subject) round() (elapsed int64, good int, err error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return 0, 0, err
		}
	}
	warmUp := s.warmUp()
	if good, _ = s.calls(warmUp); good != warmUp {
		return 0, good, nil
	}
	good, elapsed = s.calls(s.Calls - warmUp)
	good += warmUp
	if good == s.Calls && s.after != nil {
		err = s.after()
	}
	return elapsed, good, err
}

// Of makes the subjects for an operation: those implementations that this
// process can measure, on chains of one length, or with messages of one. There are
// none where the device cannot do it.
func Of(d device.Device, op string, length int) ([]*Subject, error) {
	var all []*Subject
	var err error
	switch op {
	case PostRecv:
		all, err = postRecv(d, length)
	case PostSRQRecv:
		all, err = postSRQRecv(d, length)
	case PostSend:
		all, err = postSend(d, length)
	case PostRecvFull:
		all, err = postRecvFull(d, length)
	case PollEmpty:
		all = pollEmpty(d, length)
	case Poll:
		all = poll(d, length)
	case Ring:
		all, err = ring(d, length)
	case Batch:
		all, err = batch(d, length)
	case BatchAborted:
		all, err = batchAborted(d, length)
	case ExtendedPoll:
		all, err = extendedPoll(d, length)
	case PingPongRC, PingPongUD, MessageRateRC, MessageRateUD:
		if !portable { // there, only what concerns posts and polls is told
			all, err = traffic(d, op, length)
		}
	case WakeUp:
		if !portable {
			all, err = wakeUp(d)
		}
	case WakeUpIdle:
		if !portable {
			all, err = wakeUpIdle(d)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s of %d: %w", op, length, err)
	}
	var here []*Subject
	for _, s := range all {
		switch {
		case s.Calls == 0: // the device cannot
		case !portable:
			here = append(here, s)
		case s.Impl == Goverbs:
			s.Impl = Fallback
			here = append(here, s)
		}
	}
	return here, nil
}

// Lengths is the lengths that make sense for an operation: of chains, or of
// messages in bytes.
func Lengths(op string) []int {
	switch op {
	case PostRecvFull, PollEmpty, WakeUp, WakeUpIdle:
		return []int{1}
	case Ring, Batch, BatchAborted, ExtendedPoll:
		return []int{1, 4, 16, 64} // a ring takes no more at a time, and old Soft-RoCE has little room for sends
	case PingPongRC, PingPongUD, MessageRateRC, MessageRateUD:
		return []int{messageSize}
	}
	return Chains
}

// Operations is all of them.
func Operations() []string {
	return []string{PostRecv, PostSRQRecv, PostSend, PostRecvFull, PollEmpty, Poll, Ring, Batch, BatchAborted, ExtendedPoll, PingPongRC, PingPongUD, MessageRateRC, MessageRateUD, WakeUp, WakeUpIdle}
}

// Paired reports whether an operation takes so long, and differs so much from one
// time to the next, that it is compared in many pairs.
func Paired(op string) bool {
	switch op {
	case Batch, PingPongRC, PingPongUD, MessageRateRC, MessageRateUD:
		return true
	}
	return false
}

// variant is one implementation: the calls that it makes.
type variant struct {
	impl  string
	calls calls
}

// timed reads the clock around a loop in Go, as loops in C do for themselves.
func timed(loop func(n int) int) calls {
	return func(n int) (int, int64) {
		start := ticks.Now()
		good := loop(n)
		return good, ticks.Now() - start
	}
}

// share makes subjects of variants that differ in their calls only.
func share(common Subject, variants []variant) []*Subject {
	subjects := make([]*Subject, len(variants))
	for i, v := range variants {
		s := common
		s.Impl, s.calls = v.impl, v.calls
		subjects[i] = &s
	}
	return subjects
}

// Nanoseconds makes the nanoseconds of one call of a round's ticks.
func (s *Subject) Nanoseconds(ticks int64, tickLength float64) float64 {
	return float64(ticks) * tickLength / float64(s.Calls-s.warmUp())
}

// Allocs is how many allocations a call makes: the fewest of several rounds, as
// the runtime may make some of its own.
func (s *Subject) Allocs() (float64, error) {
	fewest := math.Inf(1)
	calls := s.calls
	defer func() { s.calls = calls }()
	s.calls = func(n int) (int, int64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		good, ticks := calls(n)
		runtime.ReadMemStats(&after)
		if n > 0 {
			fewest = min(fewest, float64(after.Mallocs-before.Mallocs)/float64(n))
		}
		return good, ticks
	}
	for range 5 {
		if _, err := s.Round(); err != nil {
			return 0, err
		}
	}
	return fewest, nil
}
