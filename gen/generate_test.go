package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// include makes an include folder with one header.
func include(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return dir
}

const (
	oldHeader = `
struct pair { int a; int b; };
struct tail { struct pair p; };
enum colour { RED, GREEN };
#define LIMIT 10
int paint(struct pair *, enum colour);
`
	newHeader = `
struct pair { int a; int b; };
struct tail { struct pair p; int more; };
enum colour { RED, GREEN, BLUE };
#define LIMIT 10
#define DEPTH 3
struct fresh { long x; };
int paint(struct pair *, enum colour);
int scrape(struct fresh *);
`
)

// What was generated is never taken away: older headers change nothing, newer
// ones add, and the order in which they come does not matter.
func TestGenerateOnlyAdds(t *testing.T) {
	older, newer := include(t, "infiniband/x.h", oldHeader), include(t, "infiniband/x.h", newHeader)
	args := func(cmd, dir, headers, version string) []string {
		return []string{cmd, "-header", "infiniband/x.h", "-package", "x", "-I", headers, "-o", dir, "-version", version}
	}
	read := func(dir string) string {
		text, err := os.ReadFile(filepath.Join(dir, "zz_generated.go"))
		require.NoError(t, err)
		return string(text)
	}
	up, fresh := filepath.Join(t.TempDir(), "x"), t.TempDir()
	gen(t, args("generate", up, older, "1.0")...)
	assert.NotContains(t, read(up), "Fresh")
	said := gen(t, args("generate", up, newer, "2.0")...)
	for _, want := range []string{
		"infiniband/x.h 2.0 adds:", "grown: struct tail", "size 8 became 12", "added: enumerator BLUE",
		"added: macro DEPTH", "added: struct fresh", "added: function scrape",
	} {
		assert.Contains(t, said, want)
	}
	for _, want := range []string{
		"type Fresh struct", "// BLUE, since rdma-core 2.0", "struct fresh of infiniband/x.h, 8 bytes, since rdma-core 2.0",
		"// int more, since rdma-core 2.0", "macro DEPTH of infiniband/x.h, since rdma-core 2.0",
	} {
		assert.Contains(t, read(up), want)
	}
	before := read(up)
	assert.Contains(t, gen(t, args("generate", up, older, "1.0")...), "infiniband/x.h 1.0 is covered\n"+up+" is up to date")
	assert.Contains(t, gen(t, args("check", up, older, "1.0")...), "1.0 is covered")
	assert.Contains(t, gen(t, args("check", up, newer, "2.0")...), "2.0 is covered")
	assert.Equal(t, before, read(up))

	gen(t, args("generate", fresh, newer, "2.0")...)
	gen(t, args("generate", fresh, older, "1.0")...)
	assert.Contains(t, read(fresh), "type Fresh struct")
}

// Each header has what the other lacks: the bindings have both.
func TestGenerateJoins(t *testing.T) {
	left := include(t, "infiniband/x.h", "enum e { A, B = 1 };\nstruct l { int x; };\nstruct both { int a; };\n")
	right := include(t, "infiniband/x.h", "enum e { A, C = 2 };\nstruct r { int x; };\nstruct both { int a; int b; };\n")
	var texts []string
	for _, order := range [][]string{{left, right, left}, {right, left, right}} {
		dir := t.TempDir()
		for _, headers := range order {
			gen(t, "generate", "-header", "infiniband/x.h", "-package", "x", "-I", headers, "-o", dir)
		}
		text, err := os.ReadFile(filepath.Join(dir, "zz_generated.go"))
		require.NoError(t, err)
		for _, want := range []string{"type L struct", "type R struct", "= 1 // B", "= 2 // C", "// int b"} {
			assert.Contains(t, string(text), want)
		}
		texts = append(texts, string(text))
	}
	assert.Len(t, texts[1], len(texts[0]))
}

