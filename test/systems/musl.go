package main

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/internal/suites"
)

// runMusl shows what runs where the C library is musl, as on Alpine: what needs no libibverbs, and the device tests with
// each library that is given and made for musl.
func runMusl(s *session) error {
	var failed []error
	for _, arch := range []string{"amd64", "arm64"} {
		m, err := s.musl(arch)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if len(s.libraries)+len(s.headers) == 0 {
			failed = append(failed, m.alone())
		}
		for _, p := range s.libraries {
			if of, err := muslArch(p.path); err != nil || of != arch {
				continue
			}
			if err := m.library(p); err != nil {
				failed = append(failed, fmt.Errorf("%s, release %s: %w", arch, p.release, err))
			}
		}
	}
	return errors.Join(failed...)
}

// muslArch is the processor of a library that is made for musl, or "" if it is made for another C library.
func muslArch(library string) (string, error) {
	f, err := elf.Open(library)
	if err != nil {
		return "", err
	}
	defer f.Close()
	needs, err := f.ImportedLibraries()
	if err != nil {
		return "", err
	}
	// Debian's musl calls itself libc.so, and Alpine's libc.musl-x86_64.so.1.
	if !slices.ContainsFunc(needs, func(name string) bool { return name == "libc.so" || strings.HasPrefix(name, "libc.musl-") }) {
		return "", nil
	}
	switch f.Machine {
	case elf.EM_X86_64:
		return "amd64", nil
	case elf.EM_AARCH64:
		return "arm64", nil
	}
	return "", fmt.Errorf("%s is for %v, for which there is no musl to try it with here", library, f.Machine)
}

// A muslRoom is musl for a processor, and what programs are made for it with.
type muslRoom struct {
	s                *session
	arch, machine    string // arm64, aarch64
	dir              string // the folder that lib/ld-musl-aarch64.so.1 and the like are in
	loader           string // "/lib/ld-musl-aarch64.so.1"
	version          string // "musl 1.2.3"
	tags             string
	enter            []string // what programs are run by
	compiler, triple string
}

// musl is this machine's own for its own processor, and the package of its suite for the other one.
func (s *session) musl(arch string) (m muslRoom, err error) {
	m = muslRoom{s: s, arch: arch, machine: "x86_64", dir: "/"}
	if arch == "arm64" {
		m.machine, m.tags = "aarch64", "musl"
		release, err := osRelease("/etc/os-release")
		if err != nil {
			return m, err
		}
		if m.dir, err = suites.Root(s.ctx, release["VERSION_CODENAME"], arch, "musl", "musl-dev"); err != nil {
			return m, err
		}
		m.enter = []string{"qemu-aarch64", "-L", m.dir}
	}
	m.triple = m.machine + "-linux-musl"
	m.loader = "/lib/ld-musl-" + m.machine + ".so.1"
	// Without a program to start, the loader says what it is, and fails.
	argv := append(slices.Clone(m.enter), filepath.Join(m.dir, m.loader))
	said, err := s.command(nil, argv[0], argv[1:]...)
	version := regexp.MustCompile(`(?m)^Version (\S+)$`).FindStringSubmatch(said)
	if version == nil {
		return m, fmt.Errorf("no musl for %s: %w", arch, err)
	}
	m.version = "musl " + version[1]
	return m, m.makeCompiler()
}

// makeCompiler makes a C compiler for musl of the machine's own: one that takes the kernel's headers and rdma-core's from
// where glibc's compiler has them, which are the same.
func (m *muslRoom) makeCompiler() error {
	specs, err := os.ReadFile(filepath.Join(m.dir, "usr/lib", m.triple, "musl-gcc.specs"))
	if err != nil {
		return fmt.Errorf("no C compiler for musl: %w", err)
	}
	dir := filepath.Join(m.s.work, "musl-"+m.arch)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, folder := range []string{"/usr/lib/", "/usr/include/"} {
		specs = []byte(strings.ReplaceAll(string(specs), folder+m.triple, filepath.Join(m.dir, folder, m.triple)))
	}
	if err := os.WriteFile(filepath.Join(dir, "specs"), specs, 0o644); err != nil {
		return err
	}
	gnu := m.machine + "-linux-gnu"
	asm := "/usr/include/" + gnu + "/asm"
	if _, err := os.Stat(asm); err != nil {
		asm = "/usr/" + gnu + "/include/asm"
	}
	for _, folder := range []string{"/usr/include/linux", "/usr/include/asm-generic", "/usr/include/rdma", "/usr/include/infiniband", asm} {
		if err := os.Symlink(folder, filepath.Join(dir, filepath.Base(folder))); err != nil {
			return err
		}
	}
	m.compiler = filepath.Join(dir, "gcc")
	flags := ""
	if m.arch == "arm64" {
		flags = "-mno-outline-atomics" // libgcc's ask glibc which instructions there are
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s-gcc %s \"$@\" -specs %s -idirafter %s\n", gnu, flags, filepath.Join(dir, "specs"), dir)
	return os.WriteFile(m.compiler, []byte(script), 0o755)
}

