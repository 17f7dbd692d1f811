package cheader_test

import (
	"os"
	"path/filepath"
	"regexp"
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

// parseText reads a header that is given as text, for a processor.
func parseText(t *testing.T, text, arch string) (*abi.Facts, string, error) {
	t.Helper()
	target, err := headers.ParseTarget("linux/" + arch)
	require.NoError(t, err)
	return parseFor(t, text, target)
}

// parseFor reads a header that is given as text, and tells the folder that it is in.
func parseFor(t *testing.T, text string, target headers.Target) (*abi.Facts, string, error) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "case.h"), []byte(text), 0o644))
	facts, err := cheader.Parse(cheader.Source{Header: "case.h", IncludeDirs: []string{dir}}, target)
	return facts, dir, err
}

// Small headers, each for something that is easily got wrong; faults that were
// found are kept here. The C compilers are asked about all that the model says
// of them.
var cases = []struct {
	name, text string
	bits       string // bit-fields, as "TYPE PATH", separated by commas
}{
	{name: "bit-fields beside bytes", text: `
struct s { char a; int b : 3; int c : 13; char d; unsigned long long e : 40; short f; };`,
		bits: "struct s b, struct s c, struct s e"},
	{name: "the sign of a char", text: `
struct s { char a; char b : 3; signed char c; }; enum e { A = '\377' };`,
		bits: "struct s b"},
	{name: "64 bits wide bit-fields", text: `
struct s { unsigned long long a : 64; unsigned long long b : 57; long long c : 63; };`,
		bits: "struct s a, struct s b, struct s c"},
	{name: "zero width", text: `
struct s { int a : 3; int : 0; int b : 3; char c; long long : 0; char d; };`,
		bits: "struct s a, struct s b"},
	{name: "unnamed", text: `
struct s { char a; int : 5; int b : 3; }; struct t { char a; long : 5; };`,
		bits: "struct s b"},
	{name: "an alignment asked for a bit-field", text: `
union s { struct { int a : 15 __attribute__((aligned(16))); } b[3]; };
struct t { int a : 3, b : 4 __attribute__((aligned(8))); };`,
		bits: "struct t a, struct t b"},
	{name: "an integer's width", text: `
typedef int loose __attribute__((aligned(1)));
typedef char tight __attribute__((aligned(16)));
struct s { loose a : 32; }; union u { loose a : 16; };
struct t { struct { short a : 14; tight b : 8; }; };`,
		bits: "struct s a, union u a, struct t a, struct t b"},
	{name: "rounding beyond the largest alignment", text: `
typedef long wide __attribute__((aligned(32)));
struct s { void *a; wide : 13; unsigned char b : 1; }; struct t { char a; wide b : 13; };`,
		bits: "struct s b, struct t b"},
	{name: "rounding from before an alignment", text: `
typedef short wide __attribute__((aligned(32)));
struct s { long long a : 36; wide b : 9 __attribute__((aligned(4))); };
struct t { long long a : 60, c : 40; wide b : 9 __attribute__((aligned(8))); };
struct u { long long a : 60, c : 40; wide b : 9 __attribute__((aligned(16))); };`,
		bits: "struct s b, struct t b, struct u b"},
	{name: "packed", text: `
struct s { char a; int b; int c : 3; long long d : 40; } __attribute__((packed));
struct t { char a; int b __attribute__((packed)); int c; };
struct u { char a; struct t b; } __attribute__((packed, aligned(4)));
typedef unsigned long t4 __attribute__((aligned(4)));
union v { struct __attribute__((packed)) { long : 28; t4 a; unsigned long b : 30; }; };`,
		bits: "struct s c, struct s d, union v b"},
	{name: "packed by pragma", text: `
#pragma pack(push, 2)
struct s { char a; int b; struct { char c; long long d; } e; long long f : 20; };
#pragma pack(pop)
struct t { char a; int b; };`,
		bits: "struct s f"},
	{name: "packed enumerations", text: `
typedef enum { A = 'a' } __attribute__((packed)) e;
enum f { B = -200 } __attribute__((packed)); enum g { C = 65535 } __attribute__((__packed__));
struct s { enum f a; char b; enum g c; e d : 4; int : 17; e f : 4; e g : 4; };`,
		bits: "struct s d, struct s f, struct s g"},
	{name: "enumerations of all sizes", text: `
enum a { A1 = -1 }; enum b { B1 = 0x80000000 }; enum c { C1 = -1, C2 = 0x80000000 };
enum d { D1 = 0xffffffffffffffff }; enum e { E1 = 0x7fffffffffffffff, E2 = -1 };
enum f { F1 = 1u << 31, F2 = ~0u }; enum g { G1 = -0x7fffffff - 1 }; enum h { H1 = 0x7fffffffffffffff };
struct s { enum a a; enum b b; enum c c; enum d d; enum e e; enum f f; char g[F1 > 3 ? 2 : 5]; };`},
	{name: "records in records", text: `
struct s { struct inner { char a; } x; union { struct { short b; int c; }; long d; }; struct { int e[2]; } f[3]; struct inner *p; };
struct empty {}; struct aligned_empty {} __attribute__((aligned(8))); struct t { char a; struct empty b; struct aligned_empty c; char d; };`},
	{name: "arrays", text: `
#define N 3
enum { LEN = 4 };
typedef int row[2];
struct s { row a[N]; char b[LEN][sizeof(row)]; int c[0]; struct { int d; } e[2][2]; int *f[2]; int (*g)[3]; char h[]; };`},
	{name: "pointers to functions", text: `
struct s;
typedef void (*done)(struct s *, int);
struct s { struct s *next; done a; int (*b)(void); void (*(*c)(int))(void *); done *d; done e[2]; int (**f)(struct later *, ...); struct later *g; };`},
	{name: "typedefs", text: `
typedef struct { int a; } one, two; typedef one three; typedef struct four { three a; two b; } four;
typedef four four; typedef enum { X, Y } color, hue; struct s { four a; color b; hue c; const volatile four *d; };`},
	{name: "assertions and attributes", text: `
#include <stddef.h>
struct __attribute__((aligned(16))) s { int a; _Static_assert(sizeof(int) == 4, "int"); };
_Static_assert(offsetof(struct s, a) == 0, "offset");
struct t { _Alignas(8) char a; char b __attribute__((aligned(4), unused)); };
int f(void) __attribute__((deprecated));`},
	{name: "unnamed bit-fields of enumerations", text: `
enum e { A, B = 5 }; enum f { C = 200 } __attribute__((packed));
struct s { char a; enum e : 3; enum e b : 2; enum e:(0); char c; enum f : 3; enum f d : 8; enum { D, E } : 4; int e : 3; };
typedef int my_enum; struct t { my_enum x : 3; enum e y:3; };`,
		bits: "struct s b, struct s d, struct s e, struct t x, struct t y"},
	{name: "a typedef of an enumeration with an alignment", text: `
typedef enum { C } g __attribute__((aligned(8))); struct s { char a; g b; char c; };`},
	{name: "more than one alignment", text: `
struct s { char a; _Alignas(8) _Alignas(4) char b; _Alignas(2) _Alignas(long) char c; _Alignas(0) char d; _Alignas(16) _Alignas(2) struct { char x; } e;
	_Alignas(4) char f[3], g; };`},
	{name: "types that declare no member", text: `
typedef struct { int q; } T; struct r;
struct s { char a; T; struct r; struct t { int z; }; enum { XX = 3 }; const struct { int y; }; long b; }; struct u { struct t a; };`},
	{name: "the largest alignment", text: `
struct s { char a; char b __attribute__((aligned(__BIGGEST_ALIGNMENT__))); };`},
	{name: "C23's assertions", text: `
struct s { int a; _Static_assert(sizeof(int) == 4); int b; _Static_assert(1, "yes"); }; _Static_assert(sizeof(struct s) == 8);`},
	{name: "wide characters", text: `
#include <stddef.h>
struct s { char a; wchar_t b; wchar_t c[2]; };`},
	{name: "pragmas", text: `
#pragma pack(push, 1)
struct a { char a; long b; int c __attribute__((aligned(4))); };
#pragma pack(push, 4)
struct b { char a; long b; };
#pragma pack(pop)
struct c { char a; struct b b; };
#pragma pack(pop)
#pragma pack(push)
#pragma pack(2)
struct d { char a; long b; };
#pragma pack(pop)
#define N 2
#pragma pack(push, name, N)
struct e { char a; long b; };
#pragma pack(pop, name)
_Pragma("pack(push, 1)") struct f { char a; long b; }; _Pragma("pack(pop)") struct g { char a; long b; };`},
	{name: "attributes of members", text: `
struct s { char a; int b __attribute__((packed)); long c __attribute__((packed, aligned(2))); double d[2] __attribute__((packed));
	int __attribute__((aligned(8))) e, f; char g; __attribute__((packed)) long h; void (*i)(void) __attribute__((aligned(16)));
	__extension__ union { int j; char k; }; _Bool l : 1; _Bool m : 1; char n; _Bool : 0; _Bool o : 1; };`,
		bits: "struct s l, struct s m, struct s o"},
	{name: "unnamed members of packed records", text: `
struct s { char a; union { int b; struct { char c; long d; }; struct { short e; int f; } __attribute__((packed)); }; } __attribute__((packed));
struct t { char a; struct { char b; union { long c; char d; }; }; union { int e; } __attribute__((packed)); short f; };`},
	{name: "typeof", text: `
extern int v; struct q { long a; };
struct s { char x; typeof(v) a; __typeof(struct q) b; typeof(unsigned char [3]) c; __typeof__(((struct { short z; } *)0)->z) d; };`},
	{name: "arrays without length in a union", text: `
struct s { int n; union { struct { struct { } e; char a[]; }; struct { struct { } f; long b[]; }; }; };`},
	{name: "macros beside what the front end does not know", text: `
#include <stdint.h>
enum e { A } __attribute__((packed)); struct s { enum e a; char b; };
#define N sizeof(int[3])
#define M (sizeof(uint16_t) + 1)`},
	{name: "records with a typedef's alignment", text: `
typedef struct { int q; } s1 __attribute__((aligned(16))); typedef struct { int q; } s2 __attribute__((aligned(2)));
typedef union { long q; char c; } u1 __attribute__((aligned(32))), u2, u3 __attribute__((aligned(1)));
typedef struct { char c[16]; } R, S __attribute__((aligned(16))); typedef __attribute__((aligned(4))) R T; typedef R V __attribute__((aligned(8)));
typedef const s2 w; typedef struct t { int q; } t1 __attribute__((aligned(16)));
struct s { char a; s1 b; char c; s2 d; char e; u1 f; char g; u3 h; S i; T j; V k[2]; char l; w m; t1 o; char p; struct t q; };`},
	{name: "arrays of types with an alignment", text: `
typedef unsigned long long c64 __attribute__((aligned(4))); typedef volatile c64 reg; typedef const c64 rom; typedef c64 row[2];
typedef struct { int q; } r2 __attribute__((aligned(2))); typedef volatile r2 v2; typedef const long long double_word;
typedef unsigned int i4 __attribute__((aligned(4))); typedef const i4 ci4;
struct s { char a; c64 b[2]; char c; reg d; char e; rom f; char g; row h; char i; v2 j; char k; ci4 l[2]; const volatile i4 m[2][2]; char n; double_word o[2]; char r; const volatile double s[2]; char t; const long double u[2]; const long p[2] __attribute__((aligned(16))); c64 q[2][2]; };`},
	{name: "#line", text: `
struct a { int x; };
#line 10 "gen.y"
struct b { long y; };
  # /* or
so */ line 1 "stdint.h" /* and
on */
enum e { A = 3 };
#define B 5`},
	{name: "the usual order of bytes", text: `
#pragma scalar_storage_order default
struct s { int a; };`},
	{name: "macros", text: `
#define A (1 << 3)
#define B (A | 0x80000000)
#define C -1
#define D 0xffffffffffffffffULL
#define E sizeof(long)
#define F ((unsigned char)300)
#define G ((char)200)
#define H '\377'
#define I (1 ? -1 : 0u)
#define J (-7 / 2)
#define K (-7 % 2)
#define L (-1 >> 1)
#define NOT_A_VALUE struct s
#define SELF SELF
enum { SELF = 5 };
struct s { int a; };`},
}