// What only its place in a record names keeps its Go name when another release
// adds a tag, an enumerator or a macro that would be called the same.
func TestAdditionsDoNotRename(t *testing.T) {
	const header = "struct a { struct { int x; struct { int y; } z; } b; int (*c)(void); union { struct { int v; } w; }; };\n"
	older := include(t, "infiniband/x.h", header)
	newer := include(t, "infiniband/x.h", "struct a_b { int q; }; union ibv_a_b_z { int q; }; typedef struct { int q; } a_c_func_t;\n"+
		"struct aW { int q; };\n"+header+"#define A_B 1\nenum { ABZ, A_W };\n")
	types := func(headers ...string) (all []string) {
		dir := t.TempDir()
		for _, h := range headers {
			gen(t, "generate", "-header", "infiniband/x.h", "-target", "linux/amd64", "-I", h, "-o", dir)
		}
		text, err := os.ReadFile(filepath.Join(dir, "zz_generated.go"))
		require.NoError(t, err)
		for _, name := range []string{"A", "AB", "ABZ", "AW"} {
			_, after, found := strings.Cut(string(text), "\ntype "+name+" ")
			require.True(t, found, name)
			body, _, _ := strings.Cut(after, "\n\n")
			all = append(all, strings.Join(strings.Fields(body), " "))
		}
		return all
	}
	want := types(older)
	assert.Equal(t, want, types(newer))
	assert.Equal(t, want, types(older, newer))
	assert.Equal(t, want, types(newer, older))
}

// A header that contradicts what is known is refused, and no file is touched.
func TestGenerateRefusesWhatChanged(t *testing.T) {
	for _, c := range []struct{ name, header, want string }{
		{"layout", "struct pair { long a; int b; };", "changed: struct pair\n      a (4 bytes at 0) became (8 bytes at 0)"},
		{"order", "struct pair { int b; int a; };", "changed: struct pair"},
		{"member", "struct pair { int a; unsigned b; };", "b was int, is unsigned int"},
		{"value", "enum colour { GREEN, RED };", "renumbered: enumerator RED\n      0 became 1"},
		{"macro", "#define LIMIT 11", "renumbered: macro LIMIT\n      10 became 11"},
		{"prototype", "struct pair; enum colour { RED, GREEN }; long paint(struct pair *, enum colour);", "changed: function paint"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			generate := func(headers string) []string {
				return []string{"generate", "-header", "infiniband/x.h", "-package", "x", "-I", headers, "-o", dir}
			}
			gen(t, generate(include(t, "infiniband/x.h", oldHeader))...)
			before := files(t, dir)
			changed := include(t, "infiniband/x.h", c.header+"\nstruct fresh { int x; };\n")
			assert.ErrorContains(t, genFails(t, generate(changed)...), c.want)
			check := append([]string{"check"}, generate(changed)[1:]...)
			refused := genFails(t, check...)
			assert.ErrorContains(t, refused, c.want)
			assert.Equal(t, 1, exitStatus(check, refused), "the files are not what the headers give")
			assert.Equal(t, before, files(t, dir))
		})
	}
}

// Room for later may be spelled otherwise in another release, an array of one byte as a
// byte. That contradicts nothing, and files stay as they are in either direction.
func TestRoomForLaterIsRespelled(t *testing.T) {
	t.Parallel()
	const one = "struct tail { unsigned char a; unsigned char reserved[1]; };\n"
	const other = "struct tail { unsigned char a; unsigned char reserved; };\n"
	const more = "struct fresh { int x; };\n"
	for _, texts := range [][3]string{{one, other, other + more}, {other, one, one + more}} {
		dir := t.TempDir()
		generate := func(text string) string {
			return gen(t, "generate", "-header", "x.h", "-I", include(t, "x.h", text), "-o", dir)
		}
		generate(texts[0])
		before := files(t, dir)
		assert.Contains(t, generate(texts[1]), "up to date")
		assert.Equal(t, before, files(t, dir))
		generate(texts[2])
		for name, text := range before {
			if filepath.Ext(name) == ".go" {
				layout := text[strings.Index(text, "type Tail"):]
				assert.Contains(t, files(t, dir)[name], layout[:strings.Index(layout, "}")])
			}
		}
		assert.Contains(t, generate(texts[0]), "up to date")
	}
	assert.ErrorContains(t, genFails(t, "generate", "-header", "x.h", "-I", include(t, "x.h", "struct tail { unsigned char a; unsigned char reserved; };"), "-o", generatedIn(t, "struct tail { char a; unsigned char reserved; };")),
		"a was char, is unsigned char", "what is in use is not")
}

// What a parameter points to may become constant, or be so no more: callers need not care.
func TestConstantParametersContradictNothing(t *testing.T) {
	t.Parallel()
	const one, other = "int x_a(char *name, int *const *p);\n", "int x_a(const char *name, const int **p);\n"
	for _, texts := range [][2]string{{one, other}, {other, one}} {
		dir := generatedIn(t, texts[0])
		generate := func(text string) string {
			return gen(t, "generate", "-header", "x.h", "-library", "libx.so.1", "-I", include(t, "x.h", text), "-o", dir)
		}
		generate(texts[0])
		before := files(t, dir)
		assert.Contains(t, generate(texts[1]), "up to date")
		assert.Equal(t, before, files(t, dir))
		generate(texts[1] + "int x_b(int);\n")
		assert.Contains(t, generate(texts[0]), "up to date")
	}
	for older, newer := range map[string]string{"int x_a(char *);": "int x_a(signed char *);", "char *x_a(void);": "const char *x_a(void);"} {
		assert.ErrorContains(t, genFails(t, "generate", "-header", "x.h", "-I", include(t, "x.h", newer), "-o", generatedIn(t, older)), "changed: function x_a")
	}
}

