package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/headers"
)

// The headers of every suite of this machine's distribution that can be had
// are what the facts say of the release they ship, to the C compiler too, and
// the bindings cover them. Suites that cannot be had are named.
func TestSuites(t *testing.T) {
	t.Parallel() // most of it is waiting for the archive
	origin, archive, err := aptArchive()
	if err != nil {
		t.Skipf("no suite's headers could be had: %v", err)
	}
	checked := 0
	for _, s := range headers.Systems() {
		if s.Name != origin {
			continue
		}
		include, err := suiteHeaders(s.Version, archive)
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

// aptArchive is the distribution, and how its archive is written in apt's list
// of sources on this machine, up to the suite's name.
func aptArchive() (origin, archive string, err error) {
	out, err := exec.Command("apt-get", "indextargets", "--format", "$(ORIGIN)|$(REPO_URI)|$(COMPONENT)", "Created-By: Packages").Output()
	if err != nil {
		return "", "", fmt.Errorf("apt-get indextargets: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 || f[2] != "main" {
			continue
		}
		origin = strings.ToLower(f[0])
		known := func(s headers.System) bool { return s.Name == origin }
		if !slices.ContainsFunc(headers.Systems(), known) {
			continue
		}
		keyring := ""
		if file := "/usr/share/keyrings/" + origin + "-archive-keyring.gpg"; exists(file) {
			keyring = "[signed-by=" + file + "] "
		}
		return origin, "deb " + keyring + f[1] + " ", nil
	}
	return "", "", errors.New("apt has no lists of a distribution in headers/systems.txt; apt-get update may help")
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// suiteHeaders downloads the headers of a suite and unpacks them. They are kept
// for a day, for the other ways in which the tests are run.
func suiteHeaders(suite, archive string) (include string, err error) {
	cache := os.Getenv("GOVERBS_CACHE")
	if cache == "" {
		if cache, err = filepath.Abs("../.cache"); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(cache, "suites", suite)
	include = filepath.Join(dir, "root", "usr", "include")
	if info, err := os.Stat(include); err == nil && time.Since(info.ModTime()) < 24*time.Hour {
		return include, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(dir, "lists", "partial"), 0o755); err != nil {
		return "", err
	}
	sources := filepath.Join(dir, "sources.list")
	if err := os.WriteFile(sources, []byte(archive+suite+" main\n"), 0o644); err != nil {
		return "", err
	}
	options := []string{
		"-q", "-o", "Dir::Etc::SourceList=" + sources, "-o", "Dir::Etc::SourceParts=/dev/null", "-o", "Dir::State::Lists=" + filepath.Join(dir, "lists"),
		// What is installed here must not count: an older suite has older versions.
		"-o", "Dir::State::Status=/dev/null", "-o", "Dir::Cache=" + dir, "-o", "APT::Sandbox::User=root", "-o", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
		"-o", "Acquire::Languages=none", "-o", "Acquire::Retries=2",
	}
	for _, command := range [][]string{
		append([]string{"apt-get"}, append(options, "--error-on=any", "update")...),
		append([]string{"apt-get"}, append(options, "download", "libibverbs-dev")...),
	} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", command[len(command)-1], err, out)
		}
	}
	packages, err := filepath.Glob(filepath.Join(dir, "libibverbs-dev_*.deb"))
	if err != nil || len(packages) != 1 {
		return "", fmt.Errorf("apt-get downloaded %d packages (%v)", len(packages), err)
	}
	if out, err := exec.Command("dpkg-deb", "-x", packages[0], filepath.Join(dir, "root")).CombinedOutput(); err != nil {
		return "", fmt.Errorf("dpkg-deb: %w\n%s", err, out)
	}
	now := time.Now()
	return include, os.Chtimes(include, now, now)
}
