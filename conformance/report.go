package conformance

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/goverbs/goverbs/rdma"
)

// Status is how a scenario ended.
type Status int

// What Status may be.
const (
	Passed Status = iota
	Failed
	// NotSupported: the device does without, as it may.
	NotSupported
)

// String is a word or two.
func (s Status) String() string {
	return [...]string{Passed: "passed", Failed: "failed", NotSupported: "not supported"}[s]
}

// Result is what became of a scenario.
type Result struct {
	Scenario Scenario
	Status   Status
	// Reason is why it failed, in many lines, or why it is not supported, in one.
	Reason string
	Took   time.Duration
}

// Report is what became of all scenarios on a device.
type Report struct {
	Device   string
	Provider Provider
	Results  []Result
}

// Options are what scenarios run with. The zero value is what most programs want.
type Options struct {
	// Patience is how long a scenario may take; 0 is 20 seconds.
	Patience time.Duration
	// Select says which scenarios to run; nil is all.
	Select func(Scenario) bool
	// Each is told of every result as soon as it is there; nil is nobody.
	Each func(Result)
}

func (opts Options) patience() time.Duration {
	if opts.Patience == 0 {
		return 20 * time.Second
	}
	return opts.Patience
}

// Run runs the scenarios on a device, one after the other. The error says that the
// device cannot be opened; what fails is in the report.
func Run(device string, opts Options) (Report, error) {
	r, err := start(device)
	if err != nil {
		return r, err
	}
	for _, s := range Scenarios() {
		if opts.Select != nil && !opts.Select(s) {
			continue
		}
		result := s.run(r.Device, opts)
		r.Results = append(r.Results, result)
		if opts.Each != nil {
			opts.Each(result)
		}
	}
	return r, nil
}

// start is the report about a device before anything has run.
func start(device string) (Report, error) {
	dev, err := rdma.Open(device, rdma.DeviceOptions{})
	if err != nil {
		return Report{}, fmt.Errorf("conformance: %w", err)
	}
	r := Report{Device: dev.Name(), Provider: providerOf(dev)}
	if err := dev.CloseAll(); err != nil {
		return r, fmt.Errorf("conformance: %w", err)
	}
	return r, nil
}

// Count is how many scenarios ended so.
func (r Report) Count(status Status) (n int) {
	for _, result := range r.Results {
		if result.Status == status {
			n++
		}
	}
	return n
}

// String is a table, with what failed below it.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%v): %d passed, %d failed, %d not supported\n\n", r.Device, r.Provider, r.Count(Passed), r.Count(Failed), r.Count(NotSupported))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scenario\tbasis\tresult")
	for _, result := range r.Results {
		text := result.Status.String()
		if result.Status == NotSupported {
			text += ": " + result.Reason
		}
		fmt.Fprintf(w, "%v\t%s\t%s\n", result.Scenario, result.Scenario.Basis, text)
	}
	w.Flush()
	for _, result := range r.Results {
		if result.Status == Failed {
			fmt.Fprintf(&b, "\nfailed: %v (%s)\n%s\n", result.Scenario, result.Scenario.Basis, result.Reason)
		}
	}
	return b.String()
}