// A constant that has another value is refused, with what to do if it is meant to.
func TestRenumberedSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	dir := generatedIn(t, "enum x { X_A, X_MAX };\n")
	newer := []string{"generate", "-header", "x.h", "-I", include(t, "x.h", "enum x { X_A, X_B, X_MAX };\n"), "-o", dir}
	assert.ErrorContains(t, genFails(t, newer...), "to take the new ones all the same, remove "+factsName+" there and generate the package anew")
	require.NoError(t, os.Remove(filepath.Join(dir, factsName)))
	gen(t, newer...)
	assert.Contains(t, declaredIn(t, dir), "B")
}

// generatedIn is a folder with the package of a header.
func generatedIn(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	gen(t, "generate", "-header", "x.h", "-I", include(t, "x.h", text), "-o", dir)
	return dir
}

// files reads all files of a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	out := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		out[e.Name()] = string(text)
	}
	return out
}

// Generated files may change their package, unless other files hold them to it,
// and never their header.
func TestPackageOfTheFolder(t *testing.T) {
	headers, dir := include(t, "infiniband/x.h", oldHeader), t.TempDir()
	generate := func(pkg string) []string {
		return []string{"generate", "-header", "infiniband/x.h", "-package", pkg, "-I", headers, "-o", dir}
	}
	put := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	gen(t, generate("one")...)
	gen(t, generate("two")...)
	put("tool.go", "//go:build ignore\n\npackage main\n")
	put("more_test.go", "package two_test\n")
	put("two.go", "package two\n")
	gen(t, generate("two")...)
	before := files(t, dir)
	assert.ErrorContains(t, genFails(t, generate("one")...), "two.go there is of package two, and one folder has one package")
	err := genFails(t, "generate", "-header", "infiniband/y.h", "-package", "two", "-I", headers, "-o", dir)
	assert.EqualError(t, err, "-o "+dir+": the package there is of infiniband/x.h, not of infiniband/y.h; name the folder of another, or give -header infiniband/x.h")
	assert.Equal(t, before, files(t, dir))
}

// The package of another header says what it was made of, unless a file of the user's
// has the package's comment.
func TestPackageComment(t *testing.T) {
	headers, dir := include(t, "infiniband/x.h", newHeader), t.TempDir()
	args := []string{"-header", "infiniband/x.h", "-I", headers, "-o", dir}
	generate := func(more ...string) string {
		t.Helper()
		gen(t, slices.Concat([]string{"generate"}, args, more)...)
		gen(t, slices.Concat([]string{"check"}, args, more)...)
		return files(t, dir)["zz_generated.go"]
	}
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	const how = "\n//\n// It is generated. To take in what another release of the header has more, in this\n// folder:\n//\n//\tgo tool gen generate\npackage x\n"
	assert.Contains(t, generate(), "; DO NOT EDIT.\n\n// Package x is C's header infiniband/x.h."+how)
	dir = t.TempDir()
	args[len(args)-1] = dir
	assert.Contains(t, generate("-version", "2.0", "-library", "libx.so.1"),
		"\n// Package x is C's header infiniband/x.h, whose functions are those of libx.so.1, as of\n// rdma-core 2.0."+how)
	put("x_test.go", "// Package x is tested.\npackage x\n")
	put("x.go", "package x\n")
	assert.Contains(t, generate(), how)
	put("doc.go", "// Package x is ours.\npackage x\n")
	assert.NotContains(t, generate(), "// Package x")
}

// A package for another header begins in the folder that -o names, and no other; there,
// what was generated knows its folder.
func TestFolderHasToBeNamed(t *testing.T) {
	headers, dir := include(t, "infiniband/x.h", newHeader), t.TempDir()
	t.Chdir(dir)
	args := []string{"generate", "-header", "infiniband/x.h", "-I", headers}
	err := genFails(t, args...)
	assert.Equal(t, 2, exitStatus(args, err))
	assert.EqualError(t, err, "-header infiniband/x.h: -o is to name the folder of the Go package, such as -o ./x, or -o . for this one")
	assert.Empty(t, files(t, dir))
	gen(t, append(args, "-o", ".")...)
	assert.Contains(t, "\n"+gen(t, args...), "\ninfiniband/x.h is covered\n. is up to date\n", "no release is known")
	assert.Contains(t, gen(t, "check", "-I", headers), " files in . are right; infiniband/x.h is covered\n")
}

