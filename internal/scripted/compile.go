package scripted

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed testdata/provider.c
var source []byte

// Compile compiles the provider into a folder, once for each name, and returns the path of the shared object.
func Compile(t testing.TB, folder, name string, flags ...string) string {
	t.Helper()
	file := filepath.Join(folder, name+".c")
	require.NoError(t, os.WriteFile(file, source, 0o600))
	return CompileFile(t, file, filepath.Join(folder, name), flags...)
}

// CompileFile compiles a file in C to a shared object, unless that is there, and returns the path of that. Without a C
// compiler there is nothing to test against, which has to be admitted with GOVERBS_NO_CC=1.
func CompileFile(t testing.TB, file, object string, flags ...string) string {
	t.Helper()
	if os.Getenv("GOVERBS_NO_CC") == "1" {
		t.Skip("GOVERBS_NO_CC=1: no C compiler to test against")
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	if _, err := os.Stat(object); err == nil {
		return object // by a test before
	}
	args := append([]string{"-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", object, file}, flags...)
	out, err := exec.Command(compiler, args...).CombinedOutput()
	require.NoError(t, err, "%s (GOVERBS_NO_CC=1 does without a C compiler; the headers are in libibverbs-dev or rdma-core-devel)\n%s", compiler, out)
	return object
}