// branches is a header of which the layout depends on the macros of the compiler.
const branches = `
#define TAKEN(name) struct name { char a[2]; };
#if __LONG_MAX__ > 0x7fffffff && __SIZE_MAX__ == __UINTPTR_MAX__ && __INT64_MAX__ > 1 && __INTMAX_WIDTH__ == 64
TAKEN(ranges)
#endif
#if __SIZEOF_DOUBLE__ == 8 && __SIZEOF_WCHAR_T__ == 4 && __SIZEOF_PTRDIFF_T__ == __SIZEOF_POINTER__
TAKEN(sizes)
#endif
#if __SIZEOF_LONG_DOUBLE__ > 8
TAKEN(long_double)
#endif
#ifdef __SIZEOF_INT128__
struct s { char a; __int128 b; };
#endif
#if defined __ELF__ && defined linux && defined unix && linux + unix == 2 && defined __GCC_HAVE_SYNC_COMPARE_AND_SWAP_8
TAKEN(elf)
#endif
#ifdef __SSE2__
TAKEN(sse)
#endif
#if __UNKNOWN__ || __X__
TAKEN(unknown)
#endif
TAKEN(last)
#define MAX __LONG_MAX__
#define HUGE __DBL_MAX__
`

func TestCasesAgreeWithGCC(t *testing.T) {
	for _, arch := range []string{"amd64", "386", "arm64", "s390x"} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			compiler, err := gcc.For(arch)
			require.NoError(t, err)
			for _, c := range cases {
				facts, dir, err := parseText(t, c.text, arch)
				require.NoError(t, err, c.name)
				var text strings.Builder
				require.NoError(t, casserts.Write(&text, facts))
				require.Contains(t, text.String(), "_Static_assert", c.name)
				ok, said, err := compiler.Accepts(text.String(), dir)
				require.NoError(t, err)
				assert.True(t, ok, "%s\n%s\n%s", c.name, c.text, said)
				if c.bits != "" {
					bitCases(t, compiler, facts, dir, c.name, strings.Split(c.bits, ", "))
				}
			}
		})
	}
}