func TestCheckShowsWhatDiffers(t *testing.T) {
	headers, dir := include(t, "infiniband/x.h", oldHeader), t.TempDir()
	args := []string{"-header", "infiniband/x.h", "-package", "x", "-I", headers, "-o", dir}
	gen(t, append([]string{"generate"}, args...)...)
	name := filepath.Join(dir, "zz_generated.go")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, append(text, "var mine int\n"...), 0o644))
	old := filepath.Join(dir, "zz_generated_old.go")
	require.NoError(t, os.WriteFile(old, []byte("// Code generated by \"gen generate -header x\"; DO NOT EDIT.\npackage x\n"), 0o644))

	out, err := output("check", args...)
	require.Error(t, err)
	assert.Equal(t, 1, exitStatus([]string{"check"}, err))
	assert.Contains(t, out, "-var mine int\n")
	assert.Contains(t, out, old+" ought not to be there")
	assert.NotContains(t, out, "+var")

	said := gen(t, append([]string{"generate"}, args...)...)
	assert.Contains(t, said, old+" removed")
	gen(t, append([]string{"check"}, args...)...)
}

// A facts file stands in for the headers.
func TestGenerateFromFacts(t *testing.T) {
	headers := include(t, "infiniband/x.h", newHeader)
	file := filepath.Join(t.TempDir(), "x.json.gz")
	gen(t, "facts", "-header", "infiniband/x.h", "-I", headers, "-all", "-version", "2.0", "-o", file)
	direct, byFacts := t.TempDir(), t.TempDir()
	gen(t, "generate", "-header", "infiniband/x.h", "-package", "x", "-I", headers, "-version", "2.0", "-o", direct)
	gen(t, "generate", "-header", "infiniband/x.h", "-package", "x", "-facts", file, "-o", byFacts)
	want, got := files(t, direct), files(t, byFacts)
	require.NotEmpty(t, want)
	delete(want, factsName)
	delete(got, factsName)
	assert.Equal(t, want, got)
	assert.ErrorContains(t, genFails(t, "generate", "-header", "infiniband/verbs.h", "-facts", file, "-o", byFacts), "is of infiniband/x.h, not of infiniband/verbs.h")
}

// Facts of FreeBSD's branch join those of Linux: what both have reads the same,
// and each system has a file for the rest. The packages compile for all.
func TestSystemsShareAPackage(t *testing.T) {
	t.Parallel()
	module := newModule(t)
	for _, release := range []string{"65.0", "freebsd-15"} {
		gen(t, "generate", "-facts", "../headers/facts/"+release+".json.gz", "-o", module)
	}
	got := files(t, module)
	for name, constraint := range map[string]string{
		"zz_generated_freebsd.go":                       "freebsd",
		"zz_generated_not-freebsd.go":                   "!freebsd",
		"zz_generated_linux-arm64-glibc.go":             "linux && arm64 && !musl",
		"zz_generated_not-linux-arm64-glibc-freebsd.go": "!((linux && arm64 && !musl) || freebsd)",
	} {
		assert.Contains(t, got[name], "//go:build "+constraint+"\n", name)
	}
	assert.NotContains(t, got["zz_generated.go"], "//go:build")
	for _, name := range []string{"RecvWR", "SendWR", "QP", "CQ", "Context"} {
		assert.Contains(t, got["zz_generated.go"], "\ntype "+name+" struct", "its C may differ, its Go does not")
	}
	assert.Contains(t, got["zz_generated_not-freebsd.go"], "\ntype GIDEntry struct")
	assert.Contains(t, got["zz_generated_freebsd.go"], "\ntype ContextOps struct")
	assert.Contains(t, got["zz_generated_freebsd.go"], "It is C's enum ibv_cq_init_attr_mask of infiniband/verbs.h: a set of the bits below.")
	for _, target := range []struct{ os, arch, tags string }{
		{"freebsd", "arm64", ""}, {"linux", "arm64", "musl"}, {"linux", "arm64", ""}, {"darwin", "arm64", ""}, {"windows", "amd64", ""},
	} {
		goCommand(t, module, target.os+"/"+target.arch, "vet", "-tags", target.tags, "./...")
	}
}
