package conformance

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// T is what a scenario works with: the device, what is made of it, and a way to fail.
// All that it makes is closed when the scenario ends. It serves as testify's TestingT.
// What fails the scenario at once, FailNow, is for the scenario's own goroutine.
type T struct {
	scenario Scenario
	name     string // of the device
	patience time.Duration
	ctx      context.Context

	failed   bool
	failures []string
	notes    []string
	lacks    string // why it is not supported
	cleanups []func()

	provider Provider
	dev      *rdma.Device
	pd       *rdma.PD
	gid      ibv.GIDEntry
	port     ibv.PortAttr
}

// Name is the scenario's.
func (t *T) Name() string { return t.scenario.String() }

// Helper does nothing: failures say where they were found.
func (t *T) Helper() {}

// Errorf says what is wrong, and goes on.
func (t *T) Errorf(format string, args ...any) {
	t.failed = true
	t.failures = append(t.failures, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// FailNow ends the scenario as failed.
func (t *T) FailNow() {
	t.failed = true
	runtime.Goexit()
}

// Logf says what was seen, for the report of a failure.
func (t *T) Logf(format string, args ...any) { t.notes = append(t.notes, fmt.Sprintf(format, args...)) }

// Cleanup has f run when the scenario ends, in reverse order.
func (t *T) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Context ends when the scenario may not take any longer.
func (t *T) Context() context.Context { return t.ctx }

// NotSupported ends the scenario: the device need not have what it is about, and has it
// not. On a provider that the table of differences knows, [T.Needs] is the way to say so.
func (t *T) NotSupported(format string, args ...any) {
	t.lacks = fmt.Sprintf(format, args...)
	if t.provider.known() {
		t.Errorf("%v does without this, which is not in the table of differences: %s", t.provider, t.lacks)
	}
	runtime.Goexit()
}

// run is the scenario from beginning to end.
func (s Scenario) run(device string, opts Options) Result {
	ctx, cancel := context.WithTimeout(context.Background(), opts.patience())
	defer cancel()
	t := &T{scenario: s, name: device, patience: opts.patience(), ctx: ctx}
	start := time.Now()
	t.guarded(func() {
		rdma.NoLeaks(t)
		t.open()
		s.Run(t)
	})
	for len(t.cleanups) > 0 {
		last := len(t.cleanups) - 1
		cleanup := t.cleanups[last]
		t.cleanups = t.cleanups[:last]
		t.guarded(cleanup)
	}
	r := Result{Scenario: s, Status: Passed, Took: time.Since(start)}
	switch {
	case t.failed:
		r.Status, r.Reason = Failed, strings.Join(append(t.failures, t.notes...), "\n")
	case t.lacks != "":
		r.Status, r.Reason = NotSupported, t.lacks
	}
	return r
}

// guarded calls f on a goroutine of its own, which FailNow may end. A panic is a failure.
func (t *T) guarded(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				t.Errorf("panic: %v\n%s", v, debug.Stack())
			}
		}()
		f()
	}()
	<-done
}
