package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/headers"
)

// pageOf is the page with its tables made from records. Its words are written by hand, and stay.
func pageOf(root string, seen []record) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, pageFile))
	if err != nil {
		return nil, err
	}
	var missing []string
	put := func(name, table string) {
		between := regexp.MustCompile(`(?s)(<!-- made by test/systems: ` + name + ` -->\n\n).*?(\n<!-- end -->)`)
		if !between.Match(text) {
			missing = append(missing, name)
			return
		}
		text = between.ReplaceAllFunc(text, func(all []byte) []byte {
			parts := between.FindSubmatch(all)
			return slices.Concat(parts[1], []byte(table), parts[2])
		})
	}
	put("systems", systemsTable(headers.Systems(), seen))
	for _, p := range parts {
		if p.table {
			put(p.name, partTable(p.name, seen))
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s has no place for %s", pageFile, strings.Join(missing, ", "))
	}
	return text, nil
}

// An origin is how something was shown for a system, the best first.
type origin int

const (
	ownPackages origin = iota
	sameOfAnother
	givenBuild
	onLinux
	factsOnly
)

func (o origin) words(other string) string {
	switch o {
	case ownPackages:
		return "the system's own packages"
	case sameOfAnother:
		return "the same release of " + other
	case onLinux:
		return "its layouts and calls, compiled for Linux"
	case givenBuild:
		return "a build of the release"
	}
	return "facts only"
}

// systemsTable is a row for each system.
func systemsTable(systems []headers.System, seen []record) string {
	rows := [][]string{{"system", "release", "facts equal the C compiler's", "`go generate` covers it", "library", "rxe0", "siw0", "shown by", "last run"}}
	for _, s := range systems {
		name := s.Name + " " + s.Version
		factsOf, _, _ := best(name, s.Release, facts, seen)
		covered, _, _ := best(name, s.Release, generate, seen)
		loaded, from, other := best(name, s.Release, library, seen)
		ran, fromTests, otherTests := best(name, s.Release, tests, seen)
		held, fromHeld, otherHeld := best(name, s.Release, scenarios, seen)
		if fromTests > from {
			from, other = fromTests, otherTests
		}
		if from == factsOnly {
			from, other = fromHeld, otherHeld
		}
		all := slices.Concat(factsOf, covered, loaded, ran, held)
		rows = append(rows, []string{
			name, s.Release, byProcessor(factsOf), yes(covered), told(loaded), devices(rxe, ran, held), devices(siw, ran, held),
			from.words(other), newest(all),
		})
	}
	return markdown(rows)
}

// best is the records of a kind that say most about a system: with its own packages, else with the same release of
// another system, else with what was given for that release.
func best(name, release, what string, seen []record) (found []record, from origin, other string) {
	by := map[origin][]record{}
	for _, r := range seen {
		if r.What != what || r.Release != release || !counts(r, name) {
			continue
		}
		o := sameOfAnother
		switch r.System {
		case name:
			o = ownPackages
		case "":
			o = givenBuild
		}
		if r.Part == "freebsd" {
			o = onLinux
		}
		by[o] = append(by[o], r)
	}
	for o := ownPackages; o < factsOnly; o++ {
		if len(by[o]) > 0 {
			if o == sameOfAnother {
				other = by[o][0].System
				by[o] = slices.DeleteFunc(by[o], func(r record) bool { return r.System != other })
			}
			return by[o], o, other
		}
	}
	return nil, factsOnly, ""
}

// counts tells whether a record may stand for a system: what a kernel or a processor of its own was needed for does not,
// nor what another C library was.
func counts(r record, name string) bool {
	switch r.Part {
	case "own", "headers", "libraries", "suites", "musl", "freebsd":
	default:
		return false
	}
	return r.CLibrary == "" || strings.HasPrefix(r.CLibrary, "musl") == strings.HasPrefix(name, "alpine ")
}

const notRun = "not run"