func TestBranchesAgreeWithGCC(t *testing.T) {
	for _, arch := range []string{"amd64", "386", "arm64", "s390x"} {
		compiler, err := gcc.For(arch)
		require.NoError(t, err)
		sameRecords(t, compiler, branches)
	}
}

// sameRecords asserts that the model has just the records, with "struct NAME {" in
// a line or by the macro TAKEN, that the compiler sees, and their layout.
func sameRecords(t *testing.T, compiler *gcc.Compiler, text string) {
	t.Helper()
	facts, dir, err := parseText(t, text, compiler.Arch)
	require.NoError(t, err, "%s\n%s", compiler.Arch, text)
	seen, err := compiler.Preprocess(text, dir)
	require.NoError(t, err)
	var want, got []string
	for _, m := range regexp.MustCompile(`struct (\w+) \{`).FindAllStringSubmatch(seen, -1) {
		want = append(want, m[1])
	}
	for _, r := range facts.Records {
		got = append(got, r.Name)
	}
	require.NotEmpty(t, want)
	assert.ElementsMatch(t, want, got, "%s\n%s", compiler.Arch, text)
	var asserts strings.Builder
	require.NoError(t, casserts.Write(&asserts, facts))
	ok, said, err := compiler.Accepts(asserts.String(), dir)
	require.NoError(t, err)
	assert.True(t, ok, "%s\n%s\n%s", compiler.Arch, text, said)
}

