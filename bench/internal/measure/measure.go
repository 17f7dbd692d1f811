// Package measure times subjects in turn and takes medians.
package measure

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/subject"
	"github.com/goverbs/goverbs/bench/internal/ticks"
)

// warmUp is the rounds that do not count.
const warmUp = 2

// pairs is how often operations that are [subject.Paired] are compared in each
// process, and PairRounds how many rounds each pair has the medians of.
const (
	pairs      = 10
	PairRounds = 11
)

// Operations is all that can be measured.
func Operations() []string { return append(subject.Operations(), Scale, Build, Preempt) }

// Batch measures those operations that this process can, and writes the medians as go
// test does. For an operation on chains of one length, rounds of all
// implementations alternate, so that what disturbs the machine disturbs all of
// them, and the median leaves out the rounds that it hit. Some operations are
// measured so several times: see [subject.Paired].
//
// [Preempt] wants a process of its own.
func Batch(w io.Writer, d device.Device, rounds int, ops []string) error {
	fmt.Fprintf(w, "device: %s\n", d.Name())
	tickLength := ticks.Length()
	if slices.Contains(ops, Preempt) {
		if err := preemption(w, d); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(ops, func(op string) bool { return op != Preempt }) {
		return nil
	}
	if err := warmProcess(d); err != nil {
		return err
	}
	for _, op := range subject.Operations() {
		if !slices.Contains(ops, op) {
			continue
		}
		for _, wrs := range subject.Lengths(op) {
			subjects, err := subject.Of(d, op, wrs)
			if err != nil {
				return err
			}
			if err := compare(w, subjects, tickLength, op, rounds); err != nil {
				return err
			}
		}
	}
	if d.Name() != device.StubName {
		return nil // the rest needs no device
	}
	if slices.Contains(ops, Scale) {
		if err := scaling(w, tickLength, rounds); err != nil {
			return err
		}
	}
	if slices.Contains(ops, Build) {
		return building(w)
	}
	return nil
}

// compare measures implementations of one operation, and writes what it found.
func compare(w io.Writer, subjects []*subject.Subject, tickLength float64, op string, rounds int) error {
	repeat := 1
	if subject.Paired(op) {
		repeat, rounds = pairs, PairRounds
	}
	medians := make([][]int64, repeat)
	for i := range medians {
		var err error
		if medians[i], err = alternate(subjects, rounds); err != nil {
			return err
		}
	}
	for i, s := range subjects {
		allocs, err := s.Allocs()
		if err != nil {
			return err
		}
		for _, m := range medians {
			ns, more := s.Nanoseconds(m[i], tickLength), fmt.Sprintf("\t%.2g allocs/op", allocs)
			if err := result(w, s.Op+"/"+s.Name(), rounds*s.Calls, ns, more); err != nil {
				return err
			}
		}
	}
	return nil
}

// result writes a line as go test does. A time of nothing is none: whatever it
// was measured with did not tell.
func result(w io.Writer, name string, n int, ns float64, more string) error {
	if math.IsNaN(ns) || math.IsInf(ns, 0) || ns < leastTime {
		return fmt.Errorf("%s took %g ns, which no operation does: the clock does not tell", name, ns)
	}
	_, err := fmt.Fprintf(w, "Benchmark%s\t%d\t%.2f ns/op%s\n", name, n, ns, more)
	return err
}

// leastTime is the nanoseconds that are printed as something.
const leastTime = 0.01

// warmProcess makes rounds that do not count, enough of them for the garbage
// collector to have worked. Some implementations allocate, and the first touch of
// a page of the heap takes very long under User Mode Linux.
func warmProcess(d device.Device) error {
	const rounds = 280 // of all implementations together
	subjects, err := subject.Of(d, subject.PostRecv, 1)
	if err != nil {
		return err
	}
	_, err = alternate(subjects, rounds/len(subjects))
	return err
}

// alternate makes rounds of all subjects in turn and returns the median ticks of
// each. The order is random: whatever a round leaves behind in the caches, it
// leaves to all of the others.
func alternate(subjects []*subject.Subject, rounds int) ([]int64, error) {
	samples := make([][]int64, len(subjects))
	for round := range warmUp + rounds {
		for _, i := range rand.Perm(len(subjects)) {
			ticks, err := subjects[i].Round()
			if err != nil {
				return nil, err
			}
			if round >= warmUp {
				samples[i] = append(samples[i], ticks)
			}
		}
	}
	medians := make([]int64, len(subjects))
	for i, v := range samples {
		slices.Sort(v)
		medians[i] = v[len(v)/2]
	}
	return medians, nil
}
