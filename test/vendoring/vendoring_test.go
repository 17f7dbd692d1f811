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

const program = `package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

func main() {
	devices, err := rdma.Devices()
	if err != nil && !errors.Is(err, ibv.ErrNoLibrary) {
		fmt.Fprintln(os.Stderr, err)
	}
	fmt.Println("devices:", devices)
}
`

// A module that vendors goverbs is built offline, with no C compiler anywhere, for every target. What is vendored, and the
// graph of modules, are small.
func TestVendored(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles for every target")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	write("main.go", program)
	write("go.mod", "module example.org/user\n\ngo 1.26.0\n\nrequire github.com/goverbs/goverbs v0.0.0\n\n"+
		"replace github.com/goverbs/goverbs => "+root+"\n")
	goCommand, err := exec.LookPath("go")
	require.NoError(t, err)
	do := func(env []string, args ...string) string {
		t.Helper()
		cmd := exec.Command(goCommand, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), append([]string{"GOWORK=off", "CGO_ENABLED=0"}, env...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
		return string(out)
	}
	do(nil, "mod", "tidy")
	do(nil, "mod", "vendor")
	graph := strings.Count(do(nil, "mod", "graph"), "\n")
	require.LessOrEqual(t, graph, maxGraph, "lines of go mod graph")

	modules, err := os.ReadFile(filepath.Join(dir, "vendor", "modules.txt"))
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count("\n"+string(modules), "\n# "), maxModules, "%s", modules)
	require.NotContains(t, string(modules), "golang.org/x/sys", "see package internal/system")
	size := vendored(t, filepath.Join(dir, "vendor"))
	require.LessOrEqual(t, size, int64(maxBytes))
	t.Logf("%d bytes are vendored, and the graph has %d lines", size, graph)

	// Nothing is in PATH, and nothing can be downloaded.
	offline := []string{"PATH=" + t.TempDir(), "GOPROXY=off", "GOFLAGS=-mod=vendor -buildvcs=false"}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(makefile), "\nTARGETS := ")
	require.True(t, ok)
	targets, _, _ := strings.Cut(after, "\nTAGS")
	built := 0
	for target := range strings.FieldsSeq(targets) {
		system, processor, ok := strings.Cut(target, "/")
		if !ok || strings.HasPrefix(target, "#") {
			continue
		}
		do(append(offline, "GOOS="+system, "GOARCH="+processor), "build", "-o", os.DevNull, ".")
		built++
	}
	require.Greater(t, built, 10)
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