func bitCases(t *testing.T, compiler *gcc.Compiler, facts *abi.Facts, dir, name string, bits []string) {
	source := "#include \"case.h\"\n"
	object := strings.NewReplacer(" ", "_", ".", "_")
	for _, b := range bits {
		i := strings.LastIndex(b, " ")
		source += b[:i] + " " + object.Replace(b) + " = { ." + b[i+1:] + " = -1 };\n"
	}
	objects, err := compiler.Objects(source, dir)
	require.NoError(t, err, name)
	a := &answerer{facts: facts, objects: objects}
	for _, b := range bits {
		found := false
		for _, r := range facts.Records {
			for _, l := range r.Flat {
				if string(r.Kind)+" "+r.Name+" "+l.Path == b {
					a.bits(object.Replace(b), b, l)
					found = true
				}
			}
		}
		assert.True(t, found, "%s: %s is not in the model", name, b)
	}
	assert.Empty(t, a.faults, name)
}

// A macro that is another number wherever it is used is no constant.
func TestMacrosThatVaryAreLeftOut(t *testing.T) {
	facts, _, err := parseText(t, `
#define HERE __LINE__
#define NEXT (__COUNTER__ + 1)
#define DATE sizeof __DATE__
#define TIME __TIME__[0]
#define DEPTH __INCLUDE_LEVEL__
#define CALL(x) (x + __LINE__)
#define INDIRECT CALL(1)
#define LOOP (LOOP)
#define CONSTANT (1 + 2)
`, "amd64")
	require.NoError(t, err)
	var names []string
	for _, m := range facts.Macros {
		names = append(names, m.Name)
	}
	assert.Equal(t, []string{"CONSTANT"}, names)
}

