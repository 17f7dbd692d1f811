//go:build linux && !android

package dl

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The file is the one that was loaded, whatever links lead to now, and also when it is gone.
func TestLoadedFile(t *testing.T) {
	verbs, err := Load()
	require.NoError(t, err, "these tests need libibverbs")
	library, err := os.ReadFile(verbs.File())
	require.NoError(t, err)

	folder := t.TempDir()
	older, newer := filepath.Join(folder, "lib.so.1"), filepath.Join(folder, "a newer lib.so.2")
	for _, file := range []string{older, newer} {
		require.NoError(t, os.WriteFile(file, library, 0o700))
	}
	link := filepath.Join(folder, "lib.so")
	require.NoError(t, os.Symlink(older, link))
	first, err := Open(link)
	require.NoError(t, err)
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink(newer, link))
	second, err := Open(newer)
	require.NoError(t, err)
	require.NoError(t, os.Remove(newer))
	require.Equal(t, older, first.File())
	require.Equal(t, newer, second.File())
	require.Equal(t, link, first.Name())
	require.Equal(t, older, first.File(), "told again")
}

func TestMappedFile(t *testing.T) {
	const maps = `00400000-0049c000 r--p 00000000 fe:01 1234                               /opt/a program
7f0000000000-7f0000001000 r--p 00000000 fe:01 99                         /usr/lib/libibverbs.so.1.14.44.0
7f0000001000-7f0000003000 rw-p 00000000 00:00 0 
7f0000003000-7f0000004000 rw-p 00002000 fe:01 98                         /usr/lib/gone.so (deleted)
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
no map at all`
	for address, want := range map[uintptr]string{
		0x3fffff:           "",
		0x400000:           "/opt/a program",
		0x49bfff:           "/opt/a program",
		0x49c000:           "",
		0x7f0000000abc:     "/usr/lib/libibverbs.so.1.14.44.0",
		0x7f0000001000:     "",
		0x7f0000003fff:     "/usr/lib/gone.so",
		0xffffffffff600000: "",
		^uintptr(0):        "",
	} {
		require.Equal(t, want, mappedFile(maps, address), "%x", address)
	}
}
