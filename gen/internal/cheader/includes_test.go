package cheader_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/casserts"
	"github.com/goverbs/goverbs/gen/internal/cheader"
	"github.com/goverbs/goverbs/gen/internal/gcc"
	"github.com/goverbs/goverbs/headers"
)

// parseFiles reads x.h among the headers given as text, by name.
func parseFiles(t *testing.T, files map[string]string) (*abi.Facts, string, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	facts, err := parseIn(dir)
	return facts, dir, err
}

func parseIn(dir string) (*abi.Facts, error) {
	return cheader.Parse(cheader.Source{Header: "x.h", IncludeDirs: []string{dir}}, headers.Target{OS: "linux", Arch: "amd64", Libc: "glibc"})
}

// chain is headers that include each other, deep of them.
func chain(deep int) map[string]string {
	files := map[string]string{"x.h": `#include "x1.h"`}
	for i := 1; i < deep; i++ {
		files[fmt.Sprintf("x%d.h", i)] = fmt.Sprintf("#include \"x%d.h\"\n", i+1)
	}
	files[fmt.Sprintf("x%d.h", deep-1)] = "struct s { char a; };\n"
	return files
}

// Headers that C compilers take, and those that they refuse, are the model's too.
func TestIncludesAgreeWithGCC(t *testing.T) {
	compiler, err := gcc.For("amd64")
	require.NoError(t, err)
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // the error
	}{
		{name: "once, in a cycle", files: map[string]string{
			"x.h": "#pragma once\n#include \"y.h\"\nstruct x { char a; };\n#include \"x.h\"\n",
			"y.h": "#pragma once\n#include \"x.h\"\nstruct y { char a; };"}},
		{name: "once, twice", files: map[string]string{
			"x.h": "#include \"y.h\"\n#include \"y.h\"\n#pragma pack(2)\n#include \"y.h\"\nstruct x { char a; int b; };",
			"y.h": "/* y */\n#pragma once\nstruct y { char a; int b; };"}},
		{name: "a form for each time", files: map[string]string{
			"x.h": "#define N 1\n#include \"y.h\"\n#undef N\n#define N 2\n#include \"y.h\"\n",
			"y.h": "#if N == 1\nstruct y1 { char a; };\n#else\nstruct y2 { int a[2]; };\n#endif"}},
		{name: "a pragma of nothing", files: map[string]string{"x.h": "#pragma\n#pragma once\nstruct x { char a; };\n"}},
		{name: "never", files: map[string]string{"x.h": "#if 0\n#include \"x.h\"\n#endif\nstruct x { char a; };"}},
		{name: "a guard around the include", files: map[string]string{"x.h": "#ifndef X\n#define X\n#include \"x.h\"\nstruct x { char a; };\n#endif"}},
		{name: "counting", files: map[string]string{"x.h": "#ifndef A\n#define A\n#include \"x.h\"\n#elif !defined B\n#define B\n#include \"x.h\"\n#else\nstruct x { char a; };\n#endif"}},
		{name: "a name by a macro", files: map[string]string{"x.h": "#define Y \"y.h\"\n#include Y\nstruct x { struct y a; };", "y.h": "struct y { int a; };"}},
		{name: "the middle of a record", files: map[string]string{"x.h": "struct x {\n#include \"y.h\"\n int b;\n};", "y.h": "char a;"}},
		{name: "an end to be continued", files: map[string]string{"x.h": "#include \"y.h\"\nstruct x { char a[N]; };", "y.h": "#define N 2 \\\n"}},
		{name: "as deep as can be", files: chain(199)},
		{name: "deeper", files: chain(200), want: "headers are included more than 199 deep: x.h > ... > x198.h > x199.h"},
		{name: "a guard beside the include", files: map[string]string{"x.h": "#ifndef A_H\n#define A_H\n#endif\n#include \"x.h\"\nstruct a { int x; };"},
			want: "x.h includes itself without an end, 199 times within each other: x.h > x.h"},
		{name: "a literal like a comment", files: map[string]string{"x.h": "#define S \"/*\"\n#include \"y.h\"\n#define E \"*/\"\nstruct a { int x; };", "y.h": "#include \"x.h\"\n"},
			want: "y.h includes itself without an end, 199 times within each other: y.h > x.h > y.h"},
		{name: "a character like a comment", files: map[string]string{"x.h": "#define S '/*'\n#include \"x.h\"\n#define E '*/'\n"}, want: "x.h includes itself"},
		{name: "twice each", files: map[string]string{"x.h": "#include \"x.h\"\n#include \"x.h\"\n"}, want: "x.h includes itself"},
		{name: "once, but never said", files: map[string]string{"x.h": "#if 0\n#pragma once\n#endif\n#include \"x.h\"\n"}, want: "x.h includes itself"},
	} {
		facts, dir, err := parseFiles(t, c.files)
		source := "#include \"x.h\"\n"
		if c.want != "" {
			assert.ErrorContains(t, err, c.want, c.name)
			if c.name != "twice each" { // which gcc tries to its end
				ok, said, err := compiler.Accepts(source, dir)
				require.NoError(t, err)
				assert.False(t, ok, c.name)
				assert.Contains(t, said, "nested depth 200", c.name)
			}
			continue
		}
		if assert.NoError(t, err, c.name) {
			require.NotEmpty(t, facts.Records, c.name)
			ok, said, err := compiler.Accepts(assertions(t, facts), dir)
			require.NoError(t, err)
			assert.True(t, ok, "%s: %s", c.name, said)
		}
	}
}

func TestIncludedLinesAreTheHeaders(t *testing.T) {
	facts, _, err := parseFiles(t, map[string]string{"x.h": "#include \"y.h\"\n\nstruct x { char a; };", "y.h": "\nstruct y { char a; };\n"})
	require.NoError(t, err)
	lines := map[string]int{}
	for _, r := range facts.Records {
		lines[r.Header+" "+r.Name] = r.Line
	}
	assert.Equal(t, map[string]int{"x.h x": 3, "y.h y": 2}, lines)
}

// Headers without a bound are refused even where none is within itself too deep.
func TestIncludesHaveALimit(t *testing.T) {
	files := map[string]string{"x17.h": "\n", "x.h": "#include \"x0.h\"\n"}
	for i := range 17 {
		files[fmt.Sprintf("x%d.h", i)] = fmt.Sprintf("#include \"x%d.h\"\n#include \"x%d.h\"\n", i+1, i+1)
	}
	_, _, err := parseFiles(t, files)
	require.ErrorContains(t, err, "headers were included more than 65536 times")
}

func assertions(t *testing.T, facts *abi.Facts) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, casserts.Write(&text, facts))
	return text.String()
}

// A header that is not found ends the reading, whatever the parser was about to
// read: it does not wait for the end of an enumeration that cannot come.
func TestMissingIncludeBeforeAnEnum(t *testing.T) {
	_, _, err := parseFiles(t, map[string]string{"x.h": "#include <nothere.h>\nenum k { A };\nenum k f;\n"})
	var missing *cheader.MissingHeaderError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, "nothere.h", missing.Header)
}