// What is not followed is an error that says where and why.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"struct s { struct missing m; };", `case.h:1:27: member struct missing m: the type is incomplete`},
		{"struct s { int a; struct s b; };", `case.h:1:28: member struct s b: the type is incomplete`},
		{"#pragma scalar_storage_order big-endian\nstruct s { int a; };", "case.h:1:9: pragma scalar_storage_order is not supported"},
		{"int a;\n_Pragma(\"scalar_storage_order little-endian\") struct s { int a; };", "pragma scalar_storage_order is not supported"},
		{"#line 3 \"a.y\"\nstruct s { int a[__LINE__]; };", "the value of __LINE__ is not known"},
		{"#line 3 \"a.y\"\nstruct s { int a[-1]; };", "case.h:2:"},
		{"struct s { __int128 a : 100; };", "case.h:1:25: value out of range"},
		{"extern int n; struct s { int a[n]; };", "case.h:1:30: member int a[]: the length of an array is not constant"},
		{"struct s { void a; };", "case.h:1:17: member void a: no object"},
		{"struct s { int f(void); };", "case.h:1:16: member int f(void): no object"},
		{"struct s { int a : 40; };", "case.h:1:16: member int a : 40: a bit-field that is wider"},
		{"struct s { float a : 4; };", "case.h:1:18: member float a : 4: a bit-field must be an integer"},
		{"struct s { int a; int a; };", "case.h:1:1: two members are named \"a\""},
		{"enum e { A = -1, B = 0xffffffffffffffff };", "case.h:1:"},
		{"enum e { A = 0xffffffffffffffff, B };", "case.h:1:"},
		{"struct s { int a[-1]; };", "case.h:1:"},
		{"struct s { char a[1ULL << 62]; char b[1ULL << 62]; };", "case.h:1:"},
		{"struct s { int", "case.h: unexpected <EOF>"},
		{"struct a { int x; };\n\tstruct s { unknown_t x; };\n", "case.h:2:23: unexpected identifier, expected ';'\n\tstruct s { unknown_t x; };"},
		{"struct s { int *", "case.h: it ends in the middle of a declaration\n"},
		{"typedef int t __attribute__((aligned(16)));\nstruct s { t a[2]; };", "case.h:2:14: an array of"},
		{"typedef struct { int q; } t __attribute__((aligned(16)));\nstruct s { t *(*a)[2]; t b[2]; };", "case.h:2:26: an array of"},
		{"typedef struct { int q; } t __attribute__((aligned(16)));\nextern int f(t (*a)[2]);", "case.h:2:12: an array of"},
		{"typedef int t __attribute__((aligned(8))); typedef t u[2][2];", "case.h:1:54: an array of t: 4 bytes aligned to 8"},
		{"typedef int t[1] __attribute__((aligned(8))); extern t u[];", "case.h:1:56: an array of t: 4 bytes aligned to 8"},
		{"typedef int t8 __attribute__((aligned(8)));\ntypedef t8 u;\ntypedef u t16 __attribute__((aligned(16)));", "case.h:3:11: u t16: the typedef u has an alignment already"},
		{"#error not here", "case.h:1:"},
		{"_Static_assert(0, \"no\");", "case.h:1:"},
		{"#include \"case.h\"\n", "case.h includes itself"},
		{"#include <absent.h>", "absent.h, which case.h needs, was not found"},
	} {
		facts, _, err := parseText(t, c.text, "amd64")
		if assert.Error(t, err, "%s\n%+v", c.text, facts) {
			assert.ErrorContains(t, err, c.want, c.text)
			assert.NotContains(t, err.Error(), ".go:", c.text)
		}
	}
}

