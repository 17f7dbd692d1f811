package report

import (
	"fmt"
	"io"
	"slices"

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
	// add adds a target about how one implementation compares with another, if
	// both were measured.
	dimension := "wr"
	add := func(claim, op string, n int, a, b string, to func(a, b float64) float64, wanted string, met func(v float64) bool) {
		if v, ok := s.compared(key{device, op, a, dimension, n}, key{device, op, b, dimension, n}, to); ok {
			all = append(all, target{claim, wanted, fmt.Sprintf("%.4g", v), met(v)})
		}
	}
	through := []struct{ impl, how string }{{subject.Goverbs, ""}, {subject.RDMA, " through a handle"}}
	for _, by := range through {
		for _, t := range []struct {
			n     int
			limit float64
		}{{1, 1.25}, {4, 1.10}, {16, 1.04}, {64, 1.02}} {
			add(fmt.Sprintf("a post of %d%s, times C", t.n, by.how), subject.PostRecv, t.n, by.impl, subject.C, times,
				fmt.Sprintf("≤ %.2f", t.limit), func(v float64) bool { return v <= t.limit })
		}
		for _, t := range []struct{ claim, op string }{
			{"a post of 1%s, ns more than C", subject.PostRecv},
			{"a poll%s that finds nothing, ns more than C", subject.PollEmpty},
		} {
			add(fmt.Sprintf(t.claim, by.how), t.op, 1, by.impl, subject.C, more, "≤ 2.5", func(v float64) bool { return v <= 2.5 })
		}
	}
	for _, t := range []struct {
		n     int
		than  string
		limit float64
	}{{1, subject.Cgo, 3}, {1, subject.Purego, 8}, {16, subject.CgoMarshal, 5}} {
		add(fmt.Sprintf("a post of %d, times faster than %s", t.n, t.than), subject.PostRecv, t.n, t.than, subject.Goverbs, times,
			fmt.Sprintf("≥ %.0f", t.limit), func(v float64) bool { return v >= t.limit })
	}
	for _, t := range []struct {
		impl, how string
		limit     float64
	}{{subject.Goverbs, "handed out as Received", 1.6}, {subject.GoverbsWC, "into the caller's []WC", 1.3}} {
		if v, n, ok := s.worstRatio(device, subject.Ring, t.impl, subject.C); ok {
			all = append(all, target{fmt.Sprintf("receiving with a ring, %s, times C, at worst", t.how),
				fmt.Sprintf("≤ %.1f", t.limit), fmt.Sprintf("%.4g, of %d", v, n), v <= t.limit})
		}
	}
	for _, t := range []struct{ what, op string }{
		{"a batch of %d writes", subject.Batch},
		{"a batch of %d writes without the doorbell", subject.BatchAborted},
		{"an extended poll of %d", subject.ExtendedPoll},
	} {
		for _, by := range []struct {
			n     int
			limit float64
		}{{1, 1.10}, {16, 1.05}, {64, 1.03}} {
			for _, through := range through {
				add(fmt.Sprintf(t.what+"%s, times C", by.n, through.how), t.op, by.n, through.impl, subject.C, times,
					fmt.Sprintf("≤ %.2f", by.limit), func(v float64) bool { return v <= by.limit })
			}
		}
	}
	for _, t := range traffics {
		var sizes []int
		dimension, sizes = s.numbers(device, t.op)
		for _, size := range sizes {
			for _, by := range []struct {
				impl, how string
				limit     float64
			}{{subject.Goverbs, "chains", 1.02}, {subject.GoverbsRing, "rings", 1.03}} {
				add(fmt.Sprintf("%s, %d bytes, by %s, times C", t.title, size, by.how), t.op, size, by.impl, subject.C, times,
					fmt.Sprintf("≤ %.2f", by.limit), func(v float64) bool { return v <= by.limit })
			}
		}
	}
	if allocs, ok := s.mostAllocs(device); ok {
		all = append(all, target{"allocations of any post, poll or message, also onto a full queue", "0", fmt.Sprintf("%.3g", allocs), allocs == 0})
	}
	return all
}

// worstRatio is the largest that one implementation is of another, and the number of
// work requests that it is so with.
func (s *Samples) worstRatio(device, op, a, b string) (worst float64, at int, ok bool) {
	dimension, numbers := s.numbers(device, op)
	for _, n := range numbers {
		if v, measured := s.compared(key{device, op, a, dimension, n}, key{device, op, b, dimension, n}, times); measured && v > worst {
			worst, at, ok = v, n, true
		}
	}
	return worst, at, ok
}

// mostAllocs is the most allocations that an operation of goverbs has made.
func (s *Samples) mostAllocs(device string) (most float64, ok bool) {
	for k, values := range s.allocs {
		if k.device != device || !slices.Contains(subject.Ours, k.impl) {
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