func (m *muslRoom) record() record { return record{Processor: m.arch, CLibrary: m.version} }

// plain is a build without cgo for musl's loader.
func (m *muslRoom) plain() build {
	return build{arch: m.arch, cgo: "0", tags: m.tags, ldflags: "-I " + m.loader}
}

// aloneOnMusl are the packages whose tests need no libibverbs, but for those tests.
var aloneOnMusl = []string{"./internal/ccall", "./internal/recorder", "./ibvtest", "./conformance", "./test/inprocess"}

const needLibibverbs = "TestRatesAreTheLibrarys"

// alone runs what needs no libibverbs: the C call, and devices in the process.
func (m *muslRoom) alone() error {
	b := m.plain()
	env := append(b.env(), "CC="+m.compiler, "GOVERBS_TEST_EMULATOR="+strings.Join(m.enter, " "))
	args := []string{"test", "-json", "-short", "-count=1", "-vet=off", "-p=1", "-tags", b.tags, "-ldflags", b.ldflags, "-skip", "^(" + needLibibverbs + ")$"}
	if m.enter != nil {
		args = append(args, "-exec", strings.Join(m.enter, " "))
	}
	version, err := m.s.command(env, "go", "env", "GOVERSION")
	if err != nil {
		return err
	}
	r := m.record()
	r.What, r.CGO, r.Go = "the C call, and devices in the process", b.cgo, strings.TrimPrefix(strings.TrimSpace(version), "go")
	out, err := m.s.command(env, "go", append(args, aloneOnMusl...)...)
	t, sawErr := countJSON(out)
	if sawErr != nil || err != nil && len(t.failures) == 0 {
		return errors.Join(err, sawErr)
	}
	m.s.saw(t.into(r))
	return nil
}

// countJSON adds up what go test -json tells of tests, but not of their parts.
func countJSON(out string) (t tally, err error) {
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "{") {
			continue // what the compiler says
		}
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return t, err
		}
		if e.Test == "" || strings.Contains(e.Test, "/") {
			continue
		}
		switch e.Action {
		case "pass":
			t.passed++
		case "skip":
			t.skipped++
		case "fail":
			t.failures = append(t.failures, e.Test)
		}
	}
	return t, nil
}

// library runs the device tests with a library that is made for musl.
func (m *muslRoom) library(p pair) error {
	env, err := libraryEnv(p.path)
	if err != nil {
		return err
	}
	r := m.record()
	r.Release = p.release
	if m.arch != "amd64" {
		return m.emulated(r, p, env)
	}
	// In the guest's own root, where all is that tests use besides. Only musl's programs are to find the folder.
	search := fmt.Sprintf("echo %s >>/etc/ld-musl-%s.path", quote(filepath.Dir(p.path)), m.machine)
	for _, cgo := range m.s.cgo() {
		b := m.plain()
		if cgo == "1" {
			b = build{arch: m.arch, cgo: cgo, cc: m.compiler, tags: "netgo,osusergo"}
		}
		if err := m.s.deviceTests(r, b, place{guest: "uml", before: []string{search}, env: env}); err != nil {
			return fmt.Errorf("CGO_ENABLED=%s: %w", cgo, err)
		}
	}
	return m.bare(r, p, env)
}

// What cannot be tested in a bare root: tests that start programs which it does not have, and, where the loader has to be
// named, those that start themselves.
const (
	startOthers     = "TestOpenWhatCannotBeHad|TestTooMuchLockedMemory|TestEnvironmentOfPrivilegedPrograms|TestBareRoot"
	startThemselves = startOthers + "|TestFork|TestClosedChannelWakesNobody|TestStore"
)

