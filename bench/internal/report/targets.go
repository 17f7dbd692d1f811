package report

import (
	"fmt"
	"io"

	"github.com/goverbs/goverbs/bench/internal/subject"
)

// A target is something that goverbs promises of posts on a real device, and
// what was measured.
type target struct {
	claim, wanted string
	measured      string
	met           bool
}

// targets judges the samples of a device.
func (s *Samples) targets(device string) []target {
	var all []target
	// pair adds a target about two medians, if both were measured.
	pair := func(op string, n int, over, under string, add func(a, b float64) target) {
		a, okA := s.median(key{device, op, over, "wr", n})
		b, okB := s.median(key{device, op, under, "wr", n})
		if okA && okB {
			all = append(all, add(a, b))
		}
	}
	for _, t := range []struct {
		n     int
		times float64
	}{{1, 1.25}, {4, 1.10}, {16, 1.04}, {64, 1.02}} {
		pair(subject.PostRecv, t.n, subject.Goverbs, subject.C, func(ours, c float64) target {
			return target{
				fmt.Sprintf("a post of %d, times C", t.n), fmt.Sprintf("≤ %.2f", t.times),
				fmt.Sprintf("%.3f", ours/c), ours/c <= t.times,
			}
		})
	}
	more := func(claim, op string) {
		pair(op, 1, subject.Goverbs, subject.C, func(ours, c float64) target {
			return target{claim, "≤ 2.5", fmt.Sprintf("%.2f", ours-c), ours-c <= 2.5}
		})
	}
	more("a post of 1, ns more than C", subject.PostRecv)
	more("a poll that finds nothing, ns more than C", subject.PollEmpty)
	faster := func(n int, than string, times float64) {
		pair(subject.PostRecv, n, than, subject.Goverbs, func(theirs, ours float64) target {
			return target{
				fmt.Sprintf("a post of %d, times faster than %s", n, than), fmt.Sprintf("≥ %.0f", times),
				fmt.Sprintf("%.1f", theirs/ours), theirs/ours >= times,
			}
		})
	}
	faster(1, subject.Cgo, 3)
	faster(1, subject.Purego, 8)
	faster(16, subject.CgoMarshal, 5)
	if allocs, ok := s.mostAllocs(device); ok {
		all = append(all, target{"allocations of any post or poll, also onto a full queue", "0", fmt.Sprintf("%.3g", allocs), allocs == 0})
	}
	return all
}

// mostAllocs is the most allocations that an operation of goverbs has made.
func (s *Samples) mostAllocs(device string) (most float64, ok bool) {
	for k, values := range s.allocs {
		if k.device != device || k.impl != subject.Goverbs && k.impl != subject.GoverbsList {
			continue
		}
		for _, v := range values {
			most, ok = max(most, v), true
		}
	}
	return most, ok
}

// writeTargets writes the table of targets.
func (s *Samples) writeTargets(w io.Writer, device string) {
	fmt.Fprint(w, "| what | wanted | measured | |\n|---|---|---|---|\n")
	for _, t := range s.targets(device) {
		verdict := "**missed**"
		if t.met {
			verdict = "met"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", t.claim, t.wanted, t.measured, verdict)
	}
}
