package cheader

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// The front end does not know all the ways in which C may be written. A header is
// given to it in those that it knows, each thing in its line.

// spelled is the text of a header as the front end is to read it.
func spelled(header string, text []byte) ([]byte, error) {
	text, err := withoutElifdefs(header, withoutDigraphs(withoutUnended(joined(text))))
	return endEnums(withoutImports(text)), err
}

// blankBehind is the blank that compilers overlook between a backslash and the end
// of the line that it joins to the next one.
var blankBehind = regexp.MustCompile(`\\[ \t\f\v\x00]+(\r?\n)`)

// joined takes away the blank behind backslashes that continue a line.
func joined(text []byte) []byte { return blankBehind.ReplaceAll(text, []byte(`\${1}`)) }

// digraphs are other spellings of the same tokens, as long as the usual ones with blanks.
var digraphs = []struct{ text, usual string }{
	{"%:%:", "##  "}, {"%:", "# "}, {"<%", "{ "}, {"%>", "} "}, {"<:", "[ "}, {":>", "] "},
}

// withoutDigraphs spells digraphs in the usual way.
func withoutDigraphs(text []byte) []byte {
	for l := newLexer(text); ; {
		for _, d := range digraphs {
			if bytes.HasPrefix(text[l.at:], []byte(d.text)) {
				copy(text[l.at:], d.usual)
			}
		}
		if piece, _ := l.next(); piece == nil {
			return text
		}
	}
}

// codeOf is the code of a header, each byte at its place, for searches in it:
// comments are blank there, and literals are quotes. What joins two lines is zeros.
func codeOf(text []byte) []byte {
	code := make([]byte, 0, len(text))
	for l := newLexer(text); ; {
		piece, isCode := l.next()
		switch {
		case piece == nil:
			return code
		case isCode && piece[0] == 0:
			code = append(code, ' ')
		case isCode:
			code = append(code, piece...)
		case continues(piece) > 0:
			code = append(code, make([]byte, len(piece))...)
		case piece[0] == '/':
			code = append(code, bytes.Repeat([]byte{' '}, len(piece))...)
		default:
			code = append(code, bytes.Repeat([]byte{'"'}, len(piece))...)
		}
	}
}

// What may stand between the words of code: the first in directives, the second anywhere.
const (
	gap   = `[ \t\f\v\r\x00]*`
	space = `[\s\v\x00]*`
)

// word is the expression for a word of code, which may go on in another line.
func word(text string) string { return strings.Join(strings.Split(text, ""), `\x00*`) }

var (
	elifdef = regexp.MustCompile(`(?m)^` + gap + `#` + gap + word("elif") + `(\x00*` + word("n") + `)?(\x00*` + word("def") + `\b)`)
	// oneName is what has to stand behind it.
	oneName = regexp.MustCompile(`^\x00*[ \t\f\v]` + gap + `[A-Za-z_$\x80-\xff][\w$\x00\x80-\xff]*` + gap + `(\n|$)`)
)

// withoutElifdefs writes #elifdef and #elifndef, which are C23's, as C11 does.
func withoutElifdefs(header string, text []byte) ([]byte, error) {
	var out []byte
	from := 0
	code := codeOf(text)
	for _, m := range elifdef.FindAllSubmatchIndex(code, -1) {
		start, not := m[4], ""
		if m[2] >= 0 {
			start, not = m[2], "!"
		}
		if !oneName.Match(code[m[5]:]) {
			return nil, fmt.Errorf("%s:%d: #elif%s takes the name of one macro", header, bytes.Count(text[:m[5]], []byte("\n"))+1, splice.ReplaceAll(text[start:m[5]], nil))
		}
		out = append(append(out, text[from:start]...), " "+not+"defined"...)
		out = append(out, splices(text[start:m[5]])...)
		from = m[5]
	}
	return append(out, text[from:]...), nil
}

// imported is the name of the pragma that #import is made.
const imported = "__goverbs_import"

var importDirective = regexp.MustCompile(`(?m)^` + gap + `#` + gap + `(` + word("import") + `)\b`)

// withoutImports makes #import a pragma, which is refused where it is not left out.
// The front end would pass over it, and compilers include the header once.
func withoutImports(text []byte) []byte {
	return renamed(text, importDirective, "pragma "+imported+" ")
}

// renamed gives directives another name, where the first group of an expression finds theirs.
func renamed(text []byte, directive *regexp.Regexp, name string) []byte {
	var out []byte
	from := 0
	for _, m := range directive.FindAllSubmatchIndex(codeOf(text), -1) {
		out = append(append(out, text[from:m[2]]...), name...)
		out = append(out, splices(text[m[2]:m[3]])...)
		from = m[3]
	}
	return append(out, text[from:]...)
}

var enumBits = regexp.MustCompile(word("enum") + `\x00*\s` + space + `[\w\x00]+(` + space + `:` + space + `[0-9(])`)

// endEnums puts a word behind the enumeration that is the type of a bit-field
// without a name. The front end would take it for the definition of an enumeration
// with C23's fixed type.
func endEnums(text []byte) []byte {
	var out []byte
	from := 0
	for _, m := range enumBits.FindAllSubmatchIndex(codeOf(text), -1) {
		if m[0] > 0 && (text[m[0]-1] == '_' || unicode.In(rune(text[m[0]-1]), unicode.Letter, unicode.Digit)) {
			continue // another name that ends so
		}
		out = append(append(out, text[from:m[2]]...), " const"...)
		from = m[2]
	}
	return append(out, text[from:]...)
}

// splice is what joins two lines.
var splice = regexp.MustCompile(`\\\r?\n`)

// splices are the ends of lines in a word, for one in its place.
func splices(word []byte) []byte { return bytes.Join(splice.FindAll(word, -1), nil) }
