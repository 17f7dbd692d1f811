// Command systems shows with which releases of rdma-core, systems, kernels, processors and C libraries goverbs works. It
// runs what there is here, or what it is given, merges what it saw into seen.json beside its source, and writes
// docs/systems.md from that. What it did not see is in no table.
//
//	make systems                                                   # everything that can be run here
//	make systems PARTS=suites,own                                  # some of it
//	make systems LIBRARIES="39.0=/path/libibverbs.so.1 58.0=…"     # the device tests with each of these libraries
//	make systems HEADERS="39.0=/path/include"                      # the facts, beside a C compiler and these headers
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "systems:", err)
		os.Exit(1)
	}
}

func run() error {
	chosen := flag.String("parts", "", "the parts to run, with commas between them; all if empty:\n"+aboutParts())
	given := flag.String("libraries", "", "libraries to try, as RELEASE=PATH, with blanks between them; without -parts nothing else is run")
	include := flag.String("headers", "", "folders of headers to compare with, as RELEASE=FOLDER; without -parts nothing else is run")
	brief := flag.Bool("brief", false, "run the device tests once where it would be done in several ways")
	keep := flag.Bool("keep", true, "write down what was seen, in seen.json and docs/systems.md")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("no argument is wanted, and there is %q: see -h", flag.Arg(0))
	}
	s, err := newSession()
	if err != nil {
		return err
	}
	defer s.close()
	s.brief = *brief
	if s.libraries, err = pairs("-libraries", *given); err != nil {
		return err
	}
	if s.headers, err = pairs("-headers", *include); err != nil {
		return err
	}
	todo, err := chooseParts(*chosen, s)
	if err != nil {
		return err
	}
	// What was seen so far is written down, also when it is ended from outside.
	var stop context.CancelFunc
	s.ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var failed []error
	for _, p := range todo {
		s.part = p.name
		fmt.Printf("== %s: %s\n", p.name, p.about)
		if err := p.run(s); err != nil {
			fmt.Println("   ", err)
			failed = append(failed, fmt.Errorf("%s: %w", p.name, err))
		}
		if s.ctx.Err() != nil {
			break
		}
	}
	failed = append(failed, s.failures()...)
	if *keep {
		failed = append(failed, writeDown(s.root, s.seen))
	}
	return errors.Join(failed...)
}

// A pair is a release, and where something of it is.
type pair struct{ release, path string }

func pairs(flag, text string) (all []pair, err error) {
	for _, word := range strings.Fields(text) {
		release, path, ok := strings.Cut(word, "=")
		if !ok || release == "" {
			return nil, fmt.Errorf("%s: %q is not RELEASE=PATH, such as 61.0=/opt/rdma-core/lib/libibverbs.so.1", flag, word)
		}
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("%s: of release %s: %w", flag, release, err)
		}
		all = append(all, pair{release, path})
	}
	return all, nil
}

// chooseParts is the parts that are named, or those that what is given is for, or all.
func chooseParts(names string, s *session) (todo []part, err error) {
	if names == "" {
		for _, p := range parts {
			if given := s.given(); len(given) == 0 || slices.Contains(given, p.name) {
				todo = append(todo, p)
			}
		}
		return todo, nil
	}
	for _, name := range strings.Split(names, ",") {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no part %q; there are:\n%s", name, aboutParts())
		}
		todo = append(todo, parts[i])
	}
	return todo, nil
}

// given are the parts that what is given is for; none if nothing is.
func (s *session) given() (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(s.headers) > 0 {
		add("headers")
	}
	for _, p := range s.libraries {
		arch, err := muslArch(p.path)
		switch {
		case strings.HasPrefix(p.release, freeBSDRelease):
			add("freebsd")
		case err == nil && arch != "":
			add("musl")
		default:
			add("libraries")
		}
	}
	return names
}
