package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/headers"
)

const aboutFacts = `Reads a header and prints what it declares as JSON: records with sizes,
alignments and offsets, enumerations, integer macros, functions. What it includes
of its own counts as its own; of the system's headers there are only the types that
the rest needs.

  gen facts                        for amd64 and the system of the headers, schema abifacts/1
  gen facts -target linux/s390x    for another target
  gen facts -all -o 65.0.json.gz   for every target there is, in one file

The answer depends on the headers alone, not on the machine or its compiler, so
facts can be made for any target on any machine. gen generate and gen diff take
a facts file where they take headers.

With a clone of rdma-core at hand, -clone reads the headers of its releases from
git, without touching a work tree, and writes a file for each into a folder:

  gen facts -clone ~/rdma-core -tags 'v[5-9]?.0' -all -o facts/

` + aboutStatus

func runFacts(args []string, stdout io.Writer) error {
	var in input
	flags := newFlags("facts", "", aboutFacts, &in)
	in.foldersFlag(flags)
	in.targetsFlag(flags)
	in.factsFlags(flags)
	in.versionFlag(flags)
	all := flags.Bool("all", false, "every target: those of the Go bindings, 32-bit ones, and musl where it differs")
	out := flags.String("o", "", "the `file` to write (compressed if it ends in .gz), with -clone the folder (default: print)")
	clone := flags.String("clone", "", "a `repository`, a clone of rdma-core, bare or not")
	tags := flags.String("tags", "v*", "which of the clone's tags, a `pattern` as git tag takes it")
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	switch {
	case *all && len(in.targets) > 0:
		return usagef("-all and -target exclude each other")
	case *clone == "" && *tags != "v*":
		return usagef("-tags names tags of a clone: it goes with -clone")
	case *clone != "" && *out == "":
		return usagef("-clone writes a file for each release: name the folder with -o")
	case *clone != "" && (in.facts != "" || len(in.dirs) > 0 || in.version != ""):
		return usagef("-clone says where the headers are and which: it does not go with -I, -facts or -version")
	}
	switch {
	case *clone != "" && *all:
		in.targets = allTargets("linux")
	case *clone != "":
	case *all && in.facts == "":
		dirs, err := in.includeDirs()
		if err != nil {
			return err
		}
		in.targets = allTargets(headersSystem(dirs))
	case in.facts == "":
		if err := in.defaultTarget(); err != nil {
			return err
		}
	}
	if *clone != "" {
		return in.factsOfClone(*clone, *tags, *out, stdout)
	}
	facts, err := in.read()
	if err != nil {
		return err
	}
	if *out == "" {
		return writeFacts(stdout, facts)
	}
	return writeFactsFile(*out, facts)
}

// allTargets names the targets of one system whose facts differ.
func allTargets(system string) list {
	var names list
	for _, t := range headers.DistinctTargets(system) {
		names = append(names, t.String())
	}
	return names
}

// writeFacts writes one target's facts plainly, and those of more as a set.
func writeFacts(w io.Writer, all []*abi.Facts) error {
	if len(all) == 1 {
		return all[0].Write(w)
	}
	return abi.WriteSet(w, all)
}

// writeFactsFile writes facts into a file, compressed if its name says so. The
// file is replaced whole or not at all.
func writeFactsFile(name string, all []*abi.Facts) (err error) {
	var text bytes.Buffer
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewWriterLevel(&text, gzip.BestCompression)
		if err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		if err := writeFacts(z, all); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	} else if err := writeFacts(&text, all); err != nil {
		return err
	}
	return replaceFile(name, text.Bytes())
}

// replaceFile gives a file another content, or leaves it as it is. The file
// keeps its mode, a link goes on leading to it, and what is not a regular file,
// such as a device or a pipe, is written to.
func replaceFile(name string, text []byte) (err error) {
	mode, place := fs.FileMode(0o644), name
	_, linkErr := os.Lstat(name)
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("writing %s: it is a folder; name a file", name)
	case err == nil:
		mode = info.Mode().Perm()
		place, err = filepath.EvalSymlinks(name)
	}
	if err == nil && !info.Mode().IsRegular() || err != nil && linkErr == nil {
		// Nothing to put another file in the place of, or a link that leads nowhere yet.
		if err := os.WriteFile(name, text, mode); err != nil {
			return fmt.Errorf("writing %s: %w", name, cause(err))
		}
		return nil
	}
	file, err := os.CreateTemp(filepath.Dir(place), ".gen-*")
	if err != nil {
		return fmt.Errorf("writing %s: its folder takes no files: %w", name, cause(err))
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
			err = fmt.Errorf("writing %s: %w", name, cause(err))
		}
	}()
	if _, err := file.Write(text); err != nil {
		return err
	}
	if err := file.Chmod(mode); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), place)
}

// cause is an error without the name of a file that the user has not named.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
