package gosrc

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/crandom"
)

// FuzzGenerate: facts come from files, and no file, however broken, makes the
// writer panic or write what is not Go.
func FuzzGenerate(f *testing.F) {
	for _, text := range factsTexts(f) {
		f.Add(text)
	}
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := abi.ReadAll(strings.NewReader(text))
		if err != nil {
			return
		}
		files, err := generate(all, Options{Package: "p", Command: "gen generate"}, "")
		if err != nil {
			return
		}
		for name, source := range files {
			require.Regexp(t, `^zz_generated[a-z0-9_-]*\.go$`, name)
			file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
			require.NoError(t, err, "%s", source)
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
					require.NotEqual(t, "init", f.Name.Name, "a name of the facts became code:\n%s", source)
				}
			}
		}
	})
}

// factsTexts are facts of small headers, for one target and for several.
func factsTexts(f *testing.F) (texts []string) {
	dir := f.TempDir()
	shapes, err := os.ReadFile("testdata/shapes.h")
	require.NoError(f, err)
	for _, header := range []string{
		"struct a { int x; struct a *next; };\n",
		"enum e { A, B = 1 << 3 }; union u { enum e e : 3; struct { char c; long d; } f[2]; void (*g)(int); };\n#define N 3\n",
		string(shapes),
		crandom.New(1, crandom.Options{Decls: 8}).String(),
	} {
		require.NoError(f, os.WriteFile(filepath.Join(dir, "fuzz.h"), []byte(header), 0o644))
		var all []*abi.Facts
		for _, arch := range []string{"amd64", "s390x"} {
			all = append(all, parse(f, dir, "fuzz.h", arch))
		}
		var one, set bytes.Buffer
		require.NoError(f, all[0].Write(&one))
		require.NoError(f, abi.WriteSet(&set, all))
		texts = append(texts, one.String(), set.String())
	}
	return texts
}

// record is facts with a record that has one member.
func record(member string) string {
	return `{"schema": "abifacts/1", "goos": "linux", "goarch": "amd64", "pointer_size": 8, "headers": ["a.h"],
		"records": [{"name": "s", "kind": "struct", "header": "a.h", "size": 4, "align": 4, "fields": [` + member + `]}]}`
}

// hostile are facts that made the writer panic, or write what is not Go, or that
// try to.
var hostile = []string{
	record(`{"name": "a\nfunc init() {}", "offset": 0, "size": 4, "ctype": {"kind": "int", "size": 4, "align": 4, "name": "int"}}`),
	record(`{"name": "a", "offset": 0, "size": 4, "ctype": {"kind": "int", "size": 4, "align": 4, "name": "int */ func init() {} /*\n"}}`),
	record(`{"name": "", "offset": 0, "size": 4, "ctype": {"kind": "int", "size": 4, "align": 4}}`),
	record(`{"name": "", "kind": "union", "offset": 1, "size": 4, "ctype": {"kind": "union", "anon": {"kind": "union", "fields": []}}}`),
	record(`{"name": "a", "offset": 0, "size": -4, "ctype": {"kind": "float", "size": -4, "align": 0}}`),
	record(`{"name": "a", "bit_offset": -1, "bit_size": 200, "offset": 0, "size": 4, "ctype": {"kind": "int", "size": 4, "align": 4}}`),
	`{"schema": "abifacts/1", "goos": "../../x", "goarch": "amd64 || true\nimport \"C\"\n", "headers": ["a.h\nfunc init() {}"], "macros": [{"name": "A", "header": "a.h\nfunc init() {}", "value": "1"}]}`,
	`{"schema": "abifacts/1", "headers": ["a.h"], "enums": [{"name": "e", "header": "a.h", "size": -9, "enumerators": [{"name": "A", "value": "1", "bit": true}, {"name": "", "value": "-1", "bit": true}]}]}`,
	`{"schema": "abifacts/1", "headers": ["a.h"], "enums": [{"name": "", "header": "a.h", "size": 4, "enumerators": []}]}`,
	`{"schema": "abifacts/1", "headers": ["a.h"], "since": {"macro A": "x\nfunc init() {}"}, "macros": [{"name": "A", "header": "a.h", "value": "1"}]}`,
}
