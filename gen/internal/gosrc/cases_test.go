package gosrc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// generateText is the Go for a header that is given as text, or the error.
func generateText(t *testing.T, text, arch string) (string, error) {
	t.Helper()
	files, err := generate([]*abi.Facts{textFacts(t, text, arch)}, Options{Package: "shapes", Command: "test"}, "")
	var all strings.Builder
	for _, text := range files {
		all.Write(text)
	}
	return all.String(), err
}

// textFacts are the facts of a header that is given as text.
func textFacts(t *testing.T, text, arch string) *abi.Facts {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "case.h"), []byte(text), 0o644))
	return parse(t, dir, "case.h", arch)
}

// declared lists the exported types, constants, functions and TYPE.METHODs of
// generated Go, but for the support that is always there, and TYPE.FIELDs.
func declared(t *testing.T, source string) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "case.go", source, 0)
	require.NoError(t, err, source)
	var names []string
	add := func(name string) {
		if last := name[strings.LastIndex(name, ".")+1:]; ast.IsExported(last) && !strings.HasPrefix(name, "BE") && !strings.HasPrefix(name, "ToBE") &&
			name != "Ptr" && name != "ToPtr" && name != "FuncPtr" {
			names = append(names, name)
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name.Name)
			} else if star, ok := d.Recv.List[0].Type.(*ast.StarExpr); ok {
				if of, ok := star.X.(*ast.Ident); ok { // of a type without parameters
					add(of.Name + "." + d.Name.Name)
				}
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					add(s.Names[0].Name)
				case *ast.TypeSpec:
					add(s.Name.Name)
					if st, ok := s.Type.(*ast.StructType); ok {
						for _, f := range st.Fields.List {
							add(s.Name.Name + "." + f.Names[0].Name)
						}
					}
				}
			}
		}
	}
	return names
}

// Names come from C by rule, and where two would be one, what was there first
// keeps its name.
func TestNamesOfDeclarations(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"keywords", "struct type { int func; int range; };", "Type Type.Func Type.Range"},
		{"members that collide", "struct s { int wr_id; int WrID; int wrid; };", "S S.WRID S.WRID_ S.WRID__"},
		{"a setter that collides", "union u { int x; int set_x; };", "U U.X U.SetX U.SetX_ U.SetSetX_"},
		{"a member takes a helper's name", "struct s { struct s *next; int all; };", "S S.Next S.All S.All_ SAt"},
		{"types that collide", "struct a_b { int x; };\nstruct aB { int y; };", "AB_ AB_.X AB AB.Y"},
		{"the library's own type", "struct wr { int x; };\nstruct ibv_wr { int y; };", "WR_ WR_.X WR WR.Y"},
		{"a tag and a typedef", "struct s { int x; };\ntypedef struct { int y; } s;", "S S.X S_ S_.Y"},
		{"an untagged record's name is taken", "struct a { struct { int x; } b; }; struct ab { int y; };", "AB AB.X A A.B Ab Ab.Y"},
		{"a tag is a member's path", "struct a { struct { int x; } b; void (*c)(void); }; struct a_b { int y; }; struct ibv_a_c_func { int z; };",
			"AB AB.X A A.B A.C AB_ AB_.Y ACFunc ACFunc.Z"},
		{"a macro is a member's path", "struct a { struct { int x; } b; }; enum { A_B, A_C }; enum e { E, AB };\n#define a_b 1\n",
			"A_B AC E EE EAb A_b AB AB.X A A.B"},
		{"the support", "struct bE16 { int x; }; struct toBE32 { int y; }; struct s { struct bE16 a; }; struct ptr;", "S S.A"}, // BE16_, ToBE32_
		{"a view", "struct s { struct s *next; }; struct s_at { int x; };", "S S.Next S.All SAt SAt.X SAt_"},
		{"an enumerator and a type", "enum color { RED }; struct red { int x; };", "Color ColorRed Red Red.X"},
		{"a macro that repeats an enumerator", "enum { A = 1 };\n#define A A\n", "A"},
		{"macros that collide", "#define A_B 1\n#define a_b 2\n", "AB A_b"},
		{"typedefs of enumerations", "typedef enum { X = -1 } e_t;\nstruct s { e_t a; enum { Y } b; };", "E X Y S S.A S.B"},
		{"unnamed members", "struct s { union { int a; struct { int b, c; }; }; };", "S S.A S.SetA S.B S.SetB S.C S.SetC"},
		{"hidden members", "struct s { int __a; int b; long __c[2]; };", "S S.B"},
		{"retired slots", "struct s { void (*_old)(void); void (*f)(void); int _b; }; struct t { void (*_old)(void); };", "S S.F S.B T"},
		{"pointers to untagged records", "struct s { struct { int x; } *p, *q[2]; };", "SP SP.X SQ SQ.X S S.P S.Q"},
		{"undefined records", "struct s { struct later *p; struct s *q; };", "S S.P S.Q Later"},
		{"letters that Go has no case for", "struct s { int $a; int \xc3\xa4; };", "S S.A S.Ä"},
	} {
		source, err := generateText(t, c.text, "amd64")
		if assert.NoError(t, err, c.name) {
			assert.Equal(t, c.want, strings.Join(declared(t, source), " "), c.name)
		}
	}
}

