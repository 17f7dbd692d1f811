package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What records tell of. Parts have more of their own.
const (
	// facts: what the project's facts of a release say is what its headers say, to the C compiler too.
	facts = "facts"
	// generate: gen check finds the headers covered by the bindings.
	generate = "generate"
	// library: libibverbs was loaded, and told its release.
	library = "library"
	// tests: the tests of ibv and rdma on a device.
	tests = "tests"
	// scenarios: the conformance suite's on a device.
	scenarios = "scenarios"
)

// A record is something that was run: what, with what, and how it ended.
type record struct {
	// Part is the part that saw it.
	Part string `json:"part"`
	What string `json:"what"`
	// System is the one whose own packages it was done with, as in headers/systems.txt: "debian trixie". It is empty for a
	// library or headers that were given.
	System  string `json:"system,omitempty"`
	Release string `json:"release,omitempty"` // of rdma-core: "56.1"
	// Processor is a GOARCH, CLibrary the name of a C library with its version: "glibc 2.36".
	Processor string `json:"processor,omitempty"`
	CLibrary  string `json:"clibrary,omitempty"`
	CGO       string `json:"cgo,omitempty"`    // "0" or "1"
	Device    string `json:"device,omitempty"` // "rxe0"
	Kernel    string `json:"kernel,omitempty"` // "6.1.172"
	Go        string `json:"go,omitempty"`     // "1.26.8"
	Passed    int    `json:"passed,omitempty"`
	Failed    int    `json:"failed,omitempty"`
	// Skipped are tests that did not run, and scenarios that the device may do without.
	Skipped  int      `json:"skipped,omitempty"`
	Failures []string `json:"failures,omitempty"` // their names
	// Note is what else was seen, or why it could not be run: then nothing passed and nothing failed.
	Note string `json:"note,omitempty"`
	Date string `json:"date"`
}

// key is what a record is about. A newer one of the same key takes its place: versions that only say how new something
// was do not count.
func (r record) key() string { return strings.Join(r.about(), "|") }

func (r record) about() []string {
	series := func(version string) string {
		f := strings.SplitN(version, ".", 3)
		return strings.Join(f[:min(2, len(f))], ".")
	}
	name, _, _ := strings.Cut(r.CLibrary, " ")
	return []string{r.Part, r.What, r.System, r.Release, r.Processor, name, r.CGO, r.Device, series(r.Kernel), series(r.Go)}
}

// covers tells whether it was run, and the other, which was not, is about the same, or about less than is known of what ran.
func (r record) covers(other record) bool {
	if !r.ran() || other.ran() {
		return false
	}
	mine := r.about()
	for i, field := range other.about() {
		if field != "" && field != mine[i] {
			return false
		}
	}
	return true
}

// ran tells whether anything was run at all.
func (r record) ran() bool { return r.Passed+r.Failed+r.Skipped > 0 }

// good tells whether it was run and all went well.
func (r record) good() bool { return r.Passed > 0 && r.Failed == 0 }

func (r record) String() string {
	words := []string{r.What}
	for _, w := range []string{r.System, r.Release, r.Processor, r.CLibrary, r.Device, r.Kernel} {
		if w != "" {
			words = append(words, w)
		}
	}
	if r.CGO != "" {
		words = append(words, "CGO_ENABLED="+r.CGO)
	}
	text := strings.Join(words, " ") + ": "
	if !r.ran() {
		return text + r.Note
	}
	text += fmt.Sprintf("%d passed, %d failed, %d skipped", r.Passed, r.Failed, r.Skipped)
	if len(r.Failures) > 0 {
		text += ": " + strings.Join(r.Failures, ", ")
	}
	if r.Note != "" {
		text += " (" + r.Note + ")"
	}
	return text
}

const (
	seenFile = "test/systems/seen.json"
	pageFile = "docs/systems.md"
)

// readSeen reads what was seen before, below the project's root.
func readSeen(root string) (all []record, err error) {
	text, err := os.ReadFile(filepath.Join(root, seenFile))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", seenFile, err)
	}
	return all, nil
}

// merge puts newer records in the place of older ones of the same key, and in order. What could not be run somewhere says
// nothing of what was run, and is left out.
func merge(old, newer []record) []record {
	given := slices.Concat(old, newer)
	at := map[string]record{}
	for _, r := range given {
		if !slices.ContainsFunc(given, func(other record) bool { return other.covers(r) }) {
			at[r.key()] = r
		}
	}
	all := make([]record, 0, len(at))
	for _, r := range at {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b record) int { return cmp.Compare(a.key(), b.key()) })
	return all
}

// writeDown merges records into the file of those, and makes the page from all.
func writeDown(root string, newer []record) error {
	old, err := readSeen(root)
	if err != nil {
		return err
	}
	all := merge(old, newer)
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, r := range all {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		b.Write(line)
		if i < len(all)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	if err := os.WriteFile(filepath.Join(root, seenFile), b.Bytes(), 0o644); err != nil {
		return err
	}
	page, err := pageOf(root, all)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, pageFile), page, 0o644)
}
