package cheader_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/casserts"
	"github.com/goverbs/goverbs/gen/internal/gcc"
)

// assertedBy asks gcc about all that facts say of the header in a folder.
func assertedBy(t *testing.T, facts *abi.Facts, dir, text string) {
	t.Helper()
	compiler, err := gcc.For(facts.GOARCH)
	require.NoError(t, err)
	var source bytes.Buffer
	require.NoError(t, casserts.Write(&source, facts))
	ok, said, err := compiler.Accepts(source.String(), dir)
	require.NoError(t, err)
	assert.True(t, ok, "%s\n%s", text, said)
}

// What is not followed is left out, with its place and the reason, and the rest is
// kept, about which gcc is asked.
func TestLeftOut(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\nstruct s { int a __attribute__((aligned)); };", "case.h:2:33: attribute aligned without a number"},
		{"typedef int t __attribute__((mode(DI)));", "case.h:1:30: attribute mode is not supported"},
		{"typedef int t __attribute__((vector_size(16)));", "case.h:1:30: attribute vector_size is not supported"},
		{"struct s { int a; } __attribute__((scalar_storage_order(\"big-endian\")));", "scalar_storage_order is not supported"},
		{"enum e : unsigned char { A, B };", "case.h:1:8: an enumeration that names the type of its values"},
		{"struct s { enum : short { A } a; };", "case.h:1:17: an enumeration that names the type"},
		{"typedef unsigned long long t __attribute__((aligned(2)));\ntypedef volatile t v;\nstruct s { int a; v b[2]; };", "case.h:3:21: an array of"},
		{"typedef unsigned long long t __attribute__((aligned(2)));\ntypedef t v[2];\nstruct s { int a; const v b; };", "case.h:3:27: an array of"},
		{"typedef struct { int q; } t __attribute__((aligned(2)));\ntypedef const t v;\nstruct s { char a; v b[2]; };", "case.h:3:22: an array of"},
		{"typedef int t, __attribute__((aligned(2))) u;", "case.h:1:44: attribute aligned before the name"},
		{"struct s { _Atomic int a; };", "case.h:1:12: _Atomic"},
		{"struct s { _Atomic(int) a; };", "case.h:1:12: _Atomic"},
		{"struct s { int : 3 __attribute__((aligned(8))); };", "case.h:1:12: an attribute of a bit-field without a name"},
		{"enum e { A } __attribute__((packed)); struct s { char a[sizeof(enum e)]; };", "case.h:1:57: the value of sizeof(enum e) is not known"},
		{"#include <stddef.h>\nenum e { A } __attribute__((packed)); struct s { enum e a; char b; };\nstruct t { char a[offsetof(struct s, b)]; };", "the value of"},
		{"struct s { int * __attribute__((aligned(16))) a; };", "case.h:1:16: attribute aligned of a pointer"},
		{"enum e { A } __attribute__((aligned(8)));", "case.h:1:1: attribute aligned of an enumeration"},
		{"typedef enum { A } __attribute__((aligned(8))) e;", "case.h:1:9: attribute aligned of an enumeration"},
		{"struct s { _Float16 a; };", "case.h:1:21: member _Float16 a: the C front end does not know the size of the type"},
		{"struct s { _Complex double a; };", "case.h:1:28: member _Complex double a: complex numbers"},
		{"_Atomic int f(void);", "case.h:1:1: _Atomic"},
		{"int f(int a, _Atomic int *b);", "case.h:1:14: _Atomic"},
		{"typedef float v __attribute__((vector_size(16))); static inline v f(v a, v b) { return a + b; }", "case.h:1:32: attribute vector_size"},
	} {
		text := c.text + "\nstruct kept { int a; };\nint kept(struct kept *);\n#define KEPT 3\n"
		facts, dir, err := parseText(t, text, "amd64")
		if !assert.NoError(t, err, c.text) {
			continue
		}
		place, reason, _ := strings.Cut(c.want, ": ")
		assert.Condition(t, func() bool {
			for _, l := range facts.LeftOut {
				if strings.HasPrefix(l, place+": ") && strings.Contains(l, reason) || reason == "" && strings.Contains(l, place) {
					return true
				}
			}
			return false
		}, "%s\n%q", c.text, facts.LeftOut)
		defined, functions := declared(facts)
		assert.Equal(t, []string{"kept"}, functions, c.text)
		assert.Contains(t, defined, "kept", c.text)
		if !strings.Contains(c.text, "offsetof") {
			assert.NotContains(t, defined, "s", c.text)
		}
		assert.Equal(t, "KEPT", facts.Macros[len(facts.Macros)-1].Name)
		if strings.Contains(c.text, "enum e :") || strings.Contains(c.text, "enum :") {
			continue // C23's, which not every gcc takes
		}
		assertedBy(t, facts, dir, c.text)
	}
}

