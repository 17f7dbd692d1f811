package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A newer header renames nothing that a package has: where two names of C would be one
// in Go, the one that came first keeps it. Then the order in a header does not matter.
func TestNewcomersYield(t *testing.T) {
	t.Parallel()
	const types = "struct foodv_x { int x; };\nstruct foodv_y { int x; };\nstruct foodv_z { int x; };\n"
	const functions = "int foodv_u(int);\nint foodv_v(int);\nint foodv_w(int);\n"
	for _, c := range []struct{ about, older, newer, want string }{
		{"a function with underscores in front", "int foodv_open(int);\n", "int __foodv_open(int);\nint foodv_open(int);\n", "Open FoodvOpen"},
		{"one in other letters, and the other order", "int foodv_open(int);\nint Foodv_open(int);\n", "int Foodv_open(int);\nint foodv_open(int);\n", "Open FoodvOpen"},
		{"a struct of a function's name", "int foodv_open(int);\n", "struct foodv_open { int x; };\nint foodv_open(int);\n", "Open FoodvOpen"},
		{"a struct of a macro's name", "#define FOODV_MAC 3\n", "struct foodv_mac { int x; };\n#define FOODV_MAC 3\n", "MAC FoodvMAC"},
		{"a struct of a constant's name", "enum foodv_kind { FOODV_K1, FOODV_K2 };\n", "struct foodv_k1 { int x; };\nenum foodv_kind { FOODV_K1, FOODV_K2 };\n", "Kind K1 K2 FoodvK1"},
		{"a constant of a struct's name", "enum foodv_kind { FOODV_K1 };\n", "enum foodv_kind { FOODV_K1, FOODV_X };\n", "Kind K1 KindX"},
		{"a constant of a function's name", "int foodv_open(int);\n", "enum foodv_kind { FOODV_OPEN, FOODV_SHUT };\nint foodv_open(int);\n", "Open Kind KindOpen KindShut"},
		{"a macro of a function's name", "int foodv_open(int);\n", "#define FOODV_OPEN 1\nint foodv_open(int);\n", "Open FOODV_OPEN"},
		{"a struct that differs in underscores", "struct foodv_a_b { int x; };\n", "struct foodv_ab { int x; };\nstruct foodv_aB { int x; };\nstruct foodv_a_b { int x; };\n", "AB Ab FoodvAB"},
		{"what a member points to", "struct foodv_s { long long x; };\nint foodv_s_op_func(int);\n", "struct foodv_s { long long x; void (*op)(int); };\nint foodv_s_op_func(int);\n", "S SOpFunc"},
		{"another name for a struct", "struct foodv_old { int x; };\n", "#define foodv_new foodv_old\nstruct foodv_old { int x; };\n", "Old"},
		{"another name for a constant", "enum foodv_kind { FOODV_OLD };\n", "#define FOODV_NEW FOODV_OLD\nenum foodv_kind { FOODV_OLD };\n", "Kind Old New"},
		{"what has a definition now", "struct foodv_a;\nstruct foodv_A;\nint foodv_t(struct foodv_a *, struct foodv_A *);\n", "struct foodv_a { int x; };\nstruct foodv_A;\nint foodv_t(struct foodv_a *, struct foodv_A *);\n", "T A FoodvA"},
	} {
		older, newer := types+c.older+functions, types+c.newer+functions
		first, then := called(t, older), called(t, older, newer)
		assert.Subset(t, then, first, c.about)
		assert.ElementsMatch(t, append(strings.Fields(c.want), "U", "V", "W", "X", "Y", "Z"), names(then), c.about)
		assert.Equal(t, then, called(t, older, newer, older), c.about)
	}
}

// What a package is written of first names without underscores in front before those
// with them, whatever comes first in the header.
func TestUnderscoresYield(t *testing.T) {
	t.Parallel()
	const some = "int foodv_u(int);\nint foodv_v(int);\n"
	assert.Contains(t, called(t, some+"int __foodv_open(int);\nint foodv_open(int);\n"), "Open is foodv_open")
}

var (
	cOfDoc      = regexp.MustCompile(`C's (?:struct|union|enum|macro) (\w+)|C's function of foodv\.h[^:]*: [^(]*?(\w+)\(`)
	cOfConstant = regexp.MustCompile(`^\w+`)
)

// called runs gen generate on the texts of foodv.h, one after the other, and tells
// which name of the package is which of C's.
func called(t *testing.T, texts ...string) (is []string) {
	t.Helper()
	dir := t.TempDir()
	for _, text := range texts {
		gen(t, "generate", "-header", "foodv.h", "-library", "libfoodv.so.1", "-target", "linux/amd64", "-I", include(t, "foodv.h", text), "-o", dir)
	}
	add := func(name *ast.Ident, c *regexp.Regexp, about *ast.CommentGroup) {
		if !name.IsExported() || strings.HasPrefix(name.Name, "BE") || strings.HasPrefix(name.Name, "To") || strings.HasPrefix(name.Name, "Ptr") || name.Name == "FuncPtr" {
			return
		}
		found := c.FindStringSubmatch(strings.Join(strings.Fields(about.Text()), " "))
		is = append(is, name.Name+" is "+strings.Join(found[min(1, max(0, len(found)-1)):], ""))
	}
	for name, text := range files(t, dir) {
		if filepath.Ext(name) != ".go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name, cOfDoc, d.Doc)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						add(s.Name, cOfDoc, d.Doc)
					case *ast.ValueSpec:
						if s.Comment != nil {
							add(s.Names[0], cOfConstant, s.Comment)
						} else {
							add(s.Names[0], cOfDoc, d.Doc)
						}
					}
				}
			}
		}
	}
	slices.Sort(is)
	return is
}

// names are the Go names of those.
func names(is []string) (out []string) {
	for _, one := range is {
		name, _, _ := strings.Cut(one, " ")
		out = append(out, name)
	}
	return out
}
