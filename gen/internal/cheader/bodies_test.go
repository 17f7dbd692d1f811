package cheader_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/gcc"
)

// bodies are functions with bodies that the front end would not take.
var bodies = []struct{ name, text string }{
	{"an unknown name", `static inline int f(int a) { fprintf(stderr, "%d\n", a); return a; }`},
	{"an unknown member", `static inline int f(int a) { struct before b; return b.nope + a; }`},
	{"an unknown type", `static inline int f(int a) { unknown_t x = g(a); return x; }`},
	{"what no compiler takes", `static inline int f(int a) { this is not C; ) return a; }`},
	{"vectors", `static inline int f(int a) { __m128i x = _mm_loadu_si128((__m128i *)&a); { __m128i y; } return a; }`},
	{"a missing label", `static inline int f(int a) { goto out; return a; }`},
	{"literals and comments", `static inline int f(int a) { nope_t x = "}\"{" '{' '\'' /* } */ // }
	+ "\\"; return a; }`},
	{"parameters of its own", `static inline int f(int (*g)(int)) { nope_t x; }`},
	{"a record of its own", `static inline int f(int a) { struct inner { nope_t x; } y; enum { INNER }; }`},
	{"a branch", `static inline int f(int a)
#ifdef __linux__
{ nope_t x;
#else
{ nope_t y;
#endif
#if 0
	don't }
#endif
}`},
	{"a macro of its own", `static inline int f(int a) {
#define IN_BODY 7
	nope_t x[IN_BODY]; }
struct sized { char a[IN_BODY]; };`},
	{"a macro", `#define FUNCTION(name) static inline int name(int a) { nope_t x = { a }; \
	return x; }
#define RECORD(name) struct name { int a; }
FUNCTION(f)
RECORD(made);`},
	{"a macro for its braces", `#define BEGIN {
#define END }
static inline int f(int a) BEGIN return nope; END
static inline int g(int a) { nope_t x; }`},
	{"a macro like a function", `#define TAGGED(name) struct name
TAGGED(tagged) { int a; long b; };
static inline int f(int a) { nope_t x; }`},
	{"an attribute like a function", `#define PACKED(n) __attribute__((packed, aligned(n)))
struct PACKED(4) packed { char a; int b; };
typedef struct { char a; long b; } PACKED(2) packed_t;
static inline int f(int a) { nope_t x; }`},
	{"a pointer to an array", `static inline int (*f(int a))[3] { nope_t x[2]; return x; }
static inline int (*(*g(int a[2]))(int))[3][sizeof(int[2])] { nope_t x; }`},
	{"parameters declared apart", `static inline int f(a, b) int a; struct before *b; { nope_t x; }
static inline int g() { nope_t x; }`},
	{"numbered lines", `static inline int f(int a) { return a + __LINE__; }
#line 7 "other.h"`},
}

// What stands in the body of a function refuses no header: the function is
// declared, and so is what stands around it.
func TestBodiesRefuseNothing(t *testing.T) {
	for _, c := range bodies {
		t.Run(c.name, func(t *testing.T) {
			text := "struct before { int a; };\n" + c.text + "\nstruct after { struct before b; };\n"
			facts, _, err := parseText(t, text, "amd64")
			require.NoError(t, err)
			var functions, records []string
			for _, f := range facts.Functions {
				functions = append(functions, f.Name)
			}
			sizes := map[string]int64{}
			for _, r := range facts.Records {
				records = append(records, r.Name)
				sizes[r.Name] = r.Size
			}
			assert.Contains(t, functions, "f")
			assert.Subset(t, records, []string{"before", "after"})
			assert.NotContains(t, records, "inner")
			for name, size := range map[string]int64{"sized": 7, "made": 4, "tagged": 16, "packed": 8, "packed_t": 10} {
				if sizes[name] != 0 {
					assert.Equal(t, size, sizes[name], name)
				}
			}
		})
	}
}

// What stands outside of bodies is refused as before, and at its place.
func TestBodiesHideNothingElse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"static inline int f(int a)\n{\n\tnope_t x;\n}\nstruct s { unknown_t x; };\n", "case.h:5:22: unexpected identifier, expected ';'\n\tstruct s { unknown_t x; };"},
		{"static inline unknown_t f(int a) { return a; }", "case.h:1:25: unexpected"},
		{"static inline int f(int a) { nope_t x;", "case.h:1:37: unexpected identifier"},
		{"static inline int f(int a) { nope_t x; }\n#error no\n", "case.h:2:"},
		{"struct s { int a; }; { nope_t x; }", "case.h:1:22: unexpected"},
		{"typedef struct before { unknown_t a; } before; static inline int f(int a) { nope_t x; }", "unexpected identifier"},
	} {
		_, _, err := parseText(t, c.text, "amd64")
		assert.ErrorContains(t, err, c.want, c.text)
	}
}

// What a body does to what stands behind it is done though the body is not read, or
// else the header is refused.
func TestBodiesHaveEffects(t *testing.T) {
	compiler, err := gcc.For("amd64")
	require.NoError(t, err)
	const unread = "__seg_fs int *p; " // which gcc knows, and the front end does not
	for _, text := range []string{
		"static inline int f(int a) { " + unread + "_Pragma(\"pack(push, 1)\") return a; }\nstruct s { char a; long b; };\n_Pragma(\"pack(pop)\") struct t { char a; long b; };",
		"static inline int f(int a) { " + unread + "_Pra\\\ngma /* } */ ( // )\n\"pack(2)\"\n) return a; }\nstruct s { char a; long b; };",
		"#define N 3\nstatic inline int f(int a) { " + unread + "_Pragma(\"push_macro(\\\"N\\\")\")\n#undef N\n#define N 5\n_Pragma(\"pop_macro(\\\"N\\\")\") }\nstruct s { char a[N]; };",
		"#define F(name) static inline int name(int a) { " + unread + "_Pragma(\"pack(1)\") return a; }\nF(f)\nstruct s { char a; long b; };",
		"static inline int f(int a) { " + unread + "const char *x_Pragma = \"_Pragma(\\\"pack(1)\\\")\"; /* _Pragma(\"pack(1)\") */ return a; }\nstruct s { char a; long b; };",
		"static inline int f(int a) { " + unread + "\n#pragma pack(1)\nreturn a; }\nstruct s { char a; long b; };",
		"#define QUIET _Pragma(\"GCC diagnostic push\")\nstatic inline int f(int a) { " + unread + "QUIET return __COUNTER__; }\nstruct s { char a; long b; };",
		"struct s { char a[__COUNTER__ + 2]; };\nstatic inline int f(int a) { " + unread + " return a; }\nstruct t { char a[__COUNTER__ + 2]; };",
	} {
		sameRecords(t, compiler, text)
	}
	for text, want := range map[string]string{
		"#define PACK _Pragma(\"pack(1)\")\nstatic inline int f(int a) { nope_t x; PACK }\nstruct s { char a; long b; };":         "one has a pragma by way of a macro",
		"static inline int f(int a) { nope_t x = __COUNTER__; }\nstruct s { char a[__COUNTER__]; };":                              "one uses __COUNTER__",
		"#define NEXT __COUNTER__\nstatic inline int f(int a) { nope_t x = NEXT; }\n#if NEXT == 1\nstruct s { char a; };\n#endif": "one uses __COUNTER__",
	} {
		_, _, err := parseText(t, text, "amd64")
		assert.ErrorContains(t, err, "parsing case.h for linux/amd64: the C front end does not read the bodies of all functions, and they cannot be left out: "+want, text)
	}
}
