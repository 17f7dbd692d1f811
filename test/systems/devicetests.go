package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// deviceTests runs the tests of ibv and rdma and the conformance suite in a place, and writes down what was seen with the
// record's particulars: the library that was loaded, and how the tests of each device ended. A release that the record
// names has to be the library's.
func (s *session) deviceTests(r record, b build, p place) error {
	made, err := s.binaries(b)
	if err != nil {
		return err
	}
	r.Processor, r.CGO, r.Go = b.arch, b.cgo, made.goVersion
	flags := []string{"-test.v=test2json", "-test.short"}
	if p.skip != "" {
		flags = append(flags, "-test.skip", "^("+p.skip+")$")
	}
	jobs := []job{{name: "told", argv: []string{made.told}}}
	for _, path := range made.tests {
		name := filepath.Base(path)
		jobs = append(jobs, job{name, append([]string{path}, flags...), filepath.Join(s.root, "test", strings.TrimSuffix(name, ".test"))})
	}
	suite := []string{made.scenarios, "-test.v=test2json", "-test.run", "^TestDevice$", "-device", strings.Join(p.deviceNames(), ",")}
	if p.skipScenarios != "" {
		suite = append(suite, "-test.skip", "///^("+p.skipScenarios+")$")
	}
	jobs = append(jobs, job{"conformance", suite, filepath.Join(s.root, "conformance")})
	outcomes, kernel, err := p.run(s, made.dir, jobs)
	if err != nil {
		return err
	}
	r.Kernel, _, _ = strings.Cut(kernel, "-")
	if r, err = s.sawLibrary(r, outcomes["told"]); err != nil {
		return err
	}
	sums := map[string]*tally{rxe: {}, siw: {}}
	for _, j := range jobs[1 : len(jobs)-1] {
		if err := s.add(sums, outcomes[j.name], deviceOfTest); err != nil {
			return fmt.Errorf("%s: %w", j.name, err)
		}
	}
	s.sawTallies(r, tests, sums)
	sums = map[string]*tally{}
	if err := s.add(sums, outcomes["conformance"], deviceOfScenario); err != nil {
		return fmt.Errorf("conformance: %w", err)
	}
	s.sawTallies(r, scenarios, sums)
	return nil
}

func (s *session) add(sums map[string]*tally, o outcome, which func(string) string) error {
	more, err := count(o, which)
	if err != nil {
		return err
	}
	for device, t := range more {
		sum := sums[device]
		if sum == nil {
			sum = new(tally)
			sums[device] = sum
		}
		sum.passed += t.passed
		sum.skipped += t.skipped
		sum.failures = append(sum.failures, t.failures...)
	}
	return nil
}

func (s *session) sawTallies(r record, what string, sums map[string]*tally) {
	r.What = what
	for _, device := range []string{rxe, siw} {
		if t := sums[device]; t != nil && t.passed+t.skipped+len(t.failures) > 0 {
			r.Device = device
			s.saw(t.into(r))
		}
	}
}

// sawLibrary writes down what told said: that a library was loaded, of which release, and which devices it finds.
func (s *session) sawLibrary(r record, o outcome) (record, error) {
	r.What = library
	if o.status != "0" {
		return r, fmt.Errorf("no library was loaded: %s", tail(o.output, 3))
	}
	var release string
	var devices []string
	for line := range strings.Lines(o.output) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "release":
			release = rest
		case "device":
			devices = append(devices, rest)
		}
	}
	switch {
	case release == "":
		return r, fmt.Errorf("the library does not tell its release: %s", tail(o.output, 5))
	case r.Release == "":
		r.Release = release
	case !sameRelease(r.Release, release):
		return r, fmt.Errorf("the library says that it is of release %s, and not of %s", release, r.Release)
	}
	seen := r
	seen.Passed, seen.Note = 1, "devices: "+strings.Join(devices, ", ")
	s.saw(seen)
	return r, nil
}

// sameRelease: the file's name has a third number, which some distributions fill.
func sameRelease(wanted, told string) bool {
	return told == wanted || strings.HasPrefix(told, wanted+".")
}
