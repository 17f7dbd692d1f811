package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/headers"
)

const aboutDiff = `Tells what changed from OLD to NEW: what was added, has grown, was renumbered,
changed or was removed. Each of the two is a folder of headers, a file that gen
facts wrote, or a release whose facts come with the generator:

  gen diff 44.0 65.0
  gen diff 44.0 /usr/include
  gen diff -target linux/s390x old.json new.json
  gen diff 65.0@linux/amd64 65.0@linux/arm64

A target behind an @ is for that side alone; -target is for both. The default is
linux/amd64, for a folder amd64 and the system of its headers.

The exit status is 0 if nothing changed, 1 if there are additions only, which
programs built for OLD live with, 2 if something breaks them, and 3 if the two
could not be compared. A record that grew at its end, or like verbs_context at its
front, is an addition.
` + aboutGoRun

// exitError is an exit status that says something, without being a failure.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func runDiff(args []string, stdout io.Writer) error {
	var in input
	fs := newFlags("diff", " OLD NEW", aboutDiff, &in)
	in.targetFlag(fs)
	asJSON := fs.Bool("json", false, "print the changes as JSON")
	sides, err := parseSides(fs, args, stdout)
	if err != nil {
		return err
	}
	if len(in.targets) > 1 {
		return usagef("gen diff takes one -target, not %d; OLD@TARGET and NEW@TARGET name one for each", len(in.targets))
	}
	var loaded [2]*abi.Facts
	for i, side := range sides {
		if loaded[i], err = in.side(side); err != nil {
			return err
		}
	}
	changes := abi.Diff(loaded[0], loaded[1])
	if *asJSON {
		if changes == nil {
			changes = []abi.Change{}
		}
		enc := json.NewEncoder(stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		if err := enc.Encode(changes); err != nil {
			return err
		}
	} else {
		printChanges(stdout, changes)
	}
	return statusOf(changes)
}

// parseSides parses the flags and the two arguments, in either order.
func parseSides(fs *flag.FlagSet, args []string, stdout io.Writer) ([]string, error) {
	var sides []string
	for {
		err := parseSome(fs, args, stdout)
		if err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			break
		}
		sides, args = append(sides, fs.Arg(0)), fs.Args()[1:]
	}
	if len(sides) != 2 {
		return nil, usagef("gen diff compares two, OLD and NEW, not %d; gen diff -h explains", len(sides))
	}
	return sides, nil
}

func statusOf(changes []abi.Change) error {
	status := exitError(0)
	for _, c := range changes {
		if c.Breaking() {
			return exitError(2)
		}
		status = 1
	}
	if status == 0 {
		return nil
	}
	return status
}

// side loads the facts that one argument names.
func (in *input) side(arg string) (*abi.Facts, error) {
	one := *in
	name, target, own := strings.Cut(arg, "@")
	if own {
		one.targets = list{target}
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		one.dirs = list{name}
	case err == nil:
		one.facts = name
	default:
		return one.release(name)
	}
	return one.readOne()
}

// release takes the facts of a release that come with the generator.
func (in *input) release(name string) (*abi.Facts, error) {
	text, err := headers.Facts(name)
	if err != nil {
		return nil, fmt.Errorf("%s is neither a folder of headers nor a facts file nor a known release (%s)", name, strings.Join(headers.Releases(), ", "))
	}
	all, err := abi.ReadAll(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if len(in.targets) == 0 {
		in.targets = list{"linux/amd64"}
	}
	t, err := headers.ParseTarget(in.targets[0])
	if err != nil {
		return nil, usageError{err}
	}
	f := factsOf(all, t)
	switch {
	case f == nil:
		return nil, fmt.Errorf("there are no facts of release %s for %s, but for %s; name one of them with -target, or behind an @ for one side: %s@%s",
			name, t, targetsOf(all), name, targetsOf(all[:1]))
	case f.Header != in.header:
		return nil, fmt.Errorf("the facts of release %s are of %s, not of %s", name, f.Header, in.header)
	}
	return f, nil
}

// printChanges lists the changes for people, kind by kind.
func printChanges(w io.Writer, changes []abi.Change) {
	if len(changes) == 0 {
		fmt.Fprintln(w, "nothing changed")
		return
	}
	var kind abi.ChangeKind
	for _, c := range changes {
		if c.Kind != kind {
			kind = c.Kind
			fmt.Fprintf(w, "%s:\n", kind)
		}
		fmt.Fprintf(w, "  %s %s\n", c.What, c.Name)
		for _, d := range c.Details {
			fmt.Fprintf(w, "      %s\n", d)
		}
	}
}
