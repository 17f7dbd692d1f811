package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/headers"
)

// runHeaders compares headers that are given with what is known of their release.
func runHeaders(s *session) error {
	for _, p := range s.headers {
		if err := s.compareHeaders(record{Release: p.release}, p.path); err != nil {
			return fmt.Errorf("headers of %s: %w", p.release, err)
		}
	}
	return nil
}

// compilers are the C compilers that the facts of a target are held to, where they are.
var compilers = map[string]string{
	"linux/amd64": "cc", "linux/386": "i686-linux-gnu-gcc", "linux/arm64": "aarch64-linux-gnu-gcc", "linux/ppc64le": "powerpc64le-linux-gnu-gcc",
	"linux/riscv64": "riscv64-linux-gnu-gcc", "linux/s390x": "s390x-linux-gnu-gcc",
}

// compareHeaders writes down whether the facts of a release are what a folder of headers says, to C compilers too, and
// whether the bindings cover them.
func (s *session) compareHeaders(r record, include string) error {
	gen, err := s.generator()
	if err != nil {
		return err
	}
	if !slices.Contains(headers.Releases(), r.Release) {
		return fmt.Errorf("there are no facts of release %s; there are those of %s", r.Release, strings.Join(headers.Releases(), ", "))
	}
	for _, t := range headers.DistinctTargets("linux") {
		compiler := compilers[t.String()]
		if runtime.GOARCH == t.Arch && t.String() == "linux/"+t.Arch {
			compiler = "cc"
		}
		if _, err := exec.LookPath(compiler); err != nil {
			fmt.Printf("    facts of %s are compared with no compiler: there is none here (%s)\n", t, cmp.Or(compiler, "none is known"))
			continue
		}
		seen := r
		seen.What, seen.Processor = facts, t.Arch
		if err := s.compareFacts(gen, t, compiler, r.Release, include); err != nil {
			seen.Failed, seen.Failures = 1, []string{tail(err.Error(), 5)}
		} else {
			seen.Passed = 1
		}
		s.saw(seen)
	}
	r.What = generate
	if _, err := s.command(nil, gen, "check", "-o", "ibv", "-I", include); err != nil {
		r.Failed, r.Failures = 1, []string{tail(err.Error(), 5)}
	} else {
		r.Passed = 1
	}
	s.saw(r)
	return nil
}

// compareFacts holds the facts of a release to its headers, and what was read from these to the C compiler.
func (s *session) compareFacts(gen string, t headers.Target, compiler, release, include string) error {
	if _, err := s.command(nil, gen, "diff", "-target", t.String(), release, include); err != nil {
		return err
	}
	text, err := s.command(nil, gen, "assert", "-I", include, "-target", t.String())
	if err != nil {
		return err
	}
	file := filepath.Join(s.work, "assert.c")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	_, err = s.command(nil, compiler, "-std=gnu11", "-fsyntax-only", "-I", include, file)
	return err
}

// generator builds the generator once.
func (s *session) generator() (string, error) {
	if s.gen == "" {
		file := filepath.Join(s.work, "gen")
		if _, err := s.command(nil, "go", "build", "-o", file, "./gen"); err != nil {
			return "", err
		}
		s.gen = file
	}
	return s.gen, nil
}
