//go:build linux && !android

package dl

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A function is known to be in the library that it was looked up in, by the path it
// was loaded from; what is nowhere is in none.
func TestFileOf(t *testing.T) {
	if !loads {
		require.Empty(t, FileOf(8))
		return
	}
	confstr, err := findSymbol(everywhere, "confstr")
	require.NoError(t, err)
	file := FileOf(confstr)
	require.True(t, filepath.IsAbs(file), file)
	require.Regexp(t, `^(libc|ld-musl)`, filepath.Base(file))
	require.Equal(t, file, FileOf(confstr+1), "within a function")
	for _, nowhere := range []uintptr{0, 1, 8, ^uintptr(0)} {
		require.Empty(t, FileOf(nowhere))
	}
}
