package scripted

import (
	_ "embed"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/ccompile"
)

//go:embed testdata/provider.c
var source []byte

// Compile compiles the provider into a folder, once for each name, and returns the path of the shared object.
func Compile(t testing.TB, folder, name string, flags ...string) string {
	t.Helper()
	file := filepath.Join(folder, name+".c")
	require.NoError(t, os.WriteFile(file, source, 0o600))
	return ccompile.Shared(t, file, filepath.Join(folder, name), flags...)
}
