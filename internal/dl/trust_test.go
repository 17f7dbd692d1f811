//go:build linux && !android

package dl

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

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

// C no longer sees what rdma-core reads to load a library, to look for devices elsewhere, or to open a file for writing.
func TestClearFollowed(t *testing.T) {
	if !loads {
		clearFollowed() // no C sees anything
		return
	}
	getenv, err := findSymbol(everywhere, "getenv")
	require.NoError(t, err)
	seen := func(name string) string {
		text := append([]byte(name), 0)
		value, _ := Call(getenv, uintptr(unsafe.Pointer(&text[0])))
		return Text(value)
	}
	dangerous := []string{
		"RDMAV_DRIVERS", "IBV_DRIVERS", // libibverbs/dynamic_driver.c
		"SYSFS_PATH",      // libibverbs/sysfs.c
		"VERBS_LOG_FILE",  // libibverbs/init.c
		"MLX5_DEBUG_FILE", // providers/mlx5/mlx5.c
		"QELR_DEBUG_FILE", // providers/qedr/qelr_main.c
	}
	const harmless = "VERBS_LOG_LEVEL"
	for _, name := range append(dangerous, harmless) {
		t.Setenv(name, "chosen")
		require.Equal(t, "chosen", seen(name), name)
	}
	clearFollowed()
	for _, name := range dangerous {
		require.Empty(t, seen(name), name)
		require.Equal(t, "chosen", os.Getenv(name), "Go's stays as it is")
	}
	require.Equal(t, "chosen", seen(harmless))
}
