package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gen runs the command and returns what it prints.
func gen(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, run(args, &out), "gen %s\n%s", strings.Join(args, " "), &out)
	return out.String()
}

// genFails runs the command, which must not succeed.
func genFails(t *testing.T, args ...string) error {
	t.Helper()
	var out bytes.Buffer
	err := run(args, &out)
	require.Error(t, err, "gen %s\n%s", strings.Join(args, " "), &out)
	return err
}

// machine is the target that the tests run on.
func machine() string {
	target := runtime.GOOS + "/" + runtime.GOARCH
	if musl, _ := filepath.Glob("/lib/ld-musl-*"); musl != nil {
		target += "/musl"
	}
	return target
}

// cc compiles a C file without keeping the object.
func cc(t *testing.T, file string, options ...string) (string, error) {
	t.Helper()
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	_, err := exec.LookPath(compiler)
	require.NoError(t, err, "there is no C compiler to compare with; `make deps` installs one")
	options = append(options, "-std=gnu11", "-fsyntax-only", "-fmax-errors=20", file)
	out, err := exec.Command(compiler, options...).CombinedOutput()
	return string(out), err
}

func TestCommittedBindingsAreCurrent(t *testing.T) {
	gen(t, "check", "-o", "../ibv")
}

// shippedHeaders are headers of rdma-core that C programs include, and how many
// assertions at least they are worth.
var shippedHeaders = map[string]int{
	"infiniband/efadv.h":       1500,
	"infiniband/ib.h":          20,
	"infiniband/manadv.h":      1500,
	"infiniband/mlx4dv.h":      1700,
	"infiniband/mlx5_api.h":    90,
	"infiniband/mlx5dv.h":      2500,
	"infiniband/sa-kern-abi.h": 10,
	"infiniband/sa.h":          1500,
	"infiniband/tm_types.h":    15,
	"infiniband/verbs.h":       1500,
	"rdma/hfi/hfi1_user.h":     150,
	"rdma/ib_user_mad.h":       50,
	"rdma/ib_user_verbs.h":     1000,
	"rdma/rdma_cma.h":          1700,
	"rdma/rdma_cma_abi.h":      2500,
	"rdma/rdma_user_cm.h":      200,
	"rdma/rdma_user_rxe.h":     100,
	"rdma/rdma_verbs.h":        1700,
	"rdma/rsocket.h":           1700,
	"rdma/rvt-abi.h":           1000,
}

// newModule makes a Go module that has goverbs as it is here.
func newModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	sums, err := os.ReadFile("../go.sum")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644))
	// Its requirements are goverbs' own, so that no command has to look them up.
	mod, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	text := strings.Replace(string(mod), "module github.com/goverbs/goverbs\n", "module example.org/bindings\n", 1) +
		"\nrequire github.com/goverbs/goverbs v0.0.0\n\nreplace github.com/goverbs/goverbs => " + root + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644))
	return dir
}

// goCommand runs the go command in a module, for a target.
func goCommand(t *testing.T, module, target string, args ...string) string {
	t.Helper()
	system, arch, _ := strings.Cut(target, "/")
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = module, append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "go %v for %s:\n%s", args, target, out)
	return string(out)
}

// Every header becomes a Go package that compiles, on either byte order: then
// the assertions in it hold.
func TestHeadersBecomePackages(t *testing.T) {
	t.Parallel()
	module := newModule(t)
	for header := range shippedHeaders {
		name := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(header), ".h"), "-", "_")
		gen(t, "generate", "-header", header, "-package", name, "-o", filepath.Join(module, name))
	}
	for _, arch := range []string{runtime.GOARCH, "s390x"} {
		goCommand(t, module, "linux/"+arch, "vet", "./...")
	}
}

// The C compiler of this machine is asked about everything that Go was told of
// the headers of this machine.
func TestCompilerAgrees(t *testing.T) {
	t.Parallel()
	for header, least := range shippedHeaders {
		t.Run(header, func(t *testing.T) {
			text := gen(t, "assert", "-header", header, "-target", machine())
			require.Greater(t, strings.Count(text, "_Static_assert"), least)
			file := filepath.Join(t.TempDir(), "assert.c")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			out, err := cc(t, file)
			require.NoError(t, err, "the C compiler disagrees:\n%s", out)
		})
	}
}

// An assertion that is wrong by one must be noticed, or the test above proves
// nothing.
func TestCompilerDisagrees(t *testing.T) {
	text := gen(t, "assert", "-target", machine())
	for _, wrong := range []struct{ name, right, wrong string }{
		{"size", "(sizeof(struct ibv_recv_wr)) == 32", "(sizeof(struct ibv_recv_wr)) == 33"},
		{"alignment", "(_Alignof(union ibv_gid)) == 8", "(_Alignof(union ibv_gid)) == 1"},
		{"offset", "(offsetof(struct ibv_recv_wr, sg_list)) == 16", "(offsetof(struct ibv_recv_wr, sg_list)) == 8"},
		{"enumerator", "(IBV_QPT_RC) == 2", "(IBV_QPT_RC) == 3"},
	} {
		t.Run(wrong.name, func(t *testing.T) {
			require.Equal(t, 1, strings.Count(text, wrong.right))
			file := filepath.Join(t.TempDir(), "assert.c")
			require.NoError(t, os.WriteFile(file, []byte(strings.Replace(text, wrong.right, wrong.wrong, 1)), 0o644))
			out, err := cc(t, file)
			require.Error(t, err)
			assert.Equal(t, 1, strings.Count(out, "error: static assertion failed"), out)
		})
	}
}

func TestOutputIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	dirs := []string{t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		gen(t, "generate", "-o", dir)
	}
	names, err := fs.Glob(os.DirFS(dirs[0]), "*")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		first, err := os.ReadFile(filepath.Join(dirs[0], name))
		require.NoError(t, err)
		second, err := os.ReadFile(filepath.Join(dirs[1], name))
		require.NoError(t, err)
		assert.Equal(t, string(first), string(second), name)
	}
	assert.Contains(t, gen(t, "generate", "-o", dirs[0]), "up to date")
}

func TestMissingHeaderNamesItsPackages(t *testing.T) {
	empty := t.TempDir()
	err := genFails(t, "facts", "-I", empty)
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, want := range []string{
		"infiniband/verbs.h was not found in " + empty,
		"it comes with: Debian, Ubuntu: libibverbs-dev", "Fedora", "CentOS Stream", "openSUSE", "Alpine", "Arch", "NixOS", "FreeBSD", "-I",
	} {
		assert.ErrorContains(t, err, want)
	}
	assert.ErrorContains(t, genFails(t, "facts", "-I", empty, "-header", "rdma/rdma_cma.h"), "it comes with: Debian, Ubuntu: librdmacm-dev")
	unknown := genFails(t, "facts", "-I", empty, "-header", "infiniband/nope.h")
	assert.ErrorContains(t, unknown, "no package is known to have it; rdma-core's headers come with: Debian, Ubuntu: libibverbs-dev")
	assert.NotContains(t, unknown.Error(), "it comes with")
	assert.ErrorContains(t, genFails(t, "facts", "-I", empty, "-header", "linux/nope.h"), "if the kernel has it, it comes with: Debian, Ubuntu: linux-libc-dev")
}
