// Package cputime times work by what the processor spends on it. Work that is
// long enough to time is long enough for other programs to interrupt it, and
// time that they take does not count. Systems differ in how finely they count:
// some charge whole clock ticks of several milliseconds. So clocks are chosen by
// what they are seen to do, and work is repeated until it can be told.
package cputime

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Clock is one way to tell time.
type Clock struct {
	Name string
	// Resolution is the step that it was seen to make, or what a look at it takes
	// where that is longer.
	Resolution time.Duration

	now func() time.Duration
}

// clocks are the ways there are, best first. All but the last count the calling
// thread's time only.
func clocks() []Clock {
	return []Clock{
		{Name: "thread CPU clock", now: func() time.Duration {
			var t unix.Timespec
			if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
				return 0 // it stands still, so it is not chosen
			}
			return time.Duration(t.Nano())
		}},
		{Name: "thread resource usage", now: func() time.Duration {
			const thread = 1 // RUSAGE_THREAD, which x/sys has for Linux only
			var usage unix.Rusage
			if err := unix.Getrusage(thread, &usage); err != nil {
				return 0
			}
			return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}},
		{Name: "wall clock", now: func() time.Duration { return time.Since(start) }},
	}
}

var start = time.Now()

// enough is how many steps of a clock a time must be long: an error of 1%.
const enough = 100

// Choose returns the best clock that tells times as short as that, or the finest
// one if none does. The caller's goroutine must be locked to its thread.
func Choose(shortest time.Duration) (Clock, error) { return choose(clocks(), shortest) }

func choose(candidates []Clock, shortest time.Duration) (Clock, error) {
	var finest Clock
	for _, c := range candidates {
		c.Resolution = resolution(c.now)
		switch {
		case c.Resolution == 0: // it stands still
		case c.Resolution <= shortest/enough:
			return c, nil
		case finest.now == nil || c.Resolution < finest.Resolution:
			finest = c
		}
	}
	if finest.now == nil {
		return finest, fmt.Errorf("cputime: none of %d clocks moves", len(candidates))
	}
	return finest, nil
}

// resolution looks at a clock until it has moved several times, and returns the
// median step; 0 if it does not move.
func resolution(now func() time.Duration) time.Duration {
	const (
		wanted   = 9
		patience = 300 * time.Millisecond
	)
	var steps []time.Duration
	begin, last := time.Now(), now()
	for len(steps) < wanted && time.Since(begin) < patience {
		if t := now(); t != last {
			steps = append(steps, t-last)
			last = t
		}
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return max(steps[len(steps)/2], 0)
}

// Time returns how long work takes: the mean of as many repetitions as the clock
// needs to tell. prepare, if not nil, runs before each and does not count.
func (c Clock) Time(prepare func(), work func() error) (time.Duration, error) {
	const patience = 30 * time.Second
	var spent time.Duration
	begin := time.Now()
	for n := time.Duration(1); ; n++ {
		if prepare != nil {
			prepare()
		}
		from := c.now()
		if err := work(); err != nil {
			return 0, err
		}
		spent += c.now() - from
		if spent >= enough*c.Resolution {
			return spent / n, nil
		}
		if time.Since(begin) > patience {
			return 0, fmt.Errorf("cputime: the %s, whose steps are %v, has moved %v in %d repetitions: that says nothing", c.Name, c.Resolution, spent, n)
		}
	}
}
