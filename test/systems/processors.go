package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/internal/emulated"
	"github.com/goverbs/goverbs/internal/suites"
)

// unit is what records of the tests say that need no device: those of what programs are made of, and of ibvtest.
const unit = "unit tests"

// A processor is one that qemu-user runs programs of.
type processor struct {
	arch    string
	machine string // qemu's name of it
	triple  string // its C compiler's name
	linker  string // the dynamic linker's path, which Go 1.26 has wrong on riscv64
}

var emulatedProcessors = []processor{
	{"arm64", "aarch64", "aarch64-linux-gnu", "/lib/ld-linux-aarch64.so.1"},
	{"loong64", "loongarch64", "loongarch64-linux-gnu", "/lib64/ld-linux-loongarch-lp64d.so.1"},
	{"ppc64le", "ppc64le", "powerpc64le-linux-gnu", "/lib64/ld64.so.2"},
	{"riscv64", "riscv64", "riscv64-linux-gnu", "/lib/ld-linux-riscv64-lp64d.so.1"},
	{"s390x", "s390x", "s390x-linux-gnu", "/lib/ld64.so.1"},
}

// processorsVariable of the environment chooses some processors, with blanks between them; and suites likewise.
const (
	processorsVariable = "PROCESSORS"
	suitesVariable     = "SUITES"
)

// notEmulated are the tests that ask for what qemu-user does not do, with the reason; of one processor, if that is named.
var notEmulated = []struct{ tests, reason, arch string }{
	{"TestTransparentHugePages|TestNoHugePages|TestDontFork", "it keeps advice about memory to itself", ""},
	{"TestNUMANode", "it knows no nodes of memory", ""},
	{"TestOpenWhatCannotBeHad|TestTooMuchLockedMemory|TestBareRoot|TestStore|TestMissingProvider", "other programs start none of that processor", ""},
	{"TestEnvironmentOfPrivilegedPrograms|TestExclusiveNamespaces|TestSharedNamespaces|TestInterfaceOfAnotherNamespace", "the same", ""},
	{"TestDeviceNumbers|TestResolveEthL2|TestFork", "it passes on no netlink of RDMA's", ""},
	{"TestMulticast", "it lacks the socket option", ""},
	{".*Siw.*|TestConnectOnIWARP|TestRegistrations", "libibverbs finds siw0 by netlink of RDMA's", ""},
	{"TestGIDOfInterface", "it leaves numbers of netlink in the machine's order of bytes", "s390x"},
}

// notEmulatedScenarios ask for the same: netlink, and the socket option.
const notEmulatedScenarios = "of_the_link_layer|what_is_sent_to_a_group_comes_to_those_attached|who_is_attached_twice_hears_once"

// leftOut are the processor's tests that are not run, for -test.skip.
func (p processor) leftOut() string {
	var patterns []string
	for _, n := range notEmulated {
		if n.arch == "" || n.arch == p.arch {
			patterns = append(patterns, n.tests)
		}
	}
	return strings.Join(patterns, "|")
}

// leftOutNote is what records say of that.
const leftOutNote = "but for what qemu-user does not do: see test/systems/processors.go"

// runProcessors runs the unit tests and those of devices on other processors, with the libibverbs that a distribution's
// suites have for them.
func runProcessors(s *session) error {
	archive, err := suites.Archive()
	if err != nil {
		s.saw(record{What: unit, Note: err.Error()})
		return nil
	}
	chosen := strings.Fields(os.Getenv(processorsVariable))
	chosenSuites := strings.Fields(os.Getenv(suitesVariable))
	var failed []error
	for _, p := range emulatedProcessors {
		if p.arch == runtime.GOARCH || len(chosen) > 0 && !slices.Contains(chosen, p.arch) {
			continue
		}
		e, err := p.emulator(s)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.arch, err))
			continue
		}
		first := true
		for _, system := range archive.Suites() {
			if len(chosenSuites) > 0 && !slices.Contains(chosenSuites, system.Version) {
				continue
			}
			r := record{System: system.Name + " " + system.Version, Release: system.Release, Processor: p.arch}
			root, err := suites.Root(s.ctx, system.Version, p.arch, "libibverbs1", "ibverbs-providers")
			switch {
			case err != nil && strings.Contains(err.Error(), "Unable to locate package"):
				r.What, r.Note = library, "it has no packages for "+p.arch
				s.saw(r)
				continue
			case err != nil:
				failed = append(failed, err)
				continue
			}
			if _, err := os.Stat(filepath.Join(root, p.linker)); err != nil {
				r.What, r.Note = library, "its "+p.linker+" is a link that qemu-user does not follow in a folder"
				s.saw(r)
				continue
			}
			if err := e.in(s, r, root, first); err != nil {
				failed = append(failed, fmt.Errorf("%s, %s: %w", p.arch, r.System, err))
			}
			first = false
		}
	}
	return errors.Join(failed...)
}

// An emulator runs programs of a processor, and a compiler makes them of C.
type emulator struct {
	processor
	command, compiler string
}

func (p processor) emulator(s *session) (emulator, error) {
	e := emulator{p, "qemu-" + p.machine, p.triple + "-gcc"}
	if p.arch == "loong64" {
		out, err := exec.CommandContext(s.ctx, filepath.Join(s.root, "test/loong64")).Output()
		if err != nil {
			return e, fmt.Errorf("test/loong64: %w", err)
		}
		bin := filepath.Join(strings.TrimSpace(string(out)), "usr/bin")
		e.command, e.compiler = filepath.Join(bin, e.command), filepath.Join(bin, e.compiler)
	}
	for _, name := range []*string{&e.command, &e.compiler} {
		path, err := exec.LookPath(*name)
		if err != nil {
			return e, fmt.Errorf("test/deps cross installs it: %w", err)
		}
		*name = path
	}
	return e, nil
}

