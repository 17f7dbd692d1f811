package report

import (
	"fmt"
	"io"
	"time"

	"github.com/goverbs/goverbs/bench/internal/measure"
)

// doings is what the goroutine does, in words.
var doings = map[string]string{
	measure.NoLoop:   "nothing: it has ended",
	measure.GoLoop:   "counts",
	measure.PostLoop: "posts",
	measure.PollLoop: "polls, and finds nothing",
	measure.BothLoop: "posts and polls",
}

// Wanted of loops that post or poll, on a machine that has nothing else to do.
const (
	stopMedian = 100 * time.Microsecond
	stopWorst  = 5 * time.Millisecond
	sliceWorst = 25 * time.Millisecond
)

var preemptNote = fmt.Sprintf(""+
	"How long others wait while a goroutine does nothing else. To stop: the collector, until the goroutine has stopped, of two that\n"+
	"have a processor each (`/sched/pauses/stopping/gc`, whose steps are a quarter). Its slice: another goroutine, until it has the\n"+
	"only processor. Posts here take a microsecond, or a system call on a device. Wanted of the last three, when the machine has\n"+
	"nothing else to do: %v in the median and %v at most to stop, and slices of at most %v. The first two say what this\n"+
	"machine and the runtime do without them: when counting does not keep to these, nothing can.\n\n", stopMedian, stopWorst, sliceWorst)

// writePreemption writes how soon loops make way, if that was measured.
func (s *Samples) writePreemption(w io.Writer, device string) {
	within := func(loop string) (cells string, met, ok bool) {
		stop, slice := key{device, measure.Stop, loop, "procs", 2}, key{device, measure.Slice, loop, "procs", 1}
		stopped, ok := s.median(stop)
		sliced, also := s.median(slice)
		worstStop, worstSlice := s.worst[stop], s.worst[slice]
		met = stopped <= float64(stopMedian) && worstStop <= float64(stopWorst) && worstSlice <= float64(sliceWorst)
		return fmt.Sprintf("| %s | %s | %s | %s |", duration(stopped), duration(worstStop), duration(sliced), duration(worstSlice)), met, ok && also
	}
	_, usual, ok := within(measure.GoLoop)
	if !ok {
		return
	}
	fmt.Fprintf(w, "\n### Making way\n\n%s| the goroutine | to stop, median | longest | its slice, median | longest | |\n|---|---|---|---|---|---|\n", preemptNote)
	for _, loop := range measure.Loops() {
		cells, met, ok := within(loop)
		verdict := "**missed**"
		switch {
		case !ok:
			continue
		case loop == measure.NoLoop || loop == measure.GoLoop:
			verdict = ""
		case met:
			verdict = "met"
		case !usual:
			verdict = "**missed**, as by counting"
		}
		fmt.Fprintf(w, "| %s %s %s |\n", doings[loop], cells, verdict)
	}
}

// duration is nanoseconds in words, with three figures.
func duration(ns float64) string {
	for _, unit := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= unit.ns {
			return fmt.Sprintf("%.3g %s", ns/unit.ns, unit.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}
