// Package subject is what is measured: operations, ways to implement each, on
// chains of several lengths.
package subject

import (
	"fmt"
	"math"
	"os"
	"runtime"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/native"
)

// Operations, in the order of reports.
const (
	PostRecv     = "PostRecv"
	PostSRQRecv  = "PostSRQRecv"
	PostSend     = "PostSend"
	PostRecvFull = "PostRecvFull" // onto a full queue, which refuses
	PollEmpty    = "PollEmpty"
	Poll         = "Poll" // completions are there
)

// Implementations, in the order of reports.
const (
	C           = "c"                // the loop in C
	Goverbs     = "goverbs"          // chain.Post
	GoverbsList = "goverbs-list"     // qp.PostRecv and its like, with C's shape
	Fallback    = "goverbs-fallback" // chain.Post where there is no direct call
	Cgo         = "cgo"              // integers in, the result by value
	CgoTyped    = "cgo-typed"        // typed pointers and &bad
	CgoMarshal  = "cgo-marshal"      // one work request a call, from scalars
	Purego      = "purego"           // purego.SyscallN
)

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
	WRs      int // in a call
	Calls    int // in a round

	before func() error    // brings about the state that a round starts in
	calls  func(n int) int // makes n calls, and returns how many went well
	after  func() error    // cleans up behind a round, and checks it
}

// Name is what go test calls it.
func (s *Subject) Name() string { return fmt.Sprintf("impl=%s/wr=%d", s.Impl, s.WRs) }

// Round makes all calls of a round, and returns how many ticks they took.
func (s *Subject) Round() (ticks int64, err error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return 0, fmt.Errorf("%s/%s: %w", s.Op, s.Name(), err)
		}
	}
	start := native.Ticks()
	good := s.calls(s.Calls)
	ticks = native.Ticks() - start
	if good != s.Calls {
		return 0, fmt.Errorf("%s/%s: call %d of %d went wrong", s.Op, s.Name(), good, s.Calls)
	}
	if s.after != nil {
		if err := s.after(); err != nil {
			return 0, fmt.Errorf("%s/%s: %w", s.Op, s.Name(), err)
		}
	}
	return ticks, nil
}

// Of makes the subjects for an operation: those implementations that this
// process can measure, on chains of one length. There are none where the device
// cannot do it.
func Of(d device.Device, op string, wrs int) ([]*Subject, error) {
	var all []*Subject
	var err error
	switch op {
	case PostRecv:
		all, err = postRecv(d, wrs)
	case PostSRQRecv:
		all, err = postSRQRecv(d, wrs)
	case PostSend:
		all, err = postSend(d, wrs)
	case PostRecvFull:
		all, err = postRecvFull(d, wrs)
	case PollEmpty:
		all = pollEmpty(d, wrs)
	case Poll:
		all = poll(d, wrs)
	}
	if err != nil {
		return nil, fmt.Errorf("%s/wr=%d: %w", op, wrs, err)
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

// Lengths is the chain lengths that make sense for an operation.
func Lengths(op string) []int {
	if op == PostRecvFull || op == PollEmpty {
		return []int{1}
	}
	return Chains
}

// Operations is all of them.
func Operations() []string {
	return []string{PostRecv, PostSRQRecv, PostSend, PostRecvFull, PollEmpty, Poll}
}

// variant is one implementation: the calls that it makes.
type variant struct {
	impl  string
	calls func(n int) int
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
	return float64(ticks) * tickLength / float64(s.Calls)
}

// Allocs is how many allocations a call makes: the fewest of several rounds, as
// the runtime may make some of its own.
func (s *Subject) Allocs() (float64, error) {
	fewest := math.Inf(1)
	calls := s.calls
	defer func() { s.calls = calls }()
	s.calls = func(n int) int {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		good := calls(n)
		runtime.ReadMemStats(&after)
		fewest = min(fewest, float64(after.Mallocs-before.Mallocs)/float64(n))
		return good
	}
	for range 5 {
		if _, err := s.Round(); err != nil {
			return 0, err
		}
	}
	return fewest, nil
}