func (e emulator) build(cgo string) build {
	b := build{arch: e.arch, cgo: cgo, ldflags: "-I " + e.linker}
	if cgo == "1" {
		b.cc, b.ldflags = e.compiler, ""
	}
	if e.arch == "s390x" && cgo == "0" {
		b.goLang = newestGo() // which is the first that calls C there without cgo
	}
	return b
}

// newestGo is the newest toolchain that is tested.
func newestGo() string { return os.Getenv("GO_NEWEST") }

// in runs the tests in a suite's root; those without devices only if they are wanted.
func (e emulator) in(s *session, r record, root string, unitToo bool) (err error) {
	if r.CLibrary, err = e.glibc(s, root); err != nil {
		return err
	}
	how := []string{"0"}
	if e.arch == "arm64" && !s.brief {
		how = append(how, "1")
	}
	var failed []error
	for _, cgo := range how {
		b := e.build(cgo)
		if e.arch == "s390x" && b.goLang == "" {
			s.saw(record{What: unit, System: r.System, Processor: e.arch, CGO: cgo, Note: "GO_NEWEST names no toolchain, and older ones than 1.27 call no C there without cgo"})
			continue
		}
		if unitToo && !s.brief {
			if err := e.unitTests(s, r, b, root); err != nil {
				failed = append(failed, err)
			}
		}
		if err := e.onDevice(s, r, b, root); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

var linkerVersion = regexp.MustCompile(`(?i)glibc.* version (\d+\.\d+)`)

// glibc is the root's C library: what its dynamic linker says of itself.
func (e emulator) glibc(s *session, root string) (string, error) {
	out, err := s.command(nil, e.command, "-L", root, filepath.Join(root, e.linker), "--version")
	if err != nil {
		return "", err
	}
	found := linkerVersion.FindStringSubmatch(out)
	if found == nil {
		return "", fmt.Errorf("%s does not tell its version: %s", e.linker, tail(out, 3))
	}
	return "glibc " + found[1], nil
}

// withoutDevice are the packages whose tests need none, and are of what runs on any processor.
var withoutDevice = []string{
	"./clib/...", "./headers/...", "./internal/...", "./ibv/...", "./rdma/...", "./ibvtest/...", "./conformance", "./test/inprocess",
	"./gen/internal/abi",
}

// unitTests runs them under the emulator, which finds the root's libraries.
func (e emulator) unitTests(s *session, r record, b build, root string) error {
	version, err := s.command(b.env(), "go", "env", "GOVERSION")
	if err != nil {
		return err
	}
	r.What, r.CGO, r.Go = unit, b.cgo, strings.TrimPrefix(strings.TrimSpace(version), "go")
	run := e.command + " -L " + root
	// The tests compile their C with CC, too.
	env := append(b.env(), "CC="+e.compiler, emulated.Variable+"="+run)
	args := append([]string{"test", "-json", "-short", "-vet=off", "-timeout", "60m", "-exec", run, "-ldflags", b.ldflags, "-skip", "^(" + e.leftOut() + ")$"}, withoutDevice...)
	out, err := s.command(env, "go", args...)
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return err
	}
	sum, parseErr := countPackages(out)
	if parseErr != nil {
		return errors.Join(parseErr, err)
	}
	r.Note = leftOutNote
	s.saw(sum.into(r))
	return nil
}

// onDevice runs the tests of devices in the guest, on rxe0. libibverbs asks the kernel by write there.
func (e emulator) onDevice(s *session, r record, b build, root string) error {
	answers := filepath.Join(s.work, "noioctl-"+e.arch+".so")
	if _, err := s.command(nil, e.compiler, "-O2", "-Wall", "-shared", "-fPIC", "-o", answers, "test/systems/testdata/noioctl.c"); err != nil {
		return err
	}
	r.Note = leftOutNote
	run := []string{e.command, "-L", root, "-E", "LD_PRELOAD=" + answers}
	p := place{
		guest:         "uml",
		guestEnv:      []string{"VM_TIMEOUT=3600"},
		enter:         run,
		env:           []string{emulated.Variable + "=" + strings.Join(run, " ")},
		skip:          e.leftOut(),
		skipScenarios: notEmulatedScenarios,
		devices:       []string{rxe},
	}
	if e.arch == "s390x" {
		return e.listed(s, r, b, p)
	}
	return s.deviceTests(r, b, p)
}

// listed loads the library, which lists the devices. More there is not for a processor that is big endian: what is
// written to a device is for the kernel below the emulator, which is not.
func (e emulator) listed(s *session, r record, b build, p place) error {
	made, err := s.binaries(b)
	if err != nil {
		return err
	}
	r.CGO, r.Go, r.Note = b.cgo, made.goVersion, ""
	outcomes, kernel, err := p.run(s, made.dir, []job{{name: "told", argv: []string{made.told}}})
	if err != nil {
		return err
	}
	r.Kernel, _, _ = strings.Cut(kernel, "-")
	if r, err = s.sawLibrary(r, outcomes["told"]); err != nil {
		return err
	}
	r.What, r.Device, r.Note = tests, rxe, "commands that are written big endian mean nothing to the guest's kernel"
	s.saw(r)
	return nil
}
