package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// The devices of the guests.
const (
	rxe = "rxe0"
	siw = "siw0"
)

// A tally is how the tests of a device ended.
type tally struct {
	passed, skipped int
	failures        []string
}

// into is a record with these numbers.
func (t tally) into(r record) record {
	r.Passed, r.Skipped, r.Failed, r.Failures = t.passed, t.skipped, len(t.failures), t.failures
	return r
}

// An event is one of go tool test2json's.
type event struct{ Action, Package, Test, Output string }

// events reads what a test printed with -test.v=test2json.
func events(output string) (all []event, err error) {
	cmd := exec.Command("go", "tool", "test2json")
	cmd.Stdin = strings.NewReader(output)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go tool test2json: %w", err)
	}
	return decode(bytes.NewReader(out))
}

func decode(lines io.Reader) (all []event, err error) {
	for d := json.NewDecoder(lines); ; {
		var e event
		if err := d.Decode(&e); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
}

// count adds up how the tests ended, by device; which says whose a test is, "" for those that do not count.
func count(o outcome, which func(test string) (device string)) (map[string]*tally, error) {
	all, err := events(o.output)
	if err != nil {
		return nil, err
	}
	tallies := map[string]*tally{}
	failed := false
	unsupported := map[string]bool{}
	for _, e := range all {
		device := which(e.Test)
		if e.Test == "" || device == "" {
			continue
		}
		t := tallies[device]
		if t == nil {
			t = new(tally)
			tallies[device] = t
		}
		switch e.Action {
		case "output":
			unsupported[e.Test] = unsupported[e.Test] || strings.Contains(e.Output, ": not supported in ")
		case "pass":
			if unsupported[e.Test] {
				t.skipped++
			} else {
				t.passed++
			}
		case "skip":
			t.skipped++
		case "fail":
			failed = true
			t.failures = append(t.failures, e.Test[strings.LastIndexByte(e.Test, '/')+1:])
		}
	}
	if o.status != "0" && !failed {
		return nil, fmt.Errorf("the tests ended with status %s:\n%s", o.status, tail(o.output, 20))
	}
	for _, t := range tallies {
		slices.Sort(t.failures)
	}
	return tallies, nil
}

// deviceOfTest: the tests of siw are named so, and all others use the device that is found by itself.
func deviceOfTest(test string) string {
	switch {
	case strings.Contains(test, "/"):
		return ""
	case strings.Contains(test, "Siw"):
		return siw
	}
	return rxe
}

// deviceOfScenario: TestDevice/rxe0/group/scenario.
func deviceOfScenario(test string) string {
	f := strings.Split(test, "/")
	if len(f) != 4 || f[0] != "TestDevice" {
		return ""
	}
	return f[1]
}

// countPackages adds up how the tests of several packages ended, as go test -json tells it. A package that ended badly
// by itself, such as one that was not built, or not in time, counts as a failure of its name.
func countPackages(output string) (sum tally, err error) {
	var lines strings.Builder
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "{") { // what go itself says is none
			lines.WriteString(line)
		}
	}
	all, err := decode(strings.NewReader(lines.String()))
	if err != nil {
		return tally{}, err
	}
	failed := map[string]bool{}
	for _, e := range all {
		short := path.Base(e.Package)
		switch {
		case strings.Contains(e.Test, "/"):
		case e.Test == "":
			if e.Action == "fail" && e.Package != "" && !failed[e.Package] {
				sum.failures = append(sum.failures, "package "+short)
			}
		case e.Action == "pass":
			sum.passed++
		case e.Action == "skip":
			sum.skipped++
		case e.Action == "fail":
			failed[e.Package] = true
			sum.failures = append(sum.failures, short+"."+e.Test)
		}
	}
	if sum.passed+sum.skipped+len(sum.failures) == 0 {
		return tally{}, fmt.Errorf("no test ran:\n%s", tail(output, 20))
	}
	slices.Sort(sum.failures)
	return sum, nil
}
