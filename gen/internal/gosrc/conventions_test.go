package gosrc

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	calling "github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/headers"
)

// parseConventions reads a table alone.
func parseConventions(text string) (*conventions, error) {
	c := noConventions()
	return c, c.read(Conventions{File: "conventions", Text: text}, true)
}

// verbsFunctions are those of infiniband/verbs.h, of the newest release and of
// FreeBSD's.
func verbsFunctions(t *testing.T) []*abi.Facts {
	releases := headers.Releases()
	return []*abi.Facts{newest(t), factsFor(t, releases[0], "linux/amd64/glibc"), factsFor(t, "freebsd-15", "freebsd/amd64/freebsd")}
}

// An entry that no function asks for is of one that is gone, or is misspelt; so is
// a parameter that no function has.
func TestConventionsAreUsed(t *testing.T) {
	stale := func(text string) []string {
		table, err := parseConventions(text)
		require.NoError(t, err)
		params := map[string]map[string]bool{}
		for _, facts := range verbsFunctions(t) {
			out, err := declare(facts, mustWords(t), nil, &overview{}, &calls{library: "libibverbs.so.1", conventions: table})
			require.NoError(t, err)
			if text == conventionsText { // else entries that are not used are left out, too
				assert.Empty(t, out.left, "functions of verbs.h are left out")
			}
			for _, f := range facts.Functions {
				for _, p := range f.Params {
					if params[f.Name] == nil {
						params[f.Name] = map[string]bool{}
					}
					params[f.Name][p.Name] = true
				}
			}
		}
		out := table.stale()
		for _, key := range sortedKeys(table.enums) {
			for _, name := range sortedKeys(table.enums[key]) {
				tag := table.enums[key][name]
				if params[key] != nil && !params[key][name] || !slices.ContainsFunc(newest(t).Enums, func(e *abi.Enum) bool { return e.Name == tag }) {
					out = append(out, key+" "+name)
				}
			}
		}
		return out
	}
	assert.Empty(t, stale(conventionsText), "conventions.txt names what infiniband/verbs.h does not declare")
	assert.Equal(t, []string{"ibv_gone", "ibv_wq.gone", "ibv_close_device gone", "ibv_resize_cq cqe"},
		append(stale(conventionsText+"\nibv_gone null\nibv_wq.gone errno\nibv_close_device errno\n\tgone ibv_access_flags\n"),
			stale(conventionsText+"\nibv_resize_cq errno\n\tcqe no_enum\n")...))
}

// A convention that the result's type cannot have leaves the function out, and
// names the line.
func TestConventionsFit(t *testing.T) {
	for text, why := range map[string]string{
		"f null":              "conventions:1: f cannot have the convention null: it returns int",
		"\nf void":            "conventions:2: f cannot have the convention void: it returns int",
		"f text":              "conventions:1: f cannot have the convention text: it returns int",
		"g errno":             "conventions:1: g cannot have the convention errno: it returns char *",
		"g count":             "conventions:1: g cannot have the convention count: it returns char *",
		"h minus":             "conventions:1: h cannot have the convention minus: it returns void",
		"h value":             "conventions:1: h cannot have the convention value: it returns void",
		"f errno\n\ta colour": "f: int a: conventions give it the type enum colour, which does not fit",
		"f minus\n\tb small":  "f: char *b: conventions give it the type enum small, which does not fit",
	} {
		table, err := parseConventions(text)
		require.NoError(t, err)
		facts := textFacts(t, "enum colour { RED = 1L << 40 }; enum small { ONE }; int f(int a, char *b); char *g(void); void h(void);", "amd64")
		out, err := declare(facts, mustWords(t), nil, &overview{}, &calls{library: "lib.so.1", conventions: table})
		require.NoError(t, err)
		require.Len(t, out.left, 1, text)
		assert.ErrorContains(t, out.left[0].Why, why)
	}
}

func TestConventionsForm(t *testing.T) {
	c, err := parseConventions("# a remark\n\nheader x.h int errno\nf minus\n\tflags some_flags\ng.h null\n")
	require.NoError(t, err)
	assert.Equal(t, map[string]convention{"f": minus, "g.h": null}, c.of)
	assert.Equal(t, map[string]convention{"x.h": errno}, c.ints)
	assert.Equal(t, map[string]map[string]string{"f": {"flags": "some_flags"}}, c.enums)
	for text, want := range map[string]string{
		"f":                     `conventions:1: "f" is neither`,
		"f sometimes":           `conventions:1: "f sometimes" is neither`,
		"f null\nf null":        "conventions:2: f has a convention already",
		"\ta b":                 `conventions:1: "a b" is not PARAMETER ENUM below a function`,
		"f null\n\ta":           `conventions:2: "a" is not PARAMETER ENUM below a function`,
		"header x.h int null":   `conventions:1: "header x.h int null" is neither`,
		"header x.h long errno": "is neither",
	} {
		_, err := parseConventions(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// Without an entry, the type of the result tells, and the header's line of an int.
func TestUsualConventions(t *testing.T) {
	c, err := parseConventions("header known.h int errno")
	require.NoError(t, err)
	facts := textFacts(t, "typedef long ssize_t; enum e { A }; const char *a(void); char *b(void); void *c(void); void d(void); ssize_t e(void); int f(void); unsigned g(void); enum e h(void); long i(void); _Bool j(void); void (*k(void))(int);", "amd64")
	var got []convention
	for _, f := range facts.Functions {
		how, err := c.find(f.Name, "other.h", f.Result)
		require.NoError(t, err)
		got = append(got, how)
	}
	assert.Equal(t, []convention{text, null, null, nothing, count, minus, plain, plain, plain, plain, null}, got)
	how, err := c.find("f", "known.h", facts.Functions[5].Result)
	require.NoError(t, err)
	assert.Equal(t, errno, how)
}

// The generator writes no call that package clib cannot make.
func TestMostArguments(t *testing.T) {
	assert.Equal(t, calling.MostArguments, mostArguments)
	assert.Equal(t, calling.MostDirect, mostDirect)
}