// bare runs the device tests where there is nothing but musl, the library, and what starts them: in each way to have a
// program without cgo there.
func (m *muslRoom) bare(r record, p pair, env []string) error {
	root, err := m.bareRoot(p)
	if err != nil {
		return err
	}
	other := build{arch: m.arch, cgo: "0"}
	link := filepath.Join(root, "lib64/ld-linux-x86-64.so.2")
	for _, way := range []struct {
		what  string
		build build
		place place
		skip  string
	}{
		{"a bare root: built for musl's loader", m.plain(), place{}, startOthers},
		{"a bare root: built for glibc's loader, started by musl's", other, place{enter: []string{m.loader}}, startThemselves},
		{"a bare root: built for glibc's loader, which is a link to musl's", other,
			place{before: []string{"mkdir -p " + quote(filepath.Dir(link)) + " && ln -s " + m.loader + " " + quote(link)}}, startOthers},
	} {
		made, err := m.s.binaries(way.build)
		if err != nil {
			return err
		}
		way.place.guest, way.place.root, way.place.env = "uml", root, env
		jobs := []job{
			{name: "told", argv: []string{made.told}},
			{name: "tests", argv: []string{made.tests[0], "-test.v=test2json", "-test.short", "-test.skip", "^(" + way.skip + ")$"}},
		}
		outcomes, kernel, err := way.place.run(m.s, made.dir, jobs)
		if err != nil {
			return err
		}
		r.What, r.CGO, r.Go = way.what, "0", made.goVersion
		r.Kernel, _, _ = strings.Cut(kernel, "-")
		if outcomes["told"].status != "0" {
			return fmt.Errorf("%s: no library was loaded: %s", way.what, tail(outcomes["told"].output, 3))
		}
		tallies, err := count(outcomes["tests"], deviceOfTest)
		if err != nil {
			return fmt.Errorf("%s: %w", way.what, err)
		}
		for _, device := range []string{rxe, siw} {
			if t := tallies[device]; t != nil {
				r.Device = device
				m.s.saw(t.into(r))
			}
		}
	}
	return nil
}

// bareRoot is a folder with musl, the library with what it needs, and env.
func (m *muslRoom) bareRoot(p pair) (string, error) {
	root, err := os.MkdirTemp(m.s.work, "musl-root")
	if err != nil {
		return "", err
	}
	busybox, err := m.s.command(nil, filepath.Join(m.s.root, "test/softroce/static-busybox"))
	if err != nil {
		return "", err
	}
	script := `set -eu
root=$1 musl=$2 loader=$3 library=$4 busybox=$5
folder=$(dirname "$library")
mkdir -p "$root/bin" "$root/lib" "$root/etc" "$root/tmp" "$root$folder"
cp -L "$busybox" "$root/bin/env"
cp -L "$musl$loader" "$root$loader"
cp -a "$folder"/lib*.so* "$root$folder/"
if [ -d "$folder/libibverbs" ]; then cp -a "$folder/libibverbs" "$root$folder/"; fi
if [ -d "$folder/../etc/libibverbs.d" ]; then
	mkdir -p "$root$(dirname "$folder")/etc"
	cp -a "$folder/../etc/libibverbs.d" "$root$(dirname "$folder")/etc/"
fi
echo "$folder" >"$root/etc/$(basename "$loader" .so.1).path"
`
	_, err = m.s.command(nil, "sh", "-c", script, "sh", root, m.dir, m.loader, p.path, strings.TrimSpace(busybox))
	return root, err
}

// emulated has the library loaded, and its devices listed, by a program that is emulated inside the QEMU guest.
func (m *muslRoom) emulated(r record, p pair, env []string) error {
	root, err := m.bareRoot(p)
	if err != nil {
		return err
	}
	made, err := m.s.binaries(m.plain())
	if err != nil {
		return err
	}
	there := place{guest: "vm", enter: []string{"qemu-aarch64", "-L", root}, env: env}
	outcomes, kernel, err := there.run(m.s, made.dir, []job{{name: "told", argv: []string{made.told}}})
	if err != nil {
		return err
	}
	r.CGO, r.Go = "0", made.goVersion
	r.Kernel, _, _ = strings.Cut(kernel, "-")
	_, err = m.s.sawLibrary(r, outcomes["told"])
	return err
}