// What Go cannot express is left out, and the reason given with its place and its
// declaration. What has it as a member goes with it, a pointer to it stays.
func TestInexpressible(t *testing.T) {
	for _, c := range []struct{ text, arch, want string }{
		{"struct s { int a;\n\tlong double b; };", "amd64", "case.h:2:14: long double b in struct s: the type long double has no counterpart in Go"},
		{"struct s { __int128 a[2]; };", "amd64", "case.h:1:21: __int128 a[2] in struct s: the type __int128 has no counterpart"},
		{"union s { struct { _Float128 a; } b; };", "arm64", "has no counterpart in Go"},
		{"struct s { int a; } __attribute__((aligned(16)));", "amd64", "case.h:1: struct s: an alignment of 16 cannot be had in Go"},
		{"typedef struct { int q; } s __attribute__((aligned(8)));", "amd64", "case.h:1: s: no Go type has 4 bytes and is aligned to 8"},
		{"struct s { long long a; };", "arm", "case.h:1: struct s: an alignment of 8 cannot be had in Go"},
	} {
		name := "struct s"
		if strings.Contains(c.text, "union s") {
			name = "union s"
		} else if strings.Contains(c.text, "} s ") {
			name = "s"
		}
		text := c.text + "\nstruct t { " + name + " *p; int q; };\nunion v { int a; struct { " + name + " b[2]; } c; };\nstruct w { int a; union v b; };\nstruct x { int a; struct w *w; };\n"
		if name == "s" {
			text = strings.Replace(text, "b[2]", "b", 1)
		}
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "case.h"), []byte(text), 0o644))
		var left []LeftOut
		files, err := generate([]*abi.Facts{parse(t, dir, "case.h", c.arch)}, Options{Package: "shapes", LeftOut: func(l LeftOut) { left = append(left, l) }}, "")
		require.NoError(t, err, c.text)
		if assert.Len(t, left, 3, c.text) {
			assert.ErrorContains(t, left[0].Why, c.want)
			assert.Contains(t, left[1].What+left[2].What, "union v")
			assert.Contains(t, left[1].What+left[2].What, "struct w")
		}
		source := ""
		for _, text := range files {
			source += string(text)
		}
		assert.ElementsMatch(t, []string{"S", "T", "T.P", "T.Q", "W", "X", "X.A", "X.W"}, declared(t, source), c.text)
	}
}

// What members point to is called through the record, or by its address where the
// member is no plain one. A member comes before a call of another.
func TestCallsOfMembers(t *testing.T) {
	t.Parallel()
	const header = "struct s { void (*f)(int); int call_f; void (*all[2])(void); int *(**far)(void); struct { void (*in)(void); } a; union { void (*u)(void); int n; }; };\n" +
		"union w { void (*g)(void); long n; };\nstruct ibv_flex { int n; void (*tail[])(void); };\n"
	facts := textFacts(t, header, "amd64")
	for _, c := range []struct {
		unexported bool
		want       []string
	}{
		{false, []string{
			"func (s *S) CallF_(arg1 int32) error {|uintptr(s.F)}",
			"func (s *S) CallAll(f FuncPtr) error {|uintptr(f)}",
			"func (s *S) CallFar(f FuncPtr) (*int32, error) {|uintptr(f)}",
			"func (s *SA) CallIn() error {|uintptr(s.In)}",
			"func (s *S) CallU(f FuncPtr) error {|uintptr(f)}",
			"func (s *W) CallG(f FuncPtr) error {|uintptr(f)}",
			"func (s *Flex) CallTail(f FuncPtr) error {|uintptr(f)}",
		}},
		{true, []string{
			"func callSF(f FuncPtr, arg1 int32) error {|uintptr(f)}",
			"func callSAll(f FuncPtr) error {|uintptr(f)}",
			"func callSFar(f FuncPtr) (*int32, error) {|uintptr(f)}",
			"func callSAIn(f FuncPtr) error {|uintptr(f)}",
			"func callSU(f FuncPtr) error {|uintptr(f)}",
			"func callWG(f FuncPtr) error {|uintptr(f)}",
			"func callFlexTail(f FuncPtr) error {|uintptr(f)}",
		}},
	} {
		files, err := generate([]*abi.Facts{facts}, Options{Package: "shapes", Library: "libshapes.so.1", Unexported: c.unexported}, "")
		require.NoError(t, err)
		var source string
		for _, text := range files {
			source += string(text)
		}
		assert.Equal(t, len(c.want), strings.Count(source, "clib.Pointer{"))
		for _, want := range c.want {
			head, address, _ := strings.Cut(want, "|")
			_, body, found := strings.Cut(source, "\n"+head)
			if assert.True(t, found, "%s\n%s", head, source) {
				body, _, _ = strings.Cut(body, "\n}\n")
				assert.Contains(t, body, address, head)
			}
		}
	}
}

// Facts come from files too: nonsense is an error.
func TestNonsense(t *testing.T) {
	zero := int64(0)
	for _, f := range []*abi.Facts{
		{Headers: []string{"a.h"}, Records: []*abi.Record{{Name: "s", Kind: abi.Struct, Header: "a.h", Size: 4, Align: 4, Fields: []*abi.Field{{Name: "a", Size: 4}}}}},
		{Headers: []string{"a.h"}, Records: []*abi.Record{{Name: "s", Kind: abi.Struct, Header: "a.h", Size: 4, Align: 4, Fields: []*abi.Field{{Name: "a", BitSize: &zero, Type: &abi.Type{}}}}}},
		{Headers: []string{"a.h"}, Enums: []*abi.Enum{{Name: "e", Header: "a.h", Size: 4, Enumerators: []abi.Enumerator{{Name: "A", Value: "many"}}}}},
	} {
		_, err := generate([]*abi.Facts{f}, Options{Package: "shapes"}, "")
		assert.Error(t, err)
	}
	_, err := generate(nil, Options{Package: "shapes"}, "")
	assert.Error(t, err)
}
