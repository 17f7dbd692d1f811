package cheader_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/gcc"
)

// spellings are headers with code that the front end would take for another one.
var spellings = []struct{ name, text string }{
	{"a continued comment", "// this goes on \\ \t\nstruct no { char a[2]; };\nTAKEN(yes)\n// \\\\ \nTAKEN(no2)\nTAKEN(yes2)"},
	{"a continued macro", "#define N 2 \\  \n * 3 \\\t\n * 5\nstruct s { char a[N]; };"},
	{"a continued literal", "struct s { char a[sizeof \"ab\\  \n  c\"]; };"},
	{"a continued word", "struct s { char a; lo\\ \nng b; };"},
	{"lines with carriage returns", "// this goes on \\ \r\nstruct no { char a[2]; };\r\n#define N 2 \\\t \r\n * 3\r\nstruct s { char a[N]; };\r\n"},
	{"two ends of lines in a row", "#define N 2 \\\n\\ \n * 3\nstruct s { char a[N]; };"},
	{"#elifdef", "#ifdef NOT\nTAKEN(a)\n#elifdef NOR\nTAKEN(b)\n#elifdef TAKEN\nTAKEN(c)\n#elifdef TAKEN\nTAKEN(d)\n#else\nTAKEN(e)\n#endif"},
	{"#elifndef", "#if 0\nTAKEN(a)\n#elifndef TAKEN // no\nTAKEN(b)\n # /* */ elifndef NOT /* so\n */ // on\nTAKEN(c)\n#elifndef NOT\nTAKEN(d)\n#endif"},
	{"#elifdef across lines", "#if 0\n#el\\\nif\\\nn\\\ndef \\\n NO\\\nT\nTAKEN(a)\n#endif\n#if 0\n#elifdef/**/TAKEN\r\nTAKEN(b)\n#endif"},
	{"literals and macros like #elifdef", "#define A \\\n#elifdef\nstruct s { char a[sizeof \"x\\\n#elifdef TAKEN\\\n\"]; };\n/*\n#elifdef */"},
	{"#elifdef with digraphs", "#if 0\n%:elifdef TAKEN\nTAKEN(a)\n%:endif"},
	{"a literal like a bit-field", `struct s { char a[sizeof "enum e : 8"], b[sizeof "enum e:(0)"]; };`},
	{"a comment like a bit-field", "// enum e : 8\nstruct s { char a; /* enum e : 8 */ long b; };"},
	{"comments in a bit-field", "enum e { A, B };\nstruct s { char a; enum/**/e // e\n/* 9 */:/**/3; enum e\\\n:3; en\\\num e : 20; char b; };"},
	{"an enumeration in a choice", "enum e { A, B };\nstruct s { char a[_Generic((enum e)0, enum e : 2, default : 3)]; };"},
	{"a literal like a line", "struct s { char a[sizeof \"a\\\n#line 3\\\n\"]; };"},
	{"digraphs", "%:define JOIN(a, b) a %:%: b\n %: if 1 // <%\nstruct s { char JOIN(x, y)<:3:>, a[sizeof \"<:%:\" + sizeof \"'<%\"]; %>;\n%: else\nTAKEN(no)\n%:endif\nTAKEN(yes)\n#define T(x) %:x\nstruct t { char a[sizeof T(abc)]; };"},
	{"digraphs around a body", "static inline int f(int a) <% __seg_fs int *p; return \"%>\"<:0:>; <% %> %>\nstruct s { char a<:2:>; %>;"},
	{"digraphs and braces", "static inline int f(int a) <%\n%:define N 3\n __seg_fs int *p; }\nTAKEN(b)\nstatic inline int g(int a) { __seg_fs int *p; %>\nstruct s { char a<:N:>; };"},
	{"#import left out", "#ifdef __OBJC__\n#import <Foundation/Foundation.h>\n#endif\n/*\n#import */\nstruct s { char a[sizeof \"\\\n#import\\\n\"]; };"},
	{"numbered lines", "struct s { char a; };\n#li\\\nne 70\nstruct t { int a; };"},
}

// However a header is spelled, the model has the records that gcc has.
func TestSpellingsAgreeWithGCC(t *testing.T) {
	compiler, err := gcc.For("amd64")
	require.NoError(t, err)
	for _, c := range spellings {
		t.Run(c.name, func(t *testing.T) {
			sameRecords(t, compiler, "#define TAKEN(name) struct name { char a[2]; };\n"+c.text+"\n")
		})
	}
}

// What #elifdef is not followed by is refused.
func TestElifdefTakesOneName(t *testing.T) {
	for text, want := range map[string]string{
		"#if 0\n\n#elifdef A && B\n#endif\nstruct s { int a; };": "case.h:3: #elifdef takes the name of one macro",
		"#if 0\n#elifn\\\ndef\n#endif\nstruct s { int a; };":     "case.h:3: #elifndef takes the name of one macro",
		"#if 0\n#elifdef 3\n#endif\nstruct s { int a; };":        "case.h:2: #elifdef takes the name of one macro",
	} {
		_, _, err := parseText(t, text, "amd64")
		assert.ErrorContains(t, err, want, text)
	}
}

// Compilers include what #import names. The front end passes over it, so it is refused.
func TestImportIsRefused(t *testing.T) {
	for _, text := range []string{"struct s { int a; };\n#import \"other.h\"\n", "struct s { int a; };\n# im\\\nport <other.h>\n", "\n%:import OTHER\nstruct s { int a; };"} {
		_, _, err := parseText(t, text, "amd64")
		assert.ErrorContains(t, err, "parsing case.h for linux/amd64: case.h:2:", text)
		assert.ErrorContains(t, err, "#import is not supported; write #include", text)
	}
}