// declared names the records that are defined, and the functions.
func declared(facts *abi.Facts) (defined, functions []string) {
	for _, r := range facts.Records {
		if !r.Opaque {
			defined = append(defined, r.Name)
		}
	}
	for _, f := range facts.Functions {
		functions = append(functions, f.Name)
	}
	return defined, functions
}

// What has by value what is left out goes with it, on whatever way; what points to
// it stays. No number is taken from it.
func TestLeftOutByValue(t *testing.T) {
	facts, dir, err := parseText(t, `
typedef float vector __attribute__((vector_size(16)));
typedef vector vectors[2], *pointer;
struct atomic { _Atomic long long a; };
typedef struct atomic atomic_t;
typedef struct { char c; vector v; } untagged;
union by_tag { int a; struct { struct atomic b[2]; } c; };
struct by_typedef { atomic_t a; };
struct by_array { vectors a; };
struct by_union { union by_tag *ok; union by_tag a; };
struct by_untagged { untagged u; };
struct by_size { char a[sizeof(union by_tag *)], b[sizeof(untagged)]; };
struct outer { struct inner { vector v; } i; int a; };
struct beside { struct within { int a; } i; vector v; };
enum size { SIZE = sizeof(struct atomic) };
struct by_enumerator { char a[SIZE]; };
#define BY_SIZE sizeof(struct atomic)
#define BY_MACRO (BY_SIZE + 1)
#define BY_ENUMERATOR (SIZE << 1)
struct pointers { struct atomic *a; atomic_t *b; vector *c; pointer d; untagged *e; vector (*f)(vector, struct atomic); vector *g[2]; struct outer *h; enum other { OTHER = 3 } o; };
struct long_double { long double d; };
vector returns(int);
vector *returns_pointer(untagged *);
int takes(int, union by_tag);
int takes_function(vector (*)(struct atomic));
#define RIGHT (OTHER << 1)
`, "amd64")
	require.NoError(t, err)
	defined, functions := declared(facts)
	assert.ElementsMatch(t, []string{"within", "pointers", "long_double"}, defined)
	assert.ElementsMatch(t, []string{"returns_pointer", "takes_function"}, functions)
	require.Len(t, facts.Enums, 1)
	assert.Equal(t, "other", facts.Enums[0].Name)
	require.Len(t, facts.Macros, 1)
	assert.Equal(t, "6", facts.Macros[0].Value)
	assertedBy(t, facts, dir, "what is kept")
	said := strings.Join(facts.LeftOut, "\n")
	for _, want := range []string{
		"case.h:2:37: typedef vector: attribute vector_size is not supported",
		"case.h:4:17: struct atomic: _Atomic: an atomic type has no counterpart in Go",
		"union by_tag: it needs struct atomic, which is left out",
		"struct by_typedef: it needs atomic_t, which is left out",
		"struct by_untagged: it needs untagged, which is left out",
		"enum size: it needs struct atomic, which is left out",
		"struct by_enumerator: it needs SIZE, which is left out",
		"macro BY_MACRO: it needs atomic, which is left out",
		"function takes: it needs union by_tag, which is left out",
	} {
		assert.Equal(t, 1, strings.Count(said, want), "%s\n%s", want, said)
	}
	for _, r := range facts.Records {
		if r.Opaque {
			assert.Zero(t, [2]int64{r.Size, r.Align}, r.Name)
			assert.Empty(t, r.Fields, r.Name)
		}
	}
}
