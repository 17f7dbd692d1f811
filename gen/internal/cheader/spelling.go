package cheader

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
)

// blankBehind is the blank that compilers overlook between a backslash and the end
// of the line that it joins to the next one.
var blankBehind = regexp.MustCompile(`\\[ \t\f\v\x00]+(\r?\n)`)

// joined takes away the blank behind backslashes that continue a line.
func joined(text []byte) []byte { return blankBehind.ReplaceAll(text, []byte(`\${1}`)) }

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
