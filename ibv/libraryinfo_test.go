//go:build linux

package ibv_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// The file that was loaded is told, and its release: by its name, and if that does not say, by what it has.
func TestLibrary(t *testing.T) {
	const role = "IBV_TEST_RENAMED_LIBRARY"
	if renamed := os.Getenv(role); renamed != "" {
		info, err := ibv.Library()
		require.NoError(t, err)
		require.Equal(t, renamed, info.File)
		require.Empty(t, info.Release)
		require.NotEmpty(t, info.Since)
		require.Contains(t, info.String(), "rdma-core "+info.Since+" or newer")
		_, err = ibv.Devices()
		if err != nil { // in a machine without RDMA
			require.NotErrorIs(t, err, ibv.ErrNoLibrary)
		}
		return
	}
	info, err := ibv.Library()
	require.NoError(t, err, "these tests need libibverbs")
	require.True(t, filepath.IsAbs(info.File), info.File)
	stat, err := os.Lstat(info.File)
	require.NoError(t, err)
	require.True(t, stat.Mode().IsRegular(), "links are followed")
	require.Regexp(t, `^\d+\.\d+$`, info.Release)
	require.Regexp(t, `libibverbs\.so\.1\.\d+\.`+info.Release+`$`, info.File)
	require.LessOrEqual(t, number(t, info.Since), number(t, info.Release))
	if info.Before != "" {
		require.Less(t, number(t, info.Release), number(t, info.Before))
	}
	require.Equal(t, "rdma-core "+info.Release+" ("+info.File+")", info.String())

	folder := t.TempDir()
	for _, name := range []string{"libibverbs.so.1", "any name.so"} {
		renamed := filepath.Join(folder, name)
		library, err := os.ReadFile(info.File)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(renamed, library, 0o700))
		link := filepath.Join(folder, "a link to "+name)
		require.NoError(t, os.Symlink(renamed, link))
		again(t, "^TestLibrary$", "GOVERBS_LIBIBVERBS="+link, role+"="+renamed)
	}
}

// number is a release as a number.
func number(t *testing.T, release string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(release, 64)
	require.NoError(t, err)
	return n
}
