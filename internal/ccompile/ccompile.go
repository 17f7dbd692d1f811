// Package ccompile is for tests against C: it makes shared objects of C with the machine's compiler.
package ccompile

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Shared compiles a file in C to a shared object, unless that is there, and returns the path of that. The compiler is CC, or
// cc. Without one there is nothing to test against, which has to be admitted with GOVERBS_NO_CC=1.
func Shared(t testing.TB, file, object string, flags ...string) string {
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
