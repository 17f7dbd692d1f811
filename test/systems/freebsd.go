package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/headers"
)

const (
	// links: a program is linked so that it can load libraries, or so that it says how to.
	links = "links"

	freeBSDRelease = "freebsd-"
)

// fakeCgo is how a program for FreeBSD is built that loads libraries without cgo.
var fakeCgo = []string{"-tags", "goverbs_fakecgo", "-gcflags=github.com/ebitengine/purego/internal/fakecgo=-std"}

// runFreeBSD shows what can be shown of FreeBSD without a machine that runs it: programs for it are linked as it wants
// them, and its layouts and calls work with a libibverbs of these layouts that is given, compiled for Linux.
func runFreeBSD(s *session) error {
	if err := s.freeBSDCovered(); err != nil {
		return err
	}
	for _, arch := range []string{"amd64", "arm64"} {
		if err := s.freeBSDProgram(arch); err != nil {
			return err
		}
	}
	for _, p := range s.libraries {
		if !strings.HasPrefix(p.release, freeBSDRelease) {
			continue
		}
		for _, cgo := range s.cgo() {
			if err := s.freeBSDOnLinux(p, cgo); err != nil {
				return fmt.Errorf("release %s, CGO_ENABLED=%s: %w", p.release, cgo, err)
			}
		}
	}
	s.saw(record{What: scenarios, CLibrary: "libc.so.7", Note: "there is no FreeBSD kernel here, nor an emulator of one"})
	return nil
}

// freeBSDCovered compares the bindings with what the generator makes of the facts of FreeBSD's headers.
func (s *session) freeBSDCovered() error {
	gen, err := s.generator()
	if err != nil {
		return err
	}
	for _, system := range headers.Systems() {
		if !strings.HasPrefix(system.Release, freeBSDRelease) {
			continue
		}
		r := record{What: generate, System: system.Name + " " + system.Version, Release: system.Release}
		if _, err := s.command(nil, gen, "check", "-o", "ibv", "-facts", "headers/facts/"+system.Release+".json.gz"); err != nil {
			r.Failed, r.Failures = 1, []string{tail(err.Error(), 5)}
		} else {
			r.Passed = 1
		}
		s.saw(r)
	}
	return nil
}

// freeBSDProgram links a program without cgo, with the flags to load libraries and without.
func (s *session) freeBSDProgram(arch string) error {
	r := record{What: links, Processor: arch, CGO: "0"}
	version, err := s.command(nil, "go", "env", "GOVERSION")
	if err != nil {
		return err
	}
	r.Go = strings.TrimPrefix(strings.TrimSpace(version), "go")
	link := func(name string, flags ...string) (string, error) {
		file := filepath.Join(s.work, "freebsd-"+arch+name)
		args := slices.Concat([]string{"build"}, flags, []string{"-o", file, "./test/systems/told"})
		_, err := s.command([]string{"GOOS=freebsd", "GOARCH=" + arch, "CGO_ENABLED=0"}, "go", args...)
		return file, err
	}
	loading, err := link("-loading", fakeCgo...)
	if err == nil {
		r.Note, err = needsOfFreeBSD(loading)
	}
	if err == nil {
		var plain string
		if plain, err = link("-plain"); err == nil {
			err = saysHowToLoad(plain)
		}
	}
	if err != nil {
		r.Failed, r.Failures = 1, []string{tail(err.Error(), 5)}
	} else {
		r.Passed = 1
	}
	s.saw(r)
	return nil
}

// needsOfFreeBSD is what a program asks FreeBSD's dynamic linker for. It has to ask for libthr before libc, as C programs
// do, and not for libibverbs, which need not be there.
func needsOfFreeBSD(file string) (string, error) {
	program, err := elf.Open(file)
	if err != nil {
		return "", err
	}
	defer program.Close()
	if program.OSABI != elf.ELFOSABI_FREEBSD {
		return "", fmt.Errorf("%s is for %v", file, program.OSABI)
	}
	libraries, err := program.ImportedLibraries()
	if err != nil {
		return "", err
	}
	if want := []string{"libthr.so.3", "libc.so.7"}; !slices.Equal(libraries, want) {
		return "", fmt.Errorf("%s needs %v, and not %v", file, libraries, want)
	}
	linker := program.Section(".interp")
	if linker == nil {
		return "", fmt.Errorf("%s names no dynamic linker", file)
	}
	text, err := linker.Data()
	if err != nil {
		return "", err
	}
	name := string(bytes.TrimRight(text, "\x00"))
	if !strings.HasSuffix(name, "/libexec/ld-elf.so.1") {
		return "", fmt.Errorf("%s wants the dynamic linker %s", file, name)
	}
	return name + ", " + strings.Join(libraries, ", "), nil
}

// saysHowToLoad checks that a program that loads nothing is a static one, and has the words that say how to build another.
func saysHowToLoad(file string) error {
	program, err := elf.Open(file)
	if err != nil {
		return err
	}
	defer program.Close()
	if program.Section(".interp") != nil {
		return fmt.Errorf("%s names a dynamic linker, and was built without the flags for it", file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte("build with cgo, or with "+strings.Join(fakeCgo, " "))) {
		return fmt.Errorf("%s does not say how to build a program that loads libraries", file)
	}
	return nil
}

// freeBSDOnLinux holds a device to the conformance suite's scenarios with FreeBSD's layouts. The suite goes by what the
// library has; the tests of ibv and rdma want the newest rdma-core.
func (s *session) freeBSDOnLinux(library pair, cgo string) error {
	dir, err := os.MkdirTemp(s.work, "layouts")
	if err != nil {
		return err
	}
	overlay, err := freeBSDLayouts(s.root, dir)
	if err != nil {
		return err
	}
	env, err := libraryEnv(library.path)
	if err != nil {
		return err
	}
	r := record{What: scenarios, Release: library.release, Processor: "amd64", CLibrary: "glibc", CGO: cgo}
	version, err := s.command(nil, "go", "env", "GOVERSION")
	if err != nil {
		return err
	}
	r.Go = strings.TrimPrefix(strings.TrimSpace(version), "go")
	suite := filepath.Join(dir, "conformance.test")
	if _, err := s.command([]string{"CGO_ENABLED=" + cgo}, "go", "test", "-c", "-overlay", overlay, "-o", suite, "./conformance"); err != nil {
		return err
	}
	argv := []string{suite, "-test.v=test2json", "-test.run", "^TestDevice$", "-device", rxe}
	outcomes, kernel, err := place{guest: "uml", env: env}.run(s, dir, []job{{"conformance", argv, filepath.Join(s.root, "conformance")}})
	if err != nil {
		return err
	}
	r.Kernel, _, _ = strings.Cut(kernel, "-")
	sums := map[string]*tally{}
	if err := s.add(sums, outcomes["conformance"], deviceOfScenario); err != nil {
		return fmt.Errorf("conformance: %w", err)
	}
	s.sawTallies(r, scenarios, sums)
	return nil
}
