package ibv_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/dl"
)

// scratch is a directory for the time of the tests.
var scratch string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if os.Getenv("GOVERBS_CCALL") == "portable" && ccall.Direct() {
		fmt.Println("GOVERBS_CCALL=portable has no effect")
		return 1
	}
	dir, err := os.MkdirTemp("", "ibv")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	return m.Run()
}

// compiled is compiledFrom for testdata/provider.c.
func compiled(t testing.TB, name string, flags ...string) string {
	t.Helper()
	return compiledFrom(t, "provider.c", name, flags...)
}

// compiledFrom compiles a file of testdata, and returns the path of the shared
// object. Without a C compiler there is nothing to test against, which has to be
// admitted with GOVERBS_NO_CC=1.
func compiledFrom(t testing.TB, source, name string, flags ...string) string {
	t.Helper()
	if os.Getenv("GOVERBS_NO_CC") == "1" {
		t.Skip("GOVERBS_NO_CC=1: no C compiler to test against")
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	object := filepath.Join(scratch, name)
	if _, err := os.Stat(object); err == nil {
		return object // by a test before
	}
	args := append([]string{"-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", object, filepath.Join("testdata", source)}, flags...)
	out, err := exec.Command(compiler, args...).CombinedOutput()
	require.NoError(t, err, "%s (GOVERBS_NO_CC=1 does without a C compiler; the headers are in libibverbs-dev or rdma-core-devel)\n%s", compiler, out)
	return object
}

// again runs the tests that pattern names in another process with something
// added to the environment, and requires that they pass.
func again(t *testing.T, pattern string, env ...string) {
	t.Helper()
	command := append(strings.Fields(os.Getenv("GOVERBS_TEST_EMULATOR")), os.Args[0], "-test.v", "-test.run="+pattern)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", passed.ReplaceAll(out, nil))
	require.Contains(t, string(out), "--- PASS: Test", "no test ran")
	require.NotContains(t, string(out), "--- SKIP", "a test was left out")
}

// passed is what go test says of tests that pass.
var passed = regexp.MustCompile(`(?m)^(=== .*| *--- PASS.*)\n`)

// inOldLibrary runs the calling test in a process whose libibverbs is
// testdata/provider.c. It returns nil in this process, where nothing is left to
// do, and that libibverbs in the other one.
func inOldLibrary(t *testing.T) *dl.Library {
	t.Helper()
	const role, libibverbs = "IBV_TEST_IN_OLD_LIBRARY", "GOVERBS_LIBIBVERBS"
	if os.Getenv(role) == "" {
		again(t, "^"+t.Name()+"$", role+"=1", libibverbs+"="+compiled(t, "libold.so", "-DOLD_LIBRARY"))
		return nil
	}
	library, err := dl.Load()
	require.NoError(t, err)
	require.Equal(t, os.Getenv(libibverbs), library.Name())
	return library
}

// Whatever is said of posting and polling holds without the direct call too.
func TestPortable(t *testing.T) {
	tests := []string{"TestPost", "TestChain", "TestPoll", "TestRange", "TestQueryPort", "TestBatch", "TestExtendedPoll"}
	again(t, "^("+strings.Join(tests, "|")+")", "GOVERBS_CCALL=portable")
}
