package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// mutant is a fault on purpose.
type mutant struct {
	name string // what is broken, in words
	file string
	// old is in the file once, and new stands in its place.
	old, new string
	// tests is the packages whose tests are asked besides the usual ones, before them.
	tests []string
}

// usual is the packages whose tests notice.
var usual = []string{"./conformance", "./ibvtest", "./conformance/model"}

// outcome is what became of a mutant.
type outcome struct {
	mutant
	noticed string // the test that failed, or ""
	err     error  // it could not be tried
}

// String is a line.
func (o outcome) String() string {
	switch {
	case o.err != nil:
		return fmt.Sprintf("ERROR     %s: %v", o.name, o.err)
	case o.noticed == "":
		return "SURVIVED  " + o.name
	}
	return fmt.Sprintf("noticed   %s: %s", o.name, o.noticed)
}

// patience is how long the tests of a package may take: what hangs has noticed too.
const patience = 2 * time.Minute

// try breaks the file, and runs tests until one fails.
func try(m mutant, folder string) outcome {
	o := outcome{mutant: m}
	overlay, err := m.overlay(folder)
	if err != nil {
		o.err = err
		return o
	}
	for _, pkg := range append(m.tests[:len(m.tests):len(m.tests)], usual...) {
		if o.noticed, o.err = fails(pkg, overlay); o.noticed != "" || o.err != nil {
			return o
		}
	}
	return o
}

// overlay writes the broken file and what tells the go command of it.
func (m mutant) overlay(folder string) (string, error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		return "", fmt.Errorf("%s has this %d times, and not once: %s", m.file, n, m.old)
	}
	here, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	own, err := os.MkdirTemp(folder, "")
	if err != nil {
		return "", err
	}
	broken := filepath.Join(own, filepath.Base(m.file))
	if err := os.WriteFile(broken, []byte(strings.Replace(string(source), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{here: broken}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(own, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// noOverlay is an overlay that changes nothing.
func noOverlay(folder string) (string, error) {
	overlay := filepath.Join(folder, "none.json")
	return overlay, os.WriteFile(overlay, []byte("{}"), 0o600)
}

// fails says which test of a package fails, or "" if none does.
func fails(pkg, overlay string) (string, error) {
	binary := filepath.Join(filepath.Dir(overlay), "test")
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("it does not compile: %w\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.short", "-test.failfast")
	cmd.Dir = pkg
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return "", nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return pkg + ": the tests do not end", nil
	}
	if found := failedTest.FindAllStringSubmatch(string(out), -1); len(found) > 0 {
		return pkg + ": " + found[len(found)-1][1], nil
	}
	return pkg + ": the tests crash", nil
}

// failedTest is how a failed test is named; the last one of nested ones says most.
var failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
