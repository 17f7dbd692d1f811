package report

import (
	"fmt"
	"io"

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

// Wanted of loops that post or poll, on a machine that has nothing else to do, in
// nanoseconds.
const (
	stopMedian = 100e3
	stopWorst  = 5e6
	sliceWorst = 25e6
)

var preemptNote = fmt.Sprintf(""+
	"How long others wait while a goroutine does nothing else. To stop: the collector, until the goroutine has stopped, of two that\n"+
	"have a processor each (`/sched/pauses/stopping/gc`, whose steps are a quarter). Its slice: another goroutine, until it has the\n"+
	"only processor. Posts here take a microsecond, or a system call on a device. Wanted of the last three, when the machine has\n"+
	"nothing else to do: %s in the median and %s at most to stop, and slices of at most %s. The first two say what this\n"+
	"machine and the runtime do without them, and brackets how many times the loop that counts: where that one does not keep to\n"+
	"what is wanted, nothing can.\n\n", duration(stopMedian), duration(stopWorst), duration(sliceWorst))

// way is how soon a loop made way.
type way struct{ stop, worstStop, slice, worstSlice float64 }

func (s *Samples) way(device, loop string) (y way, ok bool) {
	stop, slice := key{device, measure.Stop, loop, "procs", 2}, key{device, measure.Slice, loop, "procs", 1}
	y.stop, ok = s.median(stop)
	if !ok {
		return y, false
	}
	y.slice, ok = s.median(slice)
	y.worstStop, y.worstSlice = s.worst[stop], s.worst[slice]
	return y, ok
}

func (y way) asWanted() bool {
	return y.stop <= stopMedian && y.worstStop <= stopWorst && y.worstSlice <= sliceWorst
}

// writePreemption writes how soon loops make way, if that was measured.
func (s *Samples) writePreemption(w io.Writer, device string) {
	counting, ok := s.way(device, measure.GoLoop)
	if !ok {
		return
	}
	fmt.Fprintf(w, "\n### Making way\n\n%s| the goroutine | to stop, median | longest | its slice, median | longest | |\n|---|---|---|---|---|---|\n", preemptNote)
	for _, loop := range measure.Loops() {
		y, ok := s.way(device, loop)
		if !ok {
			continue
		}
		times, verdict := true, "**missed**"
		switch {
		case loop == measure.NoLoop || loop == measure.GoLoop:
			times, verdict = false, ""
		case y.asWanted():
			verdict = "met"
		case !counting.asWanted() && y.stop <= 2*counting.stop && y.worstSlice <= 2*counting.worstSlice:
			verdict = "**missed**, as by counting"
		}
		cell := func(v, counting float64) string {
			if !times {
				return duration(v)
			}
			return fmt.Sprintf("%s (%.3g)", duration(v), v/counting)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", doings[loop], cell(y.stop, counting.stop), cell(y.worstStop, counting.worstStop),
			cell(y.slice, counting.slice), cell(y.worstSlice, counting.worstSlice), verdict)
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
