package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// The releases of a clone are read from git, with the headers where rdma-core
// installs them, and a provider's private header of the same name left out.
func TestFactsOfClone(t *testing.T) {
	clone, out := t.TempDir(), filepath.Join(t.TempDir(), "facts")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", clone, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "git %v: %s", args, text)
	}
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(clone, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	git("init", "-q")
	put("libibverbs/verbs.h", "#include <infiniband/ib_user_ioctl_verbs.h>\nstruct ibv_a { int x; };\n")
	put("kernel-headers/rdma/ib_user_ioctl_verbs.h", "enum ib_e { IB_E };\n")
	put("providers/mlx5/verbs.h", "#error private\n")
	put("libibumad/umad.h", "#include <infiniband/ib.h>\n")
	put("librdmacm/ib.h", "struct ib_a { int x; };\n")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	git("tag", "v1.0")
	put("libibverbs/verbs.h", "struct ibv_a { int x; int y; };\n")
	git("commit", "-q", "-a", "-m", "two")
	git("tag", "v2.0")
	put("libibverbs/verbs.h", "struct ibv_a {\n")
	git("commit", "-q", "-a", "-m", "broken")
	git("tag", "v3.0")

	gen(t, "facts", "-clone", clone, "-tags", "v[12].*", "-target", "linux/arm64", "-o", out)
	one, err := abi.ReadFiles(filepath.Join(out, "1.0.json.gz"))
	require.NoError(t, err)
	require.Len(t, one, 1)
	assert.Equal(t, "1.0", one[0].Version)
	assert.Equal(t, "arm64", one[0].GOARCH)
	assert.Equal(t, "IB_E", one[0].Enums[0].Enumerators[0].Name)
	_, err = output("diff", filepath.Join(out, "1.0.json.gz")+"@linux/arm64", filepath.Join(out, "2.0.json.gz")+"@linux/arm64")
	assert.Equal(t, exitError(2), err, "the enumeration is gone")

	gen(t, "facts", "-clone", clone, "-tags", "v2.0", "-header", "infiniband/umad.h", "-o", out)
	umad, err := abi.ReadFiles(filepath.Join(out, "2.0.json.gz"))
	require.NoError(t, err)
	assert.Equal(t, "ib_a", umad[0].Records[0].Name)

	assert.ErrorContains(t, genFails(t, "facts", "-clone", clone, "-o", out), "no facts of 1 of 3 tags: v3.0")
	assert.ErrorContains(t, genFails(t, "facts", "-clone", clone, "-tags", "w*", "-o", out), `no tag like "w*"`)
	assert.ErrorContains(t, genFails(t, "facts", "-clone", clone), "name the folder with -o")
}

// Every command explains itself, and takes each flag that it lists as often as
// it says.
func TestHelp(t *testing.T) {
	for _, c := range commands() {
		out, err := output(c.name, "-h")
		require.Error(t, err)
		assert.Contains(t, out, "usage: gen "+c.name, c.name)
		for _, flag := range []string{"-header header", "-target "} {
			assert.Contains(t, out, "\n  "+flag, c.name)
		}
		_, err = output(c.name, "-I", t.TempDir(), "65.0", "65.0")
		assert.Equal(t, strings.Contains(out, "\n  -I "), !strings.Contains(fmt.Sprint(err), "not defined: -I"), "%s: %v", c.name, err)
		_, usage, _ := strings.Cut(out, "\n  -target ")
		usage, _, _ = strings.Cut(usage, "\n  -")
		args := []string{"-header", "absent.h", "-target", "linux/amd64", "-target", "linux/arm64"}
		if c.name == "diff" {
			args = append(args, "65.0", "65.0")
		}
		_, err = output(c.name, args...)
		assert.Equal(t, strings.Contains(usage, "repeatable"), !strings.Contains(fmt.Sprint(err), "takes one -target"), "%s: %v", c.name, err)
	}
}
