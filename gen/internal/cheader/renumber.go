package cheader

import (
	"errors"
	"regexp"
)

// renumbered tells whether headers give their lines other numbers, and whether
// they ask for one.
type renumbered struct{ line, asked bool }

var (
	lineDirective = regexp.MustCompile(`(?m)^` + gap + `#` + gap + `(` + word("line") + `)\b`)
	lineNumber    = regexp.MustCompile(`\b` + word("__LINE__") + `\b`)
)

// withoutLines makes the directives that number lines pragmas without a meaning:
// what is declared is the header's that is read, whatever it was made from.
func (n *renumbered) withoutLines(text []byte) []byte {
	code := codeOf(text)
	n.line = n.line || lineDirective.Match(code)
	n.asked = n.asked || lineNumber.Match(code)
	return renamed(text, lineDirective, "pragma")
}

// unknown is the error that a value may depend on a number that is not known.
func (n *renumbered) unknown() error {
	if n.line && n.asked {
		return errors.New("the value of __LINE__ is not known where #line numbers lines: leave one of them out")
	}
	return nil
}
