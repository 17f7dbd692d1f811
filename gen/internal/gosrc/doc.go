package gosrc

import (
	"bytes"
	"regexp"
	"strings"
)

// docWidth is where doc comments are broken, as wide as people read with ease.
const docWidth = 88

// typeDoc is the doc comment of a type: what it means, where the table of
// words says so, and what it is in C.
func typeDoc(name, c, about string) string {
	if about == "" {
		return name + " is " + c + "."
	}
	return "// " + name + about + "\n//\n// It is " + c + "."
}

// since is the release that brought a declaration, where it is known, for the
// end of what a comment says of its C original.
func (s *scope) since(what, name string) string {
	if release := s.facts.SinceOf(what, name); release != "" {
		if release[0] < '0' || release[0] > '9' {
			return ", since " + release // a branch of its own
		}
		return ", since rdma-core " + release
	}
	return ""
}

// wholeLine is a comment that has its line to itself. The lines that tools
// read have no space after the slashes, but for the mark of generated code.
var wholeLine = regexp.MustCompile(`(?m)^\t*// .*$`)

// wrapComments breaks the long lines of comments in formatted Go.
func wrapComments(source []byte) []byte {
	return wholeLine.ReplaceAllFunc(source, func(line []byte) []byte {
		if bytes.HasPrefix(line, []byte("// Code generated ")) {
			return line
		}
		text := strings.TrimLeft(string(line), "\t")
		indent := strings.Repeat("\t", len(line)-len(text)) + "//"
		return []byte(wrap(strings.TrimPrefix(text, "//"), indent))
	})
}

// wrap lays out words on lines that each start with indent.
func wrap(text, indent string) string {
	const tab = 4
	start := len(indent) + (tab-1)*strings.Count(indent, "\t")
	var b strings.Builder
	b.WriteString(indent)
	at := start
	for word := range strings.FieldsSeq(text) {
		if at > start && at+1+len(word) > docWidth {
			b.WriteString("\n" + indent)
			at = start
		}
		b.WriteString(" " + word)
		at += 1 + len(word)
	}
	return b.String()
}
