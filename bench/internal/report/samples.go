// Package report makes a table and a plot of what go test -bench and bench
// measure print.
package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// key is what a number is about.
type key struct {
	device, op, impl string
	// dimension is what n counts, "wr" mostly.
	dimension string
	n         int
}

// Samples is what was measured.
type Samples struct {
	ns     map[key][]float64
	allocs map[key][]float64
	worst  map[key]float64   // nanoseconds, where that was measured too
	config map[string]string // device/key to value
}

// Read adds what r has, in the format of Go's benchmarks.
func (s *Samples) Read(r io.Reader, name string) error {
	if s.ns == nil {
		s.ns, s.allocs, s.config = map[key][]float64{}, map[key][]float64{}, map[string]string{}
		s.worst = map[key]float64{}
	}
	reader := benchfmt.NewReader(r, name)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return record
		case *benchfmt.Result:
			k, err := keyOf(record)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", name, record.Name, err)
			}
			// A value of 0 keeps the unit that it was printed with.
			if v, ok := record.Value("ns/op"); ok && v == 0 {
				return fmt.Errorf("%s: %s took no time: whatever it was measured with did not tell", name, record.Name)
			}
			if v, ok := record.Value("sec/op"); ok {
				s.ns[k] = append(s.ns[k], v*1e9)
			}
			if v, ok := record.Value("worst-sec/op"); ok {
				s.worst[k] = max(s.worst[k], v*1e9)
			}
			if v, ok := record.Value("allocs/op"); ok {
				s.allocs[k] = append(s.allocs[k], v)
			}
			for _, c := range record.Config {
				s.config[k.device+"/"+c.Key] = string(c.Value)
			}
		}
	}
	return reader.Err()
}

// keyOf takes a name such as PostRecv/impl=c/wr=4 apart.
func keyOf(r *benchfmt.Result) (key, error) {
	k := key{device: r.GetConfig("device")}
	base, parts := r.Name.Parts()
	k.op = string(base)
	for _, part := range parts {
		name, value, ok := strings.Cut(strings.TrimPrefix(string(part), "/"), "=")
		switch {
		case !ok: // the number of processors
		case name == "impl":
			k.impl = value
		default:
			n, err := strconv.Atoi(value)
			if err != nil {
				return k, fmt.Errorf("%s is not a number: %w", name, err)
			}
			k.dimension, k.n = name, n
		}
	}
	if k.device == "" || k.impl == "" || k.dimension == "" {
		return k, fmt.Errorf("a name such as PostRecv/impl=c/wr=1 is expected, and a device before")
	}
	return k, nil
}

// median is the median nanoseconds of an operation; ok is false if it was not
// measured.
func (s *Samples) median(k key) (ns float64, ok bool) { return median(s.ns[k]) }

func median(v []float64) (float64, bool) {
	if len(v) == 0 {
		return 0, false
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2, true
}

// compared is the median of what one median of a process is to another of the
// same process, or one round to another of the same turn. That says more than
// comparing medians of all, because processors are shared and get faster and
// slower.
func (s *Samples) compared(a, b key, to func(a, b float64) float64) (float64, bool) {
	return median(s.comparisons(a, b, to))
}

func (s *Samples) comparisons(a, b key, to func(a, b float64) float64) []float64 {
	var all []float64
	for i := range min(len(s.ns[a]), len(s.ns[b])) {
		all = append(all, to(s.ns[a][i], s.ns[b][i]))
	}
	return all
}

// most is between what 8 in 10 of the values are.
func most(v []float64) (low, high float64) {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/10], v[len(v)-1-len(v)/10]
}

func times(a, b float64) float64 { return a / b }
func more(a, b float64) float64  { return a - b }

// numbers is the values of n that were measured, in order.
func (s *Samples) numbers(device, op string) (dimension string, numbers []int) {
	for k := range s.ns {
		if k.device == device && k.op == op {
			dimension = k.dimension
			if !slices.Contains(numbers, k.n) {
				numbers = append(numbers, k.n)
			}
		}
	}
	slices.Sort(numbers)
	return dimension, numbers
}
