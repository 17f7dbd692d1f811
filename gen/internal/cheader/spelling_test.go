package cheader_test

import (
	"testing"

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
	{"a literal like a bit-field", `struct s { char a[sizeof "enum e : 8"], b[sizeof "enum e:(0)"]; };`},
	{"a comment like a bit-field", "// enum e : 8\nstruct s { char a; /* enum e : 8 */ long b; };"},
	{"comments in a bit-field", "enum e { A, B };\nstruct s { char a; enum/**/e // e\n/* 9 */:/**/3; enum e\\\n:3; en\\\num e : 20; char b; };"},
	{"an enumeration in a choice", "enum e { A, B };\nstruct s { char a[_Generic((enum e)0, enum e : 2, default : 3)]; };"},
	{"a literal like a line", "struct s { char a[sizeof \"a\\\n#line 3\\\n\"]; };"},
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