// byProcessor names the processors that something was seen for.
func byProcessor(all []record) string {
	var good []string
	for _, r := range all {
		if !r.good() {
			return "no: " + r.Processor
		}
		if r.Processor != "" && !slices.Contains(good, r.Processor) {
			good = append(good, r.Processor)
		}
	}
	if len(all) == 0 {
		return notRun
	}
	return "yes: " + strings.Join(good, ", ")
}

func yes(all []record) string {
	if len(all) == 0 {
		return notRun
	}
	if slices.ContainsFunc(all, func(r record) bool { return !r.good() }) {
		return "no"
	}
	return "yes"
}

func told(all []record) string {
	if text := yes(all); text != "yes" {
		return text
	}
	return "loaded, told"
}

// devices is how the tests and scenarios of a device ended, with and without cgo.
func devices(device string, ran, held []record) string {
	var words, cgo []string
	numbers := func(all []record, unit string) {
		passed, failures, any := 0, []string(nil), false
		for _, r := range all {
			if r.Device != device {
				continue
			}
			if any = true; !slices.Contains(cgo, r.CGO) {
				cgo = append(cgo, r.CGO)
			}
			passed = max(passed, r.Passed)
			for _, f := range r.Failures {
				if !slices.Contains(failures, f) {
					failures = append(failures, f)
				}
			}
		}
		switch {
		case len(failures) > 0:
			words = append(words, fmt.Sprintf("%d of %d %s failed: %s", len(failures), passed+len(failures), unit, strings.Join(failures, ", ")))
		case any:
			words = append(words, fmt.Sprintf("%d %s", passed, unit))
		}
	}
	numbers(ran, "tests")
	numbers(held, "scenarios")
	if len(words) == 0 {
		return notRun
	}
	slices.Sort(cgo)
	return strings.Join(words, ", ") + "; CGO " + strings.Join(cgo, " and ")
}

func newest(all []record) string {
	date := ""
	for _, r := range all {
		date = max(date, r.Date)
	}
	if date == "" {
		return "-"
	}
	return date
}

// partTable is a row for each record of a part, with the columns that any of them has something in.
func partTable(name string, seen []record) string {
	columns := []struct {
		title string
		of    func(record) string
	}{
		{"what", func(r record) string { return r.What }},
		{"system", func(r record) string { return r.System }},
		{"release", func(r record) string { return r.Release }},
		{"processor", func(r record) string { return r.Processor }},
		{"C library", func(r record) string { return r.CLibrary }},
		{"CGO", func(r record) string { return r.CGO }},
		{"kernel", func(r record) string { return r.Kernel }},
		{"device", func(r record) string { return r.Device }},
		{"Go", func(r record) string { return r.Go }},
		{"outcome", ended},
		{"last run", func(r record) string { return r.Date }},
	}
	var rows [][]string
	var mine []record
	for _, r := range seen {
		if r.Part == name {
			mine = append(mine, r)
		}
	}
	if len(mine) == 0 {
		return "Nothing was run yet.\n"
	}
	rows = append(rows, nil)
	for range mine {
		rows = append(rows, nil)
	}
	for _, c := range columns {
		if !slices.ContainsFunc(mine, func(r record) bool { return c.of(r) != "" }) {
			continue
		}
		rows[0] = append(rows[0], c.title)
		for i, r := range mine {
			rows[i+1] = append(rows[i+1], c.of(r))
		}
	}
	return markdown(rows)
}

func ended(r record) string {
	if !r.ran() {
		return "not run: " + r.Note
	}
	var words []string
	switch {
	case r.Failed > 0:
		words = append(words, fmt.Sprintf("%d of %d failed: %s", r.Failed, r.Passed+r.Failed, strings.Join(r.Failures, ", ")))
	case r.Passed == 1 && r.Skipped == 0:
		words = append(words, "yes")
	default:
		words = append(words, fmt.Sprintf("%d passed", r.Passed))
	}
	if r.Skipped > 0 {
		words = append(words, fmt.Sprintf("%d not supported or skipped", r.Skipped))
	}
	if r.Note != "" {
		words = append(words, r.Note)
	}
	return strings.Join(words, "; ")
}

func markdown(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		for j := range row {
			row[j] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(row[j])
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	return b.String()
}
