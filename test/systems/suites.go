package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/headers"
	"github.com/goverbs/goverbs/internal/suites"
)

// suitePackages are what a suite's root has: the libraries, what cgo wants to compile with them, and the programs that the
// tests make containers and the like with.
var suitePackages = []string{
	"libibverbs-dev", "ibverbs-providers", "librdmacm-dev", "libc6-dev",
	"dash", "coreutils", "util-linux", "mount", "iproute2",
}

// connections: the tests of librdmacm's generated package on rxe0.
const connections = "connections"

// runSuites enters the packages of each suite of this machine's distribution, in the guest, and runs the device tests with
// nothing else there; with cgo they are compiled beside that suite's C library, because a newer one's needs a newer one.
func runSuites(s *session) error {
	return s.eachSuite(func(suite headers.System) error {
		root, err := suiteRoot(s, suite)
		if err != nil {
			return err
		}
		return s.suite(suite, root)
	})
}

// runFetch has the packages that runSuites enters, so that they are there when processors have time for it.
func runFetch(s *session) error {
	return s.eachSuite(func(suite headers.System) error {
		_, err := suiteRoot(s, suite)
		return err
	})
}

// eachSuite does something for each suite of this machine's distribution, or the oldest and the newest. A distribution
// that has none is told of, and is no error.
func (s *session) eachSuite(do func(headers.System) error) error {
	source, err := suites.Archive()
	if err != nil {
		s.saw(record{What: library, Note: err.Error()})
		return nil
	}
	all := source.Suites()
	if s.brief && len(all) > 2 {
		all = []headers.System{all[0], all[len(all)-1]}
	}
	var failed []error
	for _, suite := range all {
		if err := do(suite); err != nil {
			failed = append(failed, fmt.Errorf("%s %s: %w", suite.Name, suite.Version, err))
		}
	}
	return errors.Join(failed...)
}

func suiteRoot(s *session, suite headers.System) (string, error) {
	return suites.Root(s.ctx, suite.Version, runtime.GOARCH, suitePackages...)
}

func (s *session) suite(suite headers.System, root string) (err error) {
	r := record{System: suite.Name + " " + suite.Version}
	if r.Release, err = libraryRelease(root); err != nil {
		return err
	}
	if !s.brief { // a test of the generator does that for every suite
		if err := s.suiteHeaders(r, suite); err != nil {
			return err
		}
	}
	if r.CLibrary, err = glibc(root); err != nil {
		return err
	}
	for _, cgo := range s.cgo() {
		b := build{arch: runtime.GOARCH, cgo: cgo}
		if cgo == "1" {
			if b.cc, err = compilerFor(root); err != nil {
				return err
			}
		}
		if err := s.deviceTests(r, b, suitePlace(root)); err != nil {
			return fmt.Errorf("CGO_ENABLED=%s: %w", cgo, err)
		}
		if err := s.connections(r, b, root); err != nil {
			return fmt.Errorf("librdmacm, CGO_ENABLED=%s: %w", cgo, err)
		}
	}
	return nil
}

// compilerFor is this machine's C compiler with a root's headers and libraries. Told of the root alone it takes the machine's
// own libraries first, which are beside it.
func compilerFor(root string) (string, error) {
	starts, err := filepath.Glob(filepath.Join(root, "usr/lib/*/crt1.o"))
	if err != nil || len(starts) != 1 {
		return "", fmt.Errorf("there is no one crt1.o in %s, but %v (%v)", root, starts, err)
	}
	return fmt.Sprintf("cc --sysroot=%s -B%s/", root, filepath.Dir(starts[0])), nil
}

// suitePlace is a root in the guest. It is a mount, because mount namespaces want to begin at one; and its shell has the name
// that installing would have given it.
func suitePlace(root string) place {
	return place{guest: "uml", root: root, before: []string{
		"mount --bind " + quote(root) + " " + quote(root),
		"ln -sf dash " + quote(filepath.Join(root, "bin/sh")),
	}}
}

// suiteHeaders compares the headers of a suite, apart from those of its C library: other processors' compilers have their own.
func (s *session) suiteHeaders(r record, suite headers.System) error {
	if !slices.Contains(headers.Releases(), r.Release) {
		r.What, r.Note = facts, fmt.Sprintf("it has come to %s since %s, and there are no facts of that", r.Release, suite.Release)
		s.saw(r)
		return nil
	}
	debs, err := suites.Download(s.ctx, suite.Version, runtime.GOARCH, "libibverbs-dev")
	if err != nil {
		return err
	}
	dir := filepath.Join(s.work, "headers of "+suite.Version)
	if err := suites.Unpack(s.ctx, dir, debs...); err != nil {
		return err
	}
	return s.compareHeaders(r, filepath.Join(dir, "usr", "include"))
}

var libraryFile = regexp.MustCompile(`/libibverbs\.so\.1\.\d+\.(\d+\.\d+)$`)

// libraryRelease is the release that the libibverbs in a root says it is of, by its name: libibverbs.so.1.14.44.0.
func libraryRelease(root string) (string, error) {
	files, err := filepath.Glob(filepath.Join(root, "usr/lib/*/libibverbs.so.1.*"))
	if err != nil || len(files) != 1 || !libraryFile.MatchString(files[0]) {
		return "", fmt.Errorf("there is no one libibverbs.so.1.x.RELEASE in %s, but %v (%v)", root, files, err)
	}
	return libraryFile.FindStringSubmatch(files[0])[1], nil
}

var glibcVersion = regexp.MustCompile(`GNU C Library .* release version (\d+\.\d+)`)

// glibc is the C library in a root, by what it would say if it was started.
func glibc(root string) (string, error) {
	files, err := filepath.Glob(filepath.Join(root, "lib/*/libc.so.6"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("there is no one libc.so.6 in %s, but %v (%v)", root, files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return "", err
	}
	m := glibcVersion.FindSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("%s does not tell its version", files[0])
	}
	return "glibc " + string(m[1]), nil
}

// connections runs the tests of librdmacm, which connects on the first device that has the address: there is siw0, too.
func (s *session) connections(r record, b build, root string) error {
	made, err := s.binaries(b)
	if err != nil {
		return err
	}
	test := filepath.Join(made.dir, "rdmacm.test")
	if _, err := s.command(b.env(), "go", "test", "-c", "-tags", "device", "-o", test, "./test/rdmacm"); err != nil {
		return err
	}
	p := suitePlace(root)
	p.before = append(p.before, "rdma link delete "+siw)
	outcomes, kernel, err := p.run(s, made.dir, []job{{name: connections, argv: []string{test, "-test.v=test2json", "-test.short"}}})
	if err != nil {
		return err
	}
	r.Processor, r.CGO, r.Go = b.arch, b.cgo, made.goVersion
	r.Kernel, _, _ = strings.Cut(kernel, "-")
	sums := map[string]*tally{}
	if err := s.add(sums, outcomes[connections], func(test string) string {
		if strings.Contains(test, "/") {
			return ""
		}
		return rxe
	}); err != nil {
		return err
	}
	s.sawTallies(r, connections, sums)
	return nil
}
