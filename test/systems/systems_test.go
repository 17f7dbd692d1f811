package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/headers"
)

// The page says what was seen, and nothing else.
func TestPage(t *testing.T) {
	root := filepath.Join("..", "..")
	seen, err := readSeen(root)
	require.NoError(t, err)
	require.Equal(t, merge(seen, nil), seen, "the records are in order, and no two are about the same")
	want, err := pageOf(root, seen)
	require.NoError(t, err)
	have, err := os.ReadFile(filepath.Join(root, pageFile))
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "%s is not what %s says: make systems PARTS=page writes it", pageFile, seenFile)
}

// A record takes the place of one that is about the same thing, whatever its numbers and the last digits of versions.
func TestMerge(t *testing.T) {
	old := record{Part: "suites", What: tests, System: "debian trixie", Release: "56.1", Device: rxe, Kernel: "6.1.172", Go: "1.26.8", Passed: 30}
	newer := old
	newer.Kernel, newer.Go, newer.Passed, newer.Failed = "6.1.180", "1.26.9", 29, 1
	other := old
	other.Device = siw
	require.Equal(t, []record{newer, other}, merge([]record{other, old}, []record{newer}))
}

// What could not be run takes no row from what was, before or after, wherever that leaves less to be said of it.
func TestMergeNotRun(t *testing.T) {
	ran := record{Part: "kernels", What: tests, System: "debian sid", CLibrary: "glibc 2.36", Device: rxe, Kernel: "7.2.1", Go: "1.26.8", Passed: 90}
	same := ran
	same.Passed, same.Note = 0, "the guest did not start"
	nothing := record{Part: "kernels", What: tests, Note: "no archive of this system's is known"}
	for _, not := range []record{same, nothing} {
		require.Equal(t, []record{ran}, merge([]record{ran}, []record{not}))
		require.Equal(t, []record{ran}, merge([]record{not}, []record{ran}))
		require.Equal(t, []record{not}, merge([]record{not}, nil), "it says why, as long as nothing was run")
	}
	other := nothing
	other.Kernel = "5.10.4"
	require.ElementsMatch(t, []record{other, ran}, merge([]record{other, ran}, []record{nothing}), "that is about another kernel")
	failed := ran
	failed.Passed, failed.Failed = 0, 1
	require.Equal(t, []record{failed}, merge([]record{ran}, []record{failed}))
}

// Programs of the guest get the environment of their place, and no library that the caller has chosen. The guest here is
// a program that runs what it is given.
func TestPlaceEnvironment(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "test/softroce")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "guest"), []byte("#!/bin/sh\nexec \"$@\"\n"), 0o755))
	for _, name := range chooseLibraries {
		t.Setenv(name, "")
	}
	t.Setenv("GOVERBS_LIBIBVERBS", "/chosen")
	t.Setenv("GOVERBS_LIBRARIES", "/chosen")
	t.Setenv("RDMAV_DRIVERS", "/chosen")
	t.Setenv("OTHER", "stays")
	s := &session{ctx: t.Context(), root: root, work: t.TempDir()}
	p := place{guest: "guest", env: []string{"RDMAV_DRIVERS=/given"}}
	outcomes, _, err := p.run(s, root, []job{{name: "told", argv: []string{"env"}}})
	require.NoError(t, err)
	env := strings.Split(outcomes["told"].output, "\n")
	require.Contains(t, env, "RDMAV_DRIVERS=/given")
	require.Contains(t, env, "OTHER=stays")
	require.NotContains(t, outcomes["told"].output, "/chosen")
}

