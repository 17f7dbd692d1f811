package suites

import (
	"context"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newest(t *testing.T) string {
	t.Helper()
	source, err := Archive()
	if err != nil {
		t.Skipf("no suites can be had: %v", err)
	}
	all := source.Suites()
	return all[len(all)-1].Version
}

func TestRoot(t *testing.T) {
	suite := newest(t)
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "ppc64le": elf.EM_PPC64} {
		dir, err := Root(t.Context(), suite, arch, "libibverbs1")
		require.NoError(t, err)
		for _, pattern := range []string{"usr/lib/*/libibverbs.so.1", "lib/*/libc.so.6", "lib64/ld*.so.*"} {
			files, err := filepath.Glob(filepath.Join(dir, pattern))
			require.NoError(t, err)
			require.Len(t, files, 1, "%s in %s", pattern, dir)
			file, err := elf.Open(files[0])
			require.NoError(t, err)
			assert.Equal(t, machine, file.Machine, files[0])
			require.NoError(t, file.Close())
		}
		before, err := os.Stat(dir)
		require.NoError(t, err)
		again, err := Root(t.Context(), suite, arch, "libibverbs1")
		require.NoError(t, err)
		after, err := os.Stat(again)
		require.NoError(t, err)
		assert.True(t, os.SameFile(before, after), "what was had is had again")
	}
}

func TestDownload(t *testing.T) {
	suite := newest(t)
	debs, err := Download(t.Context(), suite, "ppc64le", "libnl-3-200", "libibverbs1")
	require.NoError(t, err)
	require.Len(t, debs, 2, "what they depend on stays away")
	assert.Regexp(t, "/libibverbs1_.*_ppc64el.deb$", debs[0])
	assert.Regexp(t, "/libnl-3-200_.*_ppc64el.deb$", debs[1])

	_, err = Download(t.Context(), suite, "ppc64le", "libibverbs1", "no-such-package")
	require.ErrorContains(t, err, "have libibverbs1, no-such-package of "+suite+" for ppc64el")
	assert.ErrorContains(t, err, "Unable to locate package no-such-package")
	_, err = Download(t.Context(), suite, "ppc64le", "../libibverbs1")
	assert.ErrorContains(t, err, "is no package's or suite's name")
}

func TestDepends(t *testing.T) {
	names, err := Depends(t.Context(), newest(t), "amd64", "libibverbs1")
	require.NoError(t, err)
	assert.Subset(t, names, []string{"libc6", "libnl-3-200", "libnl-route-3-200"})
}

// What this machine's apt takes without a signature is not taken here.
func TestUnsigned(t *testing.T) {
	newest(t)
	archive := t.TempDir()
	dists := filepath.Join(archive, "dists", "newest")
	require.NoError(t, os.MkdirAll(filepath.Join(dists, "main", "binary-amd64"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dists, "main", "binary-amd64", "Packages"), nil, 0o644))
	empty := "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	release := "Suite: newest\nCodename: newest\nArchitectures: amd64\nComponents: main\nDate: " + time.Now().UTC().Format(time.RFC1123) +
		"\nSHA256:\n " + empty + " 0 main/binary-amd64/Packages\n"
	require.NoError(t, os.WriteFile(filepath.Join(dists, "Release"), []byte(release), 0o644))
	lax := filepath.Join(archive, "apt.conf")
	require.NoError(t, os.WriteFile(lax, []byte(`Acquire::AllowInsecureRepositories "true"; APT::Get::AllowUnauthenticated "true";`), 0o644))
	t.Setenv("APT_CONFIG", lax)

	t.Setenv("GOVERBS_CACHE", t.TempDir())
	s, err := open(t.Context(), "newest", "amd64")
	require.NoError(t, err)
	defer s.close()
	assert.ErrorContains(t, s.updateFrom(t.Context(), Source{URI: "file:" + archive}), "is not signed")
}

// Who comes second waits for the first, as long as it likes.
func TestLock(t *testing.T) {
	t.Setenv("GOVERBS_CACHE", t.TempDir())
	first, err := open(t.Context(), "newest", "amd64")
	require.NoError(t, err)
	impatient, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = open(impatient, "newest", "amd64")
	require.ErrorIs(t, err, context.DeadlineExceeded)

	got := make(chan error)
	go func() {
		second, err := open(t.Context(), "newest", "amd64")
		if err == nil {
			second.close()
		}
		got <- err
	}()
	first.close()
	assert.NoError(t, <-got)
}

// What was had is used for a day, and then only where nothing newer can be had.
func TestKept(t *testing.T) {
	t.Setenv("GOVERBS_CACHE", t.TempDir())
	s, err := open(t.Context(), "newest", "amd64")
	require.NoError(t, err)
	defer s.close()
	fill := func(text string, err error) func(context.Context, string, []string) error {
		return func(_ context.Context, dir string, _ []string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "text"), []byte(text), 0o644), err)
		}
	}
	down := errors.New("the archive is down")
	have := func(text string, fill func(context.Context, string, []string) error) string {
		dir, err := s.kept(t.Context(), "root", []string{"b", "a"}, fill)
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(dir, "text"))
		require.NoError(t, err)
		require.Equal(t, text, string(got))
		return dir
	}
	_, err = s.kept(t.Context(), "root", []string{"a", "b"}, fill("nothing", down))
	require.ErrorIs(t, err, down)
	dir := have("first", fill("first", nil))
	have("first", fill("second", nil))
	yesterday := time.Now().Add(-day)
	require.NoError(t, os.Chtimes(dir, yesterday, yesterday))
	have("first", fill("half", down))
	have("third", fill("third", nil))
}

func TestKeepLinksWithin(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "usr", "lib"), 0o755))
	for name, target := range map[string]string{"usr/lib/absolute": "/lib/file", "usr/lib/relative": "file"} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	require.NoError(t, keepLinksWithin(dir))
	for name, want := range map[string]string{"usr/lib/absolute": "../../lib/file", "usr/lib/relative": "file"} {
		target, err := os.Readlink(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, want, target, name)
	}
}
