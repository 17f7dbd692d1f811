package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// said runs a command and returns what it prints beside its answer.
func said(t *testing.T, args ...string) string {
	t.Helper()
	var text bytes.Buffer
	before := stderr
	stderr = &text
	defer func() { stderr = before }()
	gen(t, args...)
	return text.String()
}

// What Go cannot express refuses no header: it is left out, and said once for all
// targets, or with the targets that it is of.
func TestGenerateSaysWhatItLeavesOut(t *testing.T) {
	dir := t.TempDir()
	headers := include(t, "infiniband/x.h", `
struct line { int a; } __attribute__((aligned(64)));
struct lines { struct line l[2]; };
struct user { struct line *l; int a; };
#ifdef __s390x__
struct other { long double a; };
#endif
#define SIZE sizeof(struct user)
`)
	args := []string{"-header", "infiniband/x.h", "-package", "x", "-I", headers, "-o", dir}
	assert.Equal(t, "gen: left out: infiniband/x.h:2: struct line: an alignment of 64 cannot be had in Go\n"+
		"gen: left out: infiniband/x.h:3:28: struct line l[2] in struct lines: Go has no definition of struct line\n"+
		"gen: left out: infiniband/x.h:6:28: long double a in struct other: the type long double has no counterpart in Go (linux/s390x/glibc)\n",
		said(t, append([]string{"generate"}, args...)...))
	assert.Contains(t, said(t, append([]string{"check"}, args...)...), "gen: left out: infiniband/x.h:2: struct line:")
	text := files(t, dir)["zz_generated.go"]
	assert.Contains(t, text, "type User struct")
	assert.Contains(t, text, "type Line struct {\n\t_ structs.HostLayout\n}")
	assert.NotContains(t, text, "type Lines ")
	goFolder(t, dir, "linux/amd64", "linux/s390x")
}

// goFolder vets the Go in a folder for targets.
func goFolder(t *testing.T, dir string, targets ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/x\n\ngo 1.26\n"), 0o644))
	for _, target := range targets {
		goCommand(t, dir, target, "vet", "./...")
	}
}

// A header without types and numbers gives no Go, and that is said, also by who
// takes the types from another package.
func TestGenerateOfFunctionsOnly(t *testing.T) {
	for text, want := range map[string]string{
		"int f(int); int g(void);": "there is no Go to write\nleft out: the functions of infiniband/x.h (2); -library is to name the library that exports them",
		"":                         "infiniband/x.h declares no types or numbers of its own: there is no Go to write",
	} {
		dir := t.TempDir()
		args := []string{"-header", "infiniband/x.h", "-I", include(t, "infiniband/x.h", text), "-o", dir}
		out := gen(t, append([]string{"generate"}, args...)...)
		assert.Contains(t, out, want)
		assert.Len(t, files(t, dir), 1, "the facts only")
		assert.Contains(t, gen(t, append([]string{"check"}, args...)...), "0 files in "+dir+" are right")
	}
}

// A header that some targets refuse names those that do not, for -target.
func TestHeaderOfSomeTargets(t *testing.T) {
	headers := include(t, "x.h", `
#if !defined __x86_64__ && !defined __aarch64__
#error this processor has no barriers
#endif
struct s { int a; };
`)
	args := []string{"generate", "-header", "x.h", "-I", headers, "-o", t.TempDir()}
	err := genFails(t, args...)
	require.ErrorContains(t, err, "for linux/loong64: x.h:3:2: this processor has no barriers")
	const advice = "the header is not for every target; where it is, it was read: give "
	_, names, found := strings.Cut(err.Error(), advice)
	require.True(t, found, err)
	assert.Equal(t, "-target linux/amd64 -target linux/arm64 -target linux/arm64/musl", names)
	assert.Contains(t, gen(t, append(args, strings.Fields(names)...)...), "zz_generated.go written")
	// Where no target reads it, there is none to name.
	assert.NotContains(t, genFails(t, append(args, "-target", "linux/s390x")...).Error(), advice)
}

// A function that has the symbol of another is left out: a call of that one by its name
// would be a call of something else.
func TestLabelsAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	args := []string{"generate", "-header", "foo.h", "-library", "libfoo.so.1", "-o", dir, "-I", include(t, "foo.h",
		"int foo_old(int x) __asm__(\"foo_new\");\nint foo_two(int), foo_three(int);\nint foo_later(int);\nint foo_later(int) asm(\"foo_sooner\");\n")}
	assert.Equal(t, "gen: left out: foo.h:1:20: function foo_old: __asm__(\"foo_new\") gives it the symbol of another function\n"+
		"gen: left out: foo.h:4:20: function foo_later: asm(\"foo_sooner\") gives it the symbol of another function\n", said(t, args...))
	text := files(t, dir)["zz_generated.go"]
	assert.Contains(t, text, "func FooTwo(")
	assert.NotContains(t, text, "foo_old")
	assert.NotContains(t, text, "foo_later")
}

// The functions of a header that only includes others are in those, and that is said.
func TestGenerateSaysWhoseFunctionsItLeavesOut(t *testing.T) {
	t.Parallel()
	folder := include(t, "foo.h", "#include \"foo/a.h\"\n#include \"foo/b.h\"\nint foo_own(int);\n")
	require.NoError(t, os.Mkdir(filepath.Join(folder, "foo"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "foo", "a.h"), []byte("int foo_one(int);\nint foo_two(int);\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "foo", "b.h"), []byte("#include <stdlib.h>\nstruct foo_b { int x; };\n"), 0o644))
	args := []string{"generate", "-header", "foo.h", "-I", folder, "-o", t.TempDir()}
	assert.Contains(t, gen(t, append(args, "-library", "libfoo.so.1")...),
		"left out: the functions of foo/a.h (2), which foo.h includes; a package of their own has them, with -header foo/a.h\n")
	assert.NotContains(t, gen(t, append(args, "-library", "libfoo.so.1")...), "b.h")
	said := gen(t, "generate", "-header", "infiniband/mlx5dv.h", "-library", "libmlx5.so.1", "-o", filepath.Join(newModule(t), "mlx5dv"))
	assert.NotContains(t, said, "which infiniband/mlx5dv.h includes", "verbs.h has a package")
}
