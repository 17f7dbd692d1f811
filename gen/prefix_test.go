package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// generated runs gen generate on the texts of a header, one after the other, and
// returns the exported names of the package that they give, but for the support.
func generated(t *testing.T, header string, texts ...string) []string {
	t.Helper()
	dir := t.TempDir()
	for _, text := range texts {
		gen(t, "generate", "-header", header, "-package", "p", "-target", "linux/amd64", "-I", include(t, header, text), "-o", dir)
	}
	return declaredIn(t, dir)
}

// declaredName finds the types, the constants and the functions of Go files.
var declaredName = regexp.MustCompile(`(?m)^(?:type|const|func) ([A-Z]\w*)|^\t([A-Z]\w*) .*= [-\w]+ +//`)

func declaredIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	for name, text := range files(t, dir) {
		if filepath.Ext(name) != ".go" {
			continue
		}
		for _, m := range declaredName.FindAllStringSubmatch(text, -1) {
			if name := m[1] + m[2]; !strings.HasPrefix(name, "BE") && !strings.HasPrefix(name, "To") && !strings.HasPrefix(name, "Ptr") && name != "FuncPtr" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// What most of a header's own functions, types or enumerators start with is what C
// has in place of packages: Go's names go without it.
func TestNamesDoNotStutter(t *testing.T) {
	t.Parallel()
	const three = "struct foodv_a { int x; };\nstruct foodv_b { int x; };\nstruct foodv_c { int x; };\n"
	for _, c := range []struct{ about, header, text, want string }{
		{"tags, macros and enumerators in either case", "foodv.h",
			three + "enum foodv_kind { FOODV_KIND_ONE, FOODV_KIND_TWO };\n#define FOODV_MAX 4\n#define OTHER_MAX 4\n",
			"A B C Kind KindOne KindTwo Max OtherMax"},
		{"what is the shorter form", "foodv.h", three + "enum foodv_g { FOODV_H };\nstruct foo_d { int x; };\nstruct foo_e { int x; };\nstruct foo_f { int x; };\n", "A B C D E F G H"},
		{"what another library has", "foodv.h", three + "struct bar_d { int x; };\nstruct bar_e { int x; };\nstruct bar_f { int x; };\nstruct foodv_g { int x; };\n",
			"A B BarD BarE BarF C G"},
		{"two that each have a sort of names", "x.h", three + "enum { BAR_A, BAR_B, BAR_D };\n", "A B BAR_A BAR_B C D"},
		{"too few to tell", "foodv.h", "struct foodv_a { int x; };\nstruct foodv_b { int x; };\n", "FoodvA FoodvB"},
		{"words of the header's name", "my_lib.h", "struct my_lib_a { int x; };\nstruct my_lib_b { int x; };\nstruct my_lib_c { int x; };\n", "A B C"},
		{"nothing but the prefix", "foodv.h", three + "struct foodv { int x; };\nstruct foodv_ { int x; };\nstruct foodv_25 { int x; };\n", "A B C Foodv Foodv25 Foodv_"},
		{"clashes", "foodv.h", three + "struct foodv_g { int x; };\nstruct foo_a { int x; };\nstruct foo_d { int x; };\nstruct foo_e { int x; };\n", "A B C D E FooA G"},
		{"a clash with another library", "foodv.h", "struct ibv_a { int x; };\n" + three + "struct a { int x; };\n", "A A_ B C IbvA"},
	} {
		assert.Equal(t, c.want, strings.Join(generated(t, c.header, c.text), " "), c.about)
	}
}

// The prefixes are those of the headers that a package was first written from: it
// renames nothing when another release adds more names than there were.
func TestPrefixesStay(t *testing.T) {
	t.Parallel()
	const older = "struct a_x { int x; };\nstruct a_y { int x; };\nstruct a_z { int x; };\nstruct b_v { int x; };\n"
	const newer = older + "struct b_x { int x; };\nstruct b_y { int x; };\nstruct b_z { int x; };\nstruct b_w { int x; };\n"
	assert.Equal(t, []string{"AX", "AY", "AZ", "V", "W", "X", "Y", "Z"}, generated(t, "p.h", newer))
	assert.Equal(t, []string{"BV", "BW", "BX", "BY", "BZ", "X", "Y", "Z"}, generated(t, "p.h", older, newer))
	assert.Equal(t, generated(t, "p.h", newer), generated(t, "p.h", newer, older))
	// None stays none.
	const few = "struct a_x { int x; };\n"
	assert.Equal(t, []string{"AX", "AY", "AZ", "BV"}, generated(t, "p.h", few, older))
}

// Files of before the prefixes were noted are of the prefixes that their facts have.
func TestPrefixesOfKnownFacts(t *testing.T) {
	t.Parallel()
	const header = "struct a_x { int x; };\nstruct a_y { int x; };\nstruct a_z { int x; };\n"
	dir, include := t.TempDir(), include(t, "p.h", header)
	gen(t, "facts", "-header", "p.h", "-I", include, "-target", "linux/amd64", "-o", filepath.Join(dir, factsName))
	gen(t, "generate", "-header", "p.h", "-I", include, "-target", "linux/amd64", "-o", dir)
	assert.Equal(t, []string{"X", "Y", "Z"}, declaredIn(t, dir))
	_, err := os.Stat(filepath.Join(dir, factsName))
	require.NoError(t, err)
}
