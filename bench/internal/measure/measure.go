// Package measure times subjects in turn and takes medians.
package measure

import (
	"fmt"
	"io"
	"slices"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/native"
	"github.com/goverbs/goverbs/bench/internal/subject"
)

// warmUp is the rounds that do not count.
const warmUp = 2

// Batch measures everything that this process can, and writes the medians as go
// test does. For an operation on chains of one length, rounds of all
// implementations alternate, so that what disturbs the machine disturbs all of
// them, and the median leaves out the rounds that it hit.
func Batch(w io.Writer, d device.Device, rounds int) error {
	fmt.Fprintf(w, "device: %s\n", d.Name())
	tickLength := native.TickLength()
	for _, op := range subject.Operations() {
		for _, wrs := range subject.Lengths(op) {
			subjects, err := subject.Of(d, op, wrs)
			if err != nil {
				return err
			}
			medians, err := alternate(subjects, rounds)
			if err != nil {
				return err
			}
			for i, s := range subjects {
				allocs, err := s.Allocs()
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "Benchmark%s/%s\t%d\t%.2f ns/op\t%.2g allocs/op\n",
					s.Op, s.Name(), rounds*s.Calls, s.Nanoseconds(medians[i], tickLength), allocs)
			}
		}
	}
	if d.Name() != device.StubName {
		return nil // the rest needs no device
	}
	if err := scaling(w, tickLength, rounds); err != nil {
		return err
	}
	return building(w)
}

// alternate makes rounds of all subjects in turn, each time starting with
// another one, and returns the median ticks of each.
func alternate(subjects []*subject.Subject, rounds int) ([]int64, error) {
	samples := make([][]int64, len(subjects))
	for round := range warmUp + rounds {
		for k := range subjects {
			i := (round + k) % len(subjects)
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
