package cheader

import "bytes"

// lexer goes through the text of a header as far as it takes to tell code from
// comments and literals, and directives from what stands between them.
type lexer struct {
	text      []byte
	at        int
	directive bool // in one, which goes on behind a backslash at the end of a line
	fresh     bool // nothing but space since the start of the line
	unended   bool // the piece just read is the quote of a literal that its line does not end
}

func newLexer(text []byte) *lexer { return &lexer{text: text, fresh: true} }

// next gives the next piece: one byte of code, or a whole comment or literal.
// There is none at the end.
func (l *lexer) next() (piece []byte, isCode bool) {
	rest := l.text[l.at:]
	if len(rest) == 0 {
		return nil, false
	}
	length := 1
	l.unended = false
	switch {
	case bytes.HasPrefix(rest, []byte("/*")):
		length = len(rest)
		if end := bytes.Index(rest[2:], []byte("*/")); end >= 0 {
			length = end + 4
		}
	case bytes.HasPrefix(rest, []byte("//")):
		length = l.line(rest, 2)
	case rest[0] == '"', rest[0] == '\'':
		length = l.literal(rest)
		l.fresh = false
	case continues(rest) > 0:
		length = continues(rest)
	default:
		isCode = true
		switch c := rest[0]; {
		case c == '\n':
			l.directive, l.fresh = false, true
		case c == '#' && l.fresh:
			l.directive, l.fresh = true, false
		case c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v':
			l.fresh = false
		}
	}
	l.at += length
	return rest[:length], isCode
}

// line is the length of the rest of a line, which a backslash makes longer.
func (l *lexer) line(rest []byte, from int) int {
	for from < len(rest) && rest[from] != '\n' {
		from += max(1, continues(rest[from:]))
	}
	return from
}

// literal is the length of a string or a character. Of one without an end in its
// line, such as an apostrophe in the text of #error, it is that of the quote.
func (l *lexer) literal(rest []byte) int {
	for i := 1; i < len(rest) && rest[i] != '\n'; i++ {
		switch {
		case rest[i] == rest[0]:
			return i + 1
		case continues(rest[i:]) > 0:
			i += continues(rest[i:]) - 1
		case rest[i] == '\\' && i+1 < len(rest) && rest[i+1] != '\n':
			i++
		}
	}
	l.unended = true
	return 1
}

// withoutUnended blanks the quotes of literals without an end, such as apostrophes
// in text that #if 0 leaves out. The front end would refuse them even there.
func withoutUnended(text []byte) []byte {
	for l := newLexer(text); ; {
		piece, _ := l.next()
		if piece == nil {
			return text
		}
		if l.unended {
			piece[0] = ' '
		}
	}
}

// continues is the length of a backslash and the end of the line that it joins to
// the next one, or 0.
func continues(rest []byte) int {
	switch {
	case bytes.HasPrefix(rest, []byte("\\\n")):
		return 2
	case bytes.HasPrefix(rest, []byte("\\\r\n")):
		return 3
	}
	return 0
}

// reaches reports whether an offset ahead is in the directive that the lexer is
// in, or in none if it is in none.
func (l *lexer) reaches(offset int) bool {
	ahead := *l
	for ahead.at < offset {
		if piece, _ := ahead.next(); piece == nil || l.directive && !ahead.directive {
			return false
		}
	}
	return ahead.directive == l.directive
}
