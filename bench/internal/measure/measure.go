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

// pairs is how many rounds are made of operations that are compared round by
// round, in each process.
const pairs = 20

// Operations is all that can be measured.
func Operations() []string { return append(subject.Operations(), Scale, Build, Preempt) }

// Batch measures those operations that this process can, and writes the medians as go
// test does. For an operation on chains of one length, rounds of all
// implementations alternate, so that what disturbs the machine disturbs all of
// them, and the median leaves out the rounds that it hit. Of some operations, all
// rounds are written: see [subject.Paired].
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
			n := rounds
			if subject.Paired(op) {
				n = pairs
			}
			samples, err := alternate(subjects, n)
			if err != nil {
				return err
			}
			for i, s := range subjects {
				allocs, err := s.Allocs()
				if err != nil {
					return err
				}
				rounds := samples[i]
				if !subject.Paired(op) {
					rounds = []int64{median(rounds)}
				}
				for _, ticks := range rounds {
					ns, more := s.Nanoseconds(ticks, tickLength), fmt.Sprintf("\t%.2g allocs/op", allocs)
					if err := result(w, s.Op+"/"+s.Name(), n/len(rounds)*s.Calls, ns, more); err != nil {
						return err
					}
				}
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

// alternate makes rounds of all subjects in turn and returns the ticks of each
// one's. The order is random: whatever a round leaves behind in the caches, it
// leaves to all of the others.
func alternate(subjects []*subject.Subject, rounds int) ([][]int64, error) {
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
	return samples, nil
}

func median(ticks []int64) int64 { return slices.Sorted(slices.Values(ticks))[len(ticks)/2] }