// A library that is where it was built for finds its providers itself, and any other one has them named.
func TestLibraryEnv(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	library := filepath.Join(dir, "libibverbs.so.1")
	builtFor := func(folder string) {
		require.NoError(t, os.WriteFile(library, []byte("\x7fELF\x00"+folder+"/libibverbs/lib%s-rdmav34.so\x00"), 0o755))
	}
	builtFor(dir)
	env, err := libraryEnv(library)
	require.NoError(t, err)
	require.Equal(t, []string{"GOVERBS_LIBIBVERBS=" + library}, env)
	for _, elsewhere := range []string{"/elsewhere", "/prefix" + dir} {
		builtFor(elsewhere)
		_, err = libraryEnv(library)
		require.ErrorContains(t, err, "no provider is beside it")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "librxe-rdmav34.so"), nil, 0o755))
	env, err = libraryEnv(library)
	require.NoError(t, err)
	require.Contains(t, env, "RDMAV_DRIVERS="+filepath.Join(dir, "librxe"))
}

// Of libraries that cannot be tried, each is told of.
func TestLibrariesThatCannotBe(t *testing.T) {
	first, second := t.TempDir(), filepath.Join(t.TempDir(), "libibverbs.so.1")
	require.NoError(t, os.WriteFile(second, []byte("not a library"), 0o644))
	s := &session{ctx: t.Context(), libraries: []pair{{"39.0", first}, {"44.0", second}}}
	err := runLibraries(s)
	require.ErrorContains(t, err, "release 39.0: ")
	require.ErrorContains(t, err, "release 44.0: ")
	require.Empty(t, s.seen)
}

// A cell says yes only where something was run and nothing failed.
func TestCells(t *testing.T) {
	system := headers.System{Name: "fedora", Version: "43", Release: "58.0"}
	table := func(seen ...record) string { return systemsTable([]headers.System{system}, seen) }
	require.Contains(t, table(), "| fedora 43 | 58.0 | not run | not run | not run | not run | not run | facts only | - |")
	build := record{Part: "libraries", Release: "58.0", Date: "2026-11-30", Passed: 1}
	of := func(what, device, cgo string, passed int, failures ...string) record {
		r := build
		r.What, r.Device, r.CGO, r.Passed, r.Failed, r.Failures = what, device, cgo, passed, len(failures), failures
		return r
	}
	seen := []record{
		of(library, "", "0", 1), of(tests, rxe, "0", 90), of(tests, rxe, "1", 90), of(scenarios, rxe, "0", 280), of(tests, siw, "0", 9, "TestSiwX"),
	}
	require.Contains(t, table(seen...),
		"| not run | not run | loaded, told | 90 tests, 280 scenarios; CGO 0 and 1 | 1 of 10 tests failed: TestSiwX; CGO 0 | a build of the release | 2026-11-30 |")
	own := seen[0]
	own.System, own.Failed, own.Passed = "fedora 43", 1, 0
	require.Contains(t, table(append(seen, own)...), "| no | 90 tests", "the system's own library counts for more")
	onMusl := of(library, "", "0", 1)
	onMusl.CLibrary = "musl"
	require.Contains(t, table(onMusl), "| not run | facts only | - |", "that is another system's C library")
	onLinux := of(scenarios, rxe, "0", 259)
	onLinux.Part = "freebsd"
	require.Contains(t, table(onLinux), "| 259 scenarios; CGO 0 | not run | its layouts and calls, compiled for Linux | 2026-11-30 |")
	unlike := of(library, "", "0", 1)
	unlike.Release = "61.0"
	require.Contains(t, table(unlike), "| not run | facts only | - |")
}

