package scripted

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/dl"
	"github.com/goverbs/goverbs/internal/emulated"
)

// Again runs the tests that pattern names in another process with something added to the environment, and requires that
// they pass. It is one without package rdma's checked mode, in which C is asked for less at once.
func Again(t *testing.T, pattern string, env ...string) {
	t.Helper()
	cmd := emulated.Itself("-test.v", "-test.run="+pattern)
	cmd.Env = append(append(os.Environ(), "GOVERBS_CHECK=0"), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", passed.ReplaceAll(out, nil))
	require.Contains(t, string(out), "--- PASS: Test", "no test ran")
	require.NotContains(t, string(out), "--- SKIP", "a test was left out")
}

// passed is what go test says of tests that pass.
var passed = regexp.MustCompile(`(?m)^(=== .*| *--- PASS.*)\n`)

// InOldLibrary runs the calling test in a process whose libibverbs is the provider, compiled into a folder, with
// something added to the environment. It returns nil in this process, where nothing is left to do, and that libibverbs in
// the other one.
func InOldLibrary(t *testing.T, folder string, env ...string) *dl.Library {
	t.Helper()
	const role, libibverbs = "IBV_TEST_IN_OLD_LIBRARY", "GOVERBS_LIBIBVERBS"
	if os.Getenv(role) == "" {
		env = append(env, role+"=1", libibverbs+"="+Compile(t, folder, "libold.so", "-DOLD_LIBRARY"))
		Again(t, "^"+t.Name()+"$", env...)
		return nil
	}
	library, err := dl.Load()
	require.NoError(t, err)
	require.Equal(t, os.Getenv(libibverbs), library.Name())
	return library
}
