package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const aboutCheck = `Tells whether the Go files in a folder are what the headers give. It writes
nothing; it prints where they differ and fails if they do.`

func runCheck(args []string, stdout io.Writer) error {
	var in input
	out, parse := in.outputFlags("check", aboutCheck)
	if err := parse(args); err != nil {
		return err
	}
	files, err := in.goFiles(out)
	if err != nil {
		return err
	}
	stale := 0
	for _, name := range sortedNames(files) {
		path := filepath.Join(out.dir, name)
		have, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if string(have) != string(files[name]) {
			stale++
			fmt.Fprintf(stdout, "%s differs from what the headers give:\n%s", path, firstDifference(string(have), string(files[name])))
		}
	}
	if stale > 0 {
		return fmt.Errorf("%d of %d files in %s are not what %s gives; run go generate ./... and look at the change", stale, len(files), out.dir, in.header)
	}
	fmt.Fprintf(stdout, "%d files in %s are what %s gives\n", len(files), out.dir, in.header)
	return nil
}

// firstDifference shows the first lines that are not the same.
func firstDifference(have, want string) string {
	h, w := strings.Split(have, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(h) && i < len(w) && h[i] == w[i] {
		i++
	}
	show := func(mark string, lines []string) string {
		var b strings.Builder
		for _, l := range lines[min(i, len(lines)):min(i+5, len(lines))] {
			fmt.Fprintf(&b, "%s%s\n", mark, l)
		}
		return b.String()
	}
	return fmt.Sprintf("@@ line %d @@\n", i+1) + show("-", h) + show("+", w)
}
