// Package vendoring tests what it takes to have goverbs in a vendor folder.
package vendoring

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What it may take. More is a dependency that users get: have it in a module of its own, or do without.
const (
	maxBytes   = 3 << 20
	maxModules = 3  // goverbs, where it is replaced, and purego
	maxGraph   = 25 // lines of go mod graph
)

// A user is a module that vendors goverbs.
type user struct {
	t       *testing.T
	dir     string
	command string // go
}

// newUser makes a module with the program in testdata, and vendors what it needs.
func newUser(t *testing.T, root string) user {
	t.Helper()
	goCommand, err := exec.LookPath("go")
	require.NoError(t, err)
	u := user{t, t.TempDir(), goCommand}
	program, err := os.ReadFile(filepath.Join("testdata", "main.go"))
	require.NoError(t, err)
	u.write("main.go", string(program))
	u.write("go.mod", "module example.org/user\n\ngo 1.26.0\n\nrequire github.com/goverbs/goverbs v0.0.0\n\n"+
		"replace github.com/goverbs/goverbs => "+root+"\n")
	u.run(nil, "mod", "tidy")
	u.run(nil, "mod", "vendor")
	return u
}

func (u user) write(name, text string) {
	u.t.Helper()
	require.NoError(u.t, os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o666))
}

// run runs the go command without cgo.
func (u user) run(env []string, args ...string) string {
	u.t.Helper()
	cmd := exec.Command(u.command, args...)
	cmd.Dir = u.dir
	cmd.Env = append(os.Environ(), append([]string{"GOWORK=off", "CGO_ENABLED=0"}, env...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(u.t, err, "%v: %s", args, out)
	return string(out)
}

// offline has nothing in PATH, and nothing can be downloaded.
func (u user) offline(more ...string) []string {
	return append(more, "PATH="+u.t.TempDir(), "GOPROXY=off", "GOFLAGS=-mod=vendor -buildvcs=false")
}

// A module that vendors goverbs is built offline, with no C compiler anywhere, and for every target everything is in its
// vendor folder. What is vendored, and the graph of modules, are small.
func TestVendored(t *testing.T) {
	if testing.Short() {
		t.Skip("one build is enough")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	u := newUser(t, root)
	graph := strings.Count(u.run(nil, "mod", "graph"), "\n")
	require.LessOrEqual(t, graph, maxGraph, "lines of go mod graph")

	modules, err := os.ReadFile(filepath.Join(u.dir, "vendor", "modules.txt"))
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count("\n"+string(modules), "\n# "), maxModules, "%s", modules)
	require.NotContains(t, string(modules), "golang.org/x/sys", "see package internal/system")
	size := vendored(t, filepath.Join(u.dir, "vendor"))
	require.LessOrEqual(t, size, int64(maxBytes))
	t.Logf("%d bytes are vendored, and the graph has %d lines", size, graph)

	// That the same files compile for each target is seen where all targets are vetted.
	u.run(u.offline(), "build", "-o", os.DevNull, ".")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(makefile), "\nTARGETS := ")
	require.True(t, ok)
	targets, _, _ := strings.Cut(after, "\nTAGS")
	listed := 0
	for target := range strings.FieldsSeq(targets) {
		system, processor, ok := strings.Cut(target, "/")
		if !ok || strings.HasPrefix(target, "#") {
			continue
		}
		packages := u.run(u.offline("GOOS="+system, "GOARCH="+processor), "list", "-deps", ".")
		require.Contains(t, packages, "github.com/goverbs/goverbs/internal/dl")
		listed++
	}
	require.Greater(t, listed, 10)
}

// What programs import has no x/sys in it, whichever package it is.
func TestWithoutSys(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/goverbs/goverbs/rdma", "github.com/goverbs/goverbs/ibvtest",
		"github.com/goverbs/goverbs/conformance", "github.com/goverbs/goverbs/clib").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "\ngolang.org/x/sys", "see package internal/system")
}

// vendored is how many bytes are in a folder.
func vendored(t *testing.T, folder string) (size int64) {
	require.NoError(t, filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	}))
	return size
}
