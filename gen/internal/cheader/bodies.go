package cheader

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modernc.org/cc/v4"
)

// The bodies of functions are not the reader's business, and the front end knows
// neither all that compilers do nor what the stubs leave out. Where a header does
// not parse, its bodies are emptied.
//
// Only a preprocessed text shows what is a body. So the headers are preprocessed
// with a mark before each brace, and the marks around the bodies tell where they
// are in the headers.

// brace is a brace in a header's text.
type brace struct {
	header string
	offset int
}

// bodies are where the bodies of functions are: the closing brace by the opening one.
type bodies map[brace]brace

// findBodies preprocesses what config and sources say. tree is what the headers are
// taken from: one of its own, for it is marked.
func findBodies(config cc.Config, sources []cc.Source, tree *tree) (bodies, effects) {
	tree.marked = true
	f := &bodyFinder{tree: tree, closing: map[brace]brace{}, other: map[brace]bool{}}
	effects := tree.effects(config, sources, f)
	for open := range f.other {
		delete(f.closing, open)
	}
	return f.closing, effects
}

const braceMark = "__goverbs_brace_"

// mark puts a word before each brace of a header's text.
func mark(number int, text []byte) []byte {
	var out []byte
	for l := newLexer(text); ; {
		offset := l.at
		piece, isCode := l.next()
		if piece == nil {
			return out
		}
		if isCode && (piece[0] == '{' || piece[0] == '}') {
			out = fmt.Appendf(out, " %s%d_%d ", braceMark, number, offset)
		}
		out = append(out, piece...)
	}
}

// empty blanks the bodies in a header's text. Directives stay, for they define
// macros, and so do the pragmas within lines and the ends of lines.
func (b bodies) empty(header string, text []byte) []byte {
	text = slices.Clone(text)
	l := newLexer(text)
	pragmas := pragmaOperator.FindAllIndex(codeOf(text), -1)
	end, inDirective := 0, false
	for {
		from := l.at
		piece, isCode := l.next()
		if piece == nil {
			return text
		}
		for len(pragmas) > 0 && pragmas[0][1] <= from {
			pragmas = pragmas[1:]
		}
		isPragma := len(pragmas) > 0 && pragmas[0][0] <= from
		if from < end && !isPragma && l.directive == inDirective {
			for i, c := range piece {
				if c != '\n' && continues(piece[i:]) == 0 {
					piece[i] = ' '
				}
			}
		}
		if !isCode || piece[0] != '{' || from < end {
			continue
		}
		if closing, ok := b[brace{header, from}]; ok && l.reaches(closing.offset) {
			end, inDirective = closing.offset, l.directive
		}
	}
}

// pragmaOperator is a pragma within a line.
var pragmaOperator = regexp.MustCompile(`\b` + word("_Pragma") + space + `\(` + space + `L?"+` + space + `\)`)

// bodyFinder takes preprocessed text, token by token, and finds the bodies in it.
type bodyFinder struct {
	tree    *tree
	closing bodies
	other   map[brace]bool // opens something else somewhere
	mark    brace          // of the brace that comes next
	words   []string       // of the declaration so far, what is in braces left out
	open    []openBrace
	parens  int
}

// openBrace is a brace that was not closed yet.
type openBrace struct {
	mark   brace
	body   bool
	parens int // that were open before it
}

// Write takes one token: so the front end writes.
func (f *bodyFinder) Write(token []byte) (int, error) {
	word := string(bytes.TrimSpace(token))
	switch {
	case word == "":
	case strings.HasPrefix(word, braceMark):
		f.mark = f.tree.braceOf(word)
	case word == "{":
		body := len(f.open) == 0 && f.parens == 0 && opensBody(f.words)
		if !body && !f.inBody() {
			f.other[f.mark] = true
		}
		f.open = append(f.open, openBrace{f.mark, body, f.parens})
		f.mark, f.parens = brace{}, 0
	case word == "}":
		f.close()
	case len(f.open) > 0:
		f.word(word)
	default:
		f.word(word)
		if f.words = append(f.words, word); word == ";" && f.parens == 0 {
			f.words = nil
		}
	}
	return len(token), nil
}

func (f *bodyFinder) word(word string) {
	switch word {
	case "(":
		f.parens++
	case ")":
		f.parens = max(0, f.parens-1)
	}
}

func (f *bodyFinder) inBody() bool { return len(f.open) > 0 && f.open[0].body }

func (f *bodyFinder) close() {
	mark := f.mark
	f.mark = brace{}
	if len(f.open) == 0 {
		return
	}
	last := f.open[len(f.open)-1]
	f.open, f.parens = f.open[:len(f.open)-1], last.parens
	if !last.body {
		return
	}
	f.words = nil
	if known, ok := f.closing[last.mark]; ok && known != mark || mark.header != last.mark.header || mark.offset < last.mark.offset {
		f.other[last.mark] = true
		return
	}
	f.closing[last.mark] = mark
}

// noParameters are the words before parentheses that hold no parameters.
var noParameters = regexp.MustCompile(`^(__attribute(__)?|_Alignas|(__)?typeof|__typeof__|__declspec|(__)?asm|__asm__)?$`)

// opensBody reports whether a brace behind these words of a declaration is that of
// a function's body: they end with its parameters, or with the lengths of the array
// that it returns a pointer to. There are none if parameters were declared as they
// were before there were prototypes.
func opensBody(words []string) bool {
	depth := 0
	for i := len(words) - 1; i > 0; i-- {
		if depth == 0 && words[i] == "]" {
			i = opening(words, i)
			continue
		}
		switch words[i] {
		case ")":
			depth++
		case "(":
			depth--
		}
		if depth == 0 {
			return words[i] == "(" && !noParameters.MatchString(words[i-1]) && !slices.Contains(words[:i], "=") && words[0] != "typedef"
		}
	}
	return len(words) == 0
}

// opening is where the bracket is that the one at an index closes, or 0.
func opening(words []string, at int) int {
	for depth := 0; at > 0; at-- {
		switch words[at] {
		case "]":
			depth++
		case "[":
			depth--
		}
		if depth == 0 {
			break
		}
	}
	return at
}

// braceOf is the brace that a mark is of.
func (t *tree) braceOf(mark string) brace {
	number, offset, _ := strings.Cut(strings.TrimPrefix(mark, braceMark), "_")
	n, err := strconv.Atoi(number)
	at, err2 := strconv.Atoi(offset)
	if err != nil || err2 != nil || n < 0 || n >= len(t.names) {
		return brace{}
	}
	return brace{t.names[n], at}
}