// A macro whose number is not known is left out and told of.
func TestMacrosWithoutAKnownValue(t *testing.T) {
	for _, c := range []struct{ text, arch, want string }{
		{"enum e { A } __attribute__((packed)); struct s { enum e a; int b; };\n#define N sizeof(struct s)\n#define M 3", "amd64",
			"case.h:2:9: the value of the macro N is not known: it depends on the layout of a type"},
		{"#define N (__alignof__(double))\n#define M 3", "386", "case.h:1:9: the value of the macro N is not known: __alignof__ may be above"},
	} {
		facts, _, err := parseText(t, c.text, c.arch)
		require.NoError(t, err, c.text)
		require.Len(t, facts.LeftOut, 1, c.text)
		assert.Contains(t, facts.LeftOut[0], c.want)
		require.Len(t, facts.Macros, 1, c.text)
		assert.Equal(t, "M", facts.Macros[0].Name)
	}
}

// What a header declares is its own wherever it says that a line came from.
func TestLinesAreTheHeaders(t *testing.T) {
	facts, _, err := parseText(t, `#line 1 "o.h"
struct a { int x; };
#line 10 "include/stdint.h"
struct b { long y; };
# \
 line 20 "gen.y"
enum e { A };
#define B 5
int f(void);`, "amd64")
	require.NoError(t, err)
	require.Len(t, facts.Records, 2)
	require.Len(t, facts.Enums, 1)
	require.Len(t, facts.Functions, 1)
	b, e, f := facts.Records[1], facts.Enums[0], facts.Functions[0]
	assert.Equal(t, []any{"b", "case.h", 4}, []any{b.Name, b.Header, b.Line})
	assert.Equal(t, []any{"e", "case.h", 7}, []any{e.Name, e.Header, e.Line})
	assert.Equal(t, []any{"f", "case.h", 9}, []any{f.Name, f.Header, f.Line})
	require.NotEmpty(t, facts.Macros)
	m := facts.Macros[len(facts.Macros)-1]
	assert.Equal(t, []any{"B", "case.h", 8}, []any{m.Name, m.Header, m.Line})
}

// Of a double, i386 compilers keep to an alignment of 4 in records and prefer 8:
// __alignof__ is the one, _Alignof the other, as gcc says here.
func TestPreferredAlignment(t *testing.T) {
	compiler, err := gcc.For("386")
	require.NoError(t, err)
	ok, said, err := compiler.Accepts("_Static_assert(__alignof__(double) == 8 && __alignof(long long[2]) == 8 && _Alignof(double) == 4 && __alignof__(struct { double d; }) == 4, \"\");")
	require.NoError(t, err)
	require.True(t, ok, said)
	for text, want := range map[string]string{
		"struct s { char a[__alignof__(double)]; };":                        "case.h:1:19: struct s: the value of __alignof__(double) is not known",
		"typedef char t __attribute__((aligned(__alignof(long long[2]))));": "case.h:1:39: typedef t: the value of __alignof(long long[2]) is not known",
		"#define A _Alignof(double)\nstruct t { double d; }; struct s { char a[__alignof__(struct t)], b[__alignof__(int)], c[_Alignof(double)]; };": "",
	} {
		facts, _, err := parseText(t, text, "386")
		require.NoError(t, err, text)
		if want == "" {
			assert.Empty(t, facts.LeftOut, text)
		} else {
			assert.Contains(t, strings.Join(facts.LeftOut, "\n"), want, text)
		}
		facts, _, err = parseText(t, text, "amd64")
		require.NoError(t, err, text)
		assert.Empty(t, facts.LeftOut, text)
	}
}
