package gosrc

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/crandom"
)

// What is bytes to the collector has numbers for pointers, wherever else C has a
// record, and nothing else has.
func TestPointersInBytesAreNumbers(t *testing.T) {
	for _, c := range []struct{ name, text, has, hasNot string }{
		{"a member of a union", "union u { struct s *p; long n; }; struct s { int x; };", "func (s *U) P() *Ptr[S]", "*S {"},
		{"an unnamed union", "struct s { struct s *p; union { struct s *q; int n; }; };", "P *S|func (s *S) Q() *Ptr[S]", "P Ptr"},
		{"an array", "union u { int *p[3]; };", "func (s *U) P() *[3]Ptr[int32]", ""},
		{"an untagged struct", "union u { struct { char **p; void *q; void (*f)(void); } a; };", "P Ptr[*byte]|Q uintptr|F FuncPtr", ""},
		{"a struct with a name, which is elsewhere too", "struct s { struct s *p; }; union u { struct s a[2]; }; struct t { struct s b; struct s *c; };",
			"P Ptr[S]|B S|C *S", ""},
		{"what a member consists of", "struct in { int *p; }; struct mid { struct { struct in a; } m; }; union u { struct mid x; };", "P Ptr[int32]", ""},
		{"what a member points to", "struct far { int *p; }; union u { struct far *f; struct { int *q; } *g; };", "P *int32|Q *int32|Ptr[Far]|Ptr[UG]", ""},
		{"behind the end", "struct e { int *p; }; struct s { int n; struct e list[]; };", "P Ptr[int32]|List(n int) []E", ""},
		{"pointers behind the end", "struct s { long n; int *list[]; };", "List(n int) []Ptr[int32]", ""},
		{"packed", "struct e { int *q; }; struct s { char c; int *p; struct e e; } __attribute__((packed));", "func (s *S) P() Ptr[int32]|Q Ptr[int32]", ""},
		{"packed and yet aligned", "struct s { int *p; } __attribute__((packed));", "func (s *S) P() Ptr[int32]", ""},
		{"scanned", "struct s { int *p; struct { struct s *q; } in; };", "P *int32|Q *S", "P Ptr"},
		{"a list", "struct s { struct s *next; }; union u { struct s s; };", "Next Ptr[S]|e = e.Next.Get()", ""},
	} {
		source, err := generateText(t, c.text, "amd64")
		if !assert.NoError(t, err, c.name) {
			continue
		}
		source = strings.Join(strings.Fields(source), " ")
		for want := range strings.SplitSeq(c.has, "|") {
			assert.Contains(t, source, want, c.name)
		}
		if c.hasNot != "" {
			assert.NotContains(t, source, c.hasNot, c.name)
		}
	}
}

// The views of all that is generated show memory without a pointer of Go's: the
// types are those that the Go compiler would see.
func TestViewsHoldNoPointers(t *testing.T) {
	sources := map[string]string{}
	sources["65.0"] = allGo(t, []*abi.Facts{newest(t)}, wordsText)
	sources["freebsd-15"] = allGo(t, []*abi.Facts{factsFor(t, "freebsd-15", "freebsd/amd64/freebsd")}, wordsText)
	for seed := range uint64(4) {
		dir := t.TempDir()
		header := crandom.New(seed+1, crandom.Options{Decls: 60})
		require.NoError(t, os.WriteFile(filepath.Join(dir, "random.h"), []byte(header.String()), 0o644))
		sources[fmt.Sprint("random ", seed+1)] = allGo(t, []*abi.Facts{parse(t, dir, "random.h", "amd64")}, "")
	}
	views := 0
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		seen, faults := typedViews(t, sources[name])
		assert.Empty(t, faults, name)
		views += seen
	}
	assert.Greater(t, views, 100)

	_, faults := typedViews(t, "package p\nimport \"unsafe\"\ntype S struct{ data [8]byte }\n"+
		"func (s *S) P() *int { return *(**int)(unsafe.Pointer(&s.data)) }\n")
	assert.Len(t, faults, 1, "a view of a pointer is seen")
}

// allGo is the Go of facts of one target.
func allGo(t *testing.T, facts []*abi.Facts, words string) string {
	t.Helper()
	files, err := generate(facts, Options{Package: "p", Command: "test"}, words)
	require.NoError(t, err)
	require.Len(t, files, 1)
	return string(files["zz_generated.go"])
}

// typedViews counts the places where methods see an address as a type, and lists
// those whose type holds a pointer.
func typedViews(t *testing.T, source string) (views int, faults []string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "generated.go", source, 0)
	require.NoError(t, err)
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil), Sizes: types.SizesFor("gc", "amd64")}
	_, err = config.Check("p", fset, []*ast.File{file}, info)
	require.NoError(t, err)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil || strings.Contains(types.ExprString(f.Recv.List[0].Type), "Ptr[") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 || !info.Types[call.Fun].IsType() {
				return true
			}
			// (*T)(unsafe.Pointer(...)), or unsafe.Pointer(&v) of a v that is copied.
			shown := info.Types[call.Fun].Type
			if shown == types.Typ[types.UnsafePointer] {
				if _, address := call.Args[0].(*ast.UnaryExpr); !address {
					return true
				}
				shown = info.Types[call.Args[0]].Type
			}
			if pointer, ok := shown.(*types.Pointer); ok {
				views++
				if holdsPointer(pointer.Elem()) {
					faults = append(faults, fmt.Sprintf("%s: %s", f.Name.Name, pointer.Elem()))
				}
			}
			return true
		})
	}
	return views, faults
}

func holdsPointer(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Kind() == types.UnsafePointer || t.Kind() == types.String
	case *types.Array:
		return holdsPointer(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if holdsPointer(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}
