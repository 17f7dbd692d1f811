package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const aboutCheck = `Tells whether the Go files in a folder are what gen generate would write now, from
the headers and from what is known already. It writes nothing. Where the files
differ it prints a diff, - for what is there and + for what ought to be. Flags that
are not given are as they were when the files were written.

The exit status is 0 if every byte agrees, 1 if the files differ or the headers
contradict them, 2 if the arguments make no sense, and 3 if the two could not be
compared, as when a header is not found or the folder has no generated files.
` + aboutGoRun

// aboutGoRun is for commands whose exit status is an answer.
const aboutGoRun = "`go run` hides it: it prints \"exit status N\" and returns 1. `go tool gen` and a built\nprogram return it."

// notCompared is the exit status when gen check or gen diff has nothing to
// compare: 1, and for gen diff 2, tell how a comparison ended.
const notCompared = 3

// mostLines is how many lines of a file's differences are shown: who needs more
// has other tools.
const mostLines = 60

// differsError says that a comparison was made, and what it found.
type differsError struct{ error }

func runCheck(args []string, stdout io.Writer) error {
	var in input
	b, flags := in.bindingsFlags("check", aboutCheck)
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	if err := b.recall(flags); err != nil {
		return err
	}
	if err := b.check(in.header); err != nil {
		return err
	}
	known, err := b.knownOf(in.header)
	if err != nil {
		return err
	}
	if known == nil {
		if there, err := b.leftovers(nil); err != nil {
			return err
		} else if len(there) == 0 {
			return fmt.Errorf("nothing generated is in %s: name the folder of the generated files with -o, or write them with gen generate", b.folder())
		}
	}
	read, err := in.readForGo()
	if err != nil {
		return err
	}
	p, err := merge(known, read)
	if err != nil {
		return differsError{fmt.Errorf("%s cannot be right: %w", b.dir, err)}
	}
	if len(p.added) > 0 {
		fmt.Fprintf(stdout, "%s adds:\n", named(in.header, read))
		reportAdded(stdout, p)
	}
	from, err := b.importFor(in.header, p.facts)
	if err != nil {
		return err
	}
	files, err := b.goFiles(in.header, from, p.facts)
	if err != nil {
		return err
	}
	stale, err := b.stale(stdout, files)
	if err != nil {
		return err
	}
	if stale > 0 {
		return differsError{fmt.Errorf("%d of %d files in %s are not what %s gives; run gen generate with the same flags and look at the change", stale, len(files), b.dir, in.header)}
	}
	fmt.Fprintf(stdout, "%d files in %s are right; %s is covered\n", len(files), b.dir, named(in.header, read))
	return nil
}

// stale prints how the files differ from what they ought to be, and counts
// those that do.
func (b *bindings) stale(stdout io.Writer, files map[string][]byte) (n int, err error) {
	for _, name := range sortedNames(files) {
		path := filepath.Join(b.dir, name)
		have, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return n, fmt.Errorf("comparing with what is there: %w", err)
		}
		if err == nil && string(have) == string(files[name]) {
			continue
		}
		n++
		difference := udiff.Unified(path, path+", as it ought to be", string(have), string(files[name]))
		lines := slices.Collect(strings.Lines(difference))
		if len(lines) > mostLines {
			lines = append(lines[:mostLines], "... and more\n")
		}
		if _, err := io.WriteString(stdout, strings.Join(lines, "")); err != nil {
			return n, err
		}
	}
	old, err := b.leftovers(files)
	for _, path := range old {
		fmt.Fprintf(stdout, "%s ought not to be there\n", path)
	}
	return n + len(old), err
}