// What the tests print becomes numbers, by device.
func TestCount(t *testing.T) {
	o := outcome{status: "1", output: "\x16=== RUN   TestA\n\x16--- PASS: TestA (0.00s)\n\x16=== RUN   TestSiwB\n\x16--- FAIL: TestSiwB (0.00s)\n" +
		"\x16=== RUN   TestC\n\x16--- SKIP: TestC (0.00s)\n\x16FAIL\n"}
	tallies, err := count(o, deviceOfTest)
	require.NoError(t, err)
	require.Equal(t, map[string]*tally{rxe: {passed: 1, skipped: 1}, siw: {failures: []string{"TestSiwB"}}}, tallies)
	o = outcome{status: "2", output: "\x16=== RUN   TestA\npanic: it ended\n"}
	_, err = count(o, deviceOfTest)
	require.Error(t, err, "a process that ended by itself is no success")
	o = outcome{status: "0", output: "\x16=== RUN   TestDevice\n\x16=== RUN   TestDevice/rxe0\n\x16=== RUN   TestDevice/rxe0/queues/deep\n" +
		"    conformance_test.go:42: not supported in 3ms\n\x16=== RUN   TestDevice/rxe0/queues/full\n    conformance_test.go:42: passed in 3ms\n" +
		"\x16--- PASS: TestDevice (0.00s)\n\x16    --- PASS: TestDevice/rxe0 (0.00s)\n\x16        --- PASS: TestDevice/rxe0/queues/deep (0.00s)\n" +
		"\x16        --- PASS: TestDevice/rxe0/queues/full (0.00s)\n\x16PASS\n"}
	tallies, err = count(o, deviceOfScenario)
	require.NoError(t, err)
	require.Equal(t, map[string]*tally{rxe: {passed: 1, skipped: 1}}, tallies)
}

// What a guest printed is taken apart by job, and a guest that ended early is noticed.
func TestOutcomes(t *testing.T) {
	outcomes, kernel, err := parseOutcomes("kernel 6.1.172\n" + jobBegins + "a\none\ntwo\n\n" + jobEnds + "0\n" + jobBegins + "b\n\n" + jobEnds + "3\n")
	require.NoError(t, err)
	require.Equal(t, "6.1.172", kernel)
	require.Equal(t, map[string]outcome{"a": {"one\ntwo\n", "0"}, "b": {"", "3"}}, outcomes)
	_, _, err = parseOutcomes("kernel 6.1.172\n" + jobBegins + "a\none\n")
	require.ErrorContains(t, err, "in the middle of a")
}

// A system is the row that its own description says.
func TestSystemOf(t *testing.T) {
	for _, tt := range []struct {
		release map[string]string
		want    string
	}{
		{map[string]string{"ID": "debian", "VERSION_CODENAME": "trixie", "VERSION_ID": "13"}, "debian trixie"},
		{map[string]string{"ID": "centos", "VERSION_ID": "10"}, "centos-stream 10"},
		{map[string]string{"ID": "alpine", "VERSION_ID": "3.24.2"}, "alpine 3.24"},
		{map[string]string{"ID": "arch"}, "arch rolling"},
		{map[string]string{"ID": "fedora", "VERSION_ID": "44"}, "fedora 44"},
		{map[string]string{"ID": "nixos", "VERSION_ID": "26.05"}, "nixos 26.05"},
		{map[string]string{"ID": "opensuse-leap", "VERSION_ID": "16.0"}, "opensuse-leap 16.0"},
		{map[string]string{"ID": "ubuntu", "VERSION_CODENAME": "jammy", "VERSION_ID": "22.04"}, "ubuntu jammy"},
		{map[string]string{"ID": "fedora", "VERSION_ID": "4"}, ""},
		{map[string]string{"ID": "beos"}, ""},
	} {
		system, ok := systemOf(tt.release, headers.Systems())
		require.Equal(t, tt.want != "", ok, tt.release)
		if ok {
			require.Equal(t, tt.want, system.Name+" "+system.Version)
		}
	}
}

// What go test -json says of several packages is counted, and a package that ended badly by itself is no success.
func TestCountPackages(t *testing.T) {
	sum, err := countPackages(`{"Action":"run","Package":"x/a","Test":"TestA"}
{"Action":"pass","Package":"x/a","Test":"TestA/one"}
{"Action":"pass","Package":"x/a","Test":"TestA"}
{"Action":"skip","Package":"x/a","Test":"TestB"}
{"Action":"pass","Package":"x/a"}
go: a word of its own
{"Action":"fail","Package":"x/b","Test":"TestC"}
{"Action":"fail","Package":"x/b"}
{"Action":"fail","Package":"x/d"}
`)
	require.NoError(t, err)
	require.Equal(t, tally{passed: 1, skipped: 1, failures: []string{"b.TestC", "package d"}}, sum)
	_, err = countPackages("no such package\n")
	require.ErrorContains(t, err, "no such package")
}
