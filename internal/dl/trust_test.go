//go:build linux && !android

package dl

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// These tests have no rights of their own; test/device has real programs that do.
func TestWithheld(t *testing.T) {
	require.False(t, privileged())
	require.Empty(t, withheld())
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "libnone.so.1"), nil, 0o600))
	t.Setenv(overrideVariable, "/nowhere/libibverbs.so.1")
	t.Setenv(foldersVariable, folder)
	follows := withheld
	t.Cleanup(func() { withheld = follows })
	withheld = func() string { return "of a reason" }
	for _, soname := range []string{Libibverbs, "libnone.so.1"} {
		c := choose(soname)
		require.Equal(t, choice{soname: soname, name: soname}, c)
		text := c.missing(os.ErrNotExist).Error()
		require.Contains(t, text, "GOVERBS_LIBIBVERBS and GOVERBS_LIBRARIES are not followed, because of a reason")
		require.NotContains(t, text, "or name", "what would be of no use")
	}
}
