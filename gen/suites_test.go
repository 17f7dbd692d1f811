package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/headers"
	"github.com/goverbs/goverbs/internal/suites"
)

// The headers of every suite of this machine's distribution that can be had
// are what the facts say of the release they ship, to the C compiler too, and
// the bindings cover them. Suites that cannot be had are named.
func TestSuites(t *testing.T) {
	t.Parallel() // most of it is waiting for the archive
	source, err := suites.Archive()
	if err != nil {
		t.Skipf("no suite's headers could be had: %v", err)
	}
	checked := 0
	for _, s := range source.Suites() {
		include, err := suiteHeaders(t, s.Version)
		if err != nil {
			t.Logf("could not get the headers of %s %s (%s): %v", s.Name, s.Version, s.Release, err)
			continue
		}
		checked++
		t.Run(s.Version, func(t *testing.T) { checkSuite(t, s, include) })
	}
	if checked == 0 {
		t.Skip("no suite's headers could be had, see above")
	}
}

func checkSuite(t *testing.T, s headers.System, include string) {
	release := headersVersion([]string{include}, "infiniband/verbs.h")
	require.NotEmpty(t, release)
	t.Logf("%s ships %s", s.Version, release)
	assert.Contains(t, gen(t, "check", "-o", "../ibv", "-I", include), release+" is covered")
	if !slices.Contains(headers.Releases(), release) {
		t.Logf("there are no facts of %s yet, newer than the %s that headers/systems.txt has for %s", release, s.Release, s.Version)
		return
	}
	for _, target := range headers.DistinctTargets("linux") {
		out, err := output("diff", "-target", target.String(), release, include)
		assert.NoError(t, err, "%s, %s to %s:\n%s", target, release, include, out)
	}
	text := gen(t, "assert", "-I", include, "-target", machine())
	file := filepath.Join(t.TempDir(), "assert.c")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	out, err := cc(t, file, "-I", include)
	require.NoError(t, err, "the C compiler disagrees:\n%s", out)
}

// suiteHeaders has the headers of a suite alone, without those of the C library
// that they depend on.
func suiteHeaders(t *testing.T, suite string) (include string, err error) {
	debs, err := suites.Download(t.Context(), suite, runtime.GOARCH, "libibverbs-dev")
	if err != nil {
		return "", err
	}
	root := t.TempDir()
	return filepath.Join(root, "usr", "include"), suites.Unpack(t.Context(), root, debs...)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
