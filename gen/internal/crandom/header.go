// Package crandom makes random C headers of every shape that the generator
// claims to understand, so that tests can compare it with C compilers on what
// nobody thought of. A header comes from a seed alone, and one that shows a
// fault can be made smaller while it still does.
package crandom

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Header is a C header: declarations, in an order in which C takes them.
type Header struct {
	Seed  uint64
	Decls []*Decl
}

// Decl is one declaration of the file scope.
type Decl struct {
	// Name is how C refers to the type: "struct a", or a typedef's name; or the
	// name of a macro.
	Name string
	Kind Kind
	// Record is the definition of a struct or union.
	Record *Record
	// Values are the enumerators of an enumeration, with their initializers.
	Values []Value
	// Text is the declaration of anything else.
	Text  string
	Attrs []string // of an enumeration, or of the typedef of a record
}

// Kind is what a declaration declares.
type Kind int

// The kinds of declarations.
const (
	RecordDecl Kind = iota
	EnumDecl
	TypedefDecl // of an integer: Text is the declaration
	OtherDecl   // Text, of which only the layout of its users can be asked
	MacroDecl   // Text is the value
)

// Record is a struct or a union.
type Record struct {
	Keyword string // "struct" or "union"
	Attrs   []string
	// AttrsFirst puts the attributes before the tag rather than at the end.
	AttrsFirst bool
	Pack       int // #pragma pack, 0 for none
	Members    []*Member
}

// Member is a member of a record.
type Member struct {
	Name   string
	Type   string  // as C spells it; "" when Inner is the type
	Inner  *Record // an untagged record
	Before string  // the declarator before the name: "*", "(*"
	After  string  // and after it: "[3]", ")(int)"
	Width  int     // of a bit-field, -1 for none
	Attrs  []string
	// Aligns are alignments that _Alignas asks for.
	Aligns []int
	// Integer tells that Type is an integer's, whose sign can be asked for.
	Integer bool
}

// Value is an enumerator.
type Value struct{ Name, Init string }

const preamble = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n"

// String is the header's text.
func (h *Header) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "/* seed %d */\n%s", h.Seed, preamble)
	for _, d := range h.Decls {
		b.WriteString(d.String())
	}
	return b.String()
}

// String is the declaration's text, with a line break at its end.
func (d *Decl) String() string {
	tag, tagged := d.tag()
	switch d.Kind {
	case RecordDecl:
		r := d.Record
		text := r.text(tag, "")
		if !tagged {
			text = "typedef " + text + " " + d.Name + attributes(d.Attrs)
		}
		text += ";\n"
		if r.Pack > 0 {
			text = fmt.Sprintf("#pragma pack(push, %d)\n%s#pragma pack(pop)\n", r.Pack, text)
		}
		return text
	case EnumDecl:
		var b strings.Builder
		b.WriteString("enum ")
		if tagged {
			b.WriteString(tag + " ")
		}
		b.WriteString("{")
		for _, v := range d.Values {
			b.WriteString(" " + v.Name)
			if v.Init != "" {
				b.WriteString(" = " + v.Init)
			}
			b.WriteString(",")
		}
		b.WriteString(" }" + attributes(d.Attrs))
		if !tagged && d.Name != "" {
			return "typedef " + b.String() + " " + d.Name + ";\n"
		}
		return b.String() + ";\n"
	case MacroDecl:
		return "#define " + d.Name + " " + d.Text + "\n"
	}
	return d.Text + "\n"
}

// tag is the tag of a record or an enumeration, if it has one.
func (d *Decl) tag() (string, bool) {
	for _, keyword := range []string{"struct ", "union ", "enum "} {
		if tag, ok := strings.CutPrefix(d.Name, keyword); ok {
			return tag, true
		}
	}
	return "", false
}

func attributes(attrs []string) string {
	if len(attrs) == 0 {
		return ""
	}
	return " __attribute__((" + strings.Join(attrs, ", ") + "))"
}

func (r *Record) text(tag, indent string) string {
	var b strings.Builder
	b.WriteString(r.Keyword)
	if r.AttrsFirst {
		b.WriteString(attributes(r.Attrs))
	}
	if tag != "" {
		b.WriteString(" " + tag)
	}
	b.WriteString(" {\n")
	for _, m := range r.Members {
		b.WriteString(indent + "\t" + m.text(indent+"\t") + ";\n")
	}
	b.WriteString(indent + "}")
	if !r.AttrsFirst {
		b.WriteString(attributes(r.Attrs))
	}
	return b.String()
}

func (m *Member) text(indent string) string {
	text := m.Type
	for _, align := range m.Aligns {
		text = fmt.Sprintf("_Alignas(%d) %s", align, text)
	}
	if m.Inner != nil {
		text = m.Inner.text("", indent)
	}
	if d := m.Before + m.Name + m.After; d != "" {
		text += " " + d
	}
	if m.Width >= 0 {
		text += fmt.Sprintf(" : %d", m.Width)
	}
	return text + attributes(m.Attrs)
}

// Shrink makes the header smaller as long as fails says that it still shows
// the fault.
func (h *Header) Shrink(fails func(*Header) bool) {
	// One declaration and what it needs are enough for most faults.
	all := h.Decls
	for i := range all {
		if h.Decls = needed(all, i); fails(h) {
			break
		}
		h.Decls = all
	}
	for again := true; again; {
		again = false
		// From the end, where nothing refers to a declaration, and in halves.
		for n := len(h.Decls); n > 0; n /= 2 {
			for i := len(h.Decls) - n; i >= 0; i -= n {
				again = tryWithout(&h.Decls, i, n, h, fails) || again
			}
		}
		for _, d := range h.Decls {
			again = tryWithoutEach(&d.Values, h, fails) || again
			again = tryWithoutEach(&d.Attrs, h, fails) || again
			if d.Record != nil {
				again = d.Record.shrink(h, fails) || again
			}
		}
	}
}

// needed lists a declaration and those before it that it refers to.
func needed(decls []*Decl, i int) []*Decl {
	list := []*Decl{decls[i]}
	text := decls[i].String()
	for _, d := range slices.Backward(decls[:i]) {
		names := []string{d.Name[strings.LastIndex(d.Name, " ")+1:]}
		for _, v := range d.Values {
			names = append(names, v.Name)
		}
		if slices.ContainsFunc(names, func(n string) bool { return n != "" && mentions(text, n) }) {
			list = append(list, d)
			text += d.String()
		}
	}
	slices.Reverse(list)
	return list
}

func mentions(text, name string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return !isName(r) }), name)
}

func isName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func (r *Record) shrink(h *Header, fails func(*Header) bool) (smaller bool) {
	smaller = tryWithoutEach(&r.Members, h, fails)
	smaller = tryWithoutEach(&r.Attrs, h, fails) || smaller
	if pack := r.Pack; pack > 0 {
		if r.Pack = 0; fails(h) {
			smaller = true
		} else {
			r.Pack = pack
		}
	}
	for _, m := range r.Members {
		smaller = tryWithoutEach(&m.Attrs, h, fails) || smaller
		smaller = tryWithoutEach(&m.Aligns, h, fails) || smaller
		if m.Inner != nil {
			smaller = m.Inner.shrink(h, fails) || smaller
		}
	}
	return smaller
}

// tryWithoutEach drops single elements of a list.
func tryWithoutEach[T any](list *[]T, h *Header, fails func(*Header) bool) (smaller bool) {
	for i := len(*list) - 1; i >= 0; i-- {
		smaller = tryWithout(list, i, 1, h, fails) || smaller
	}
	return smaller
}

// tryWithout drops n elements of a list from i on, if the header still shows
// the fault without them.
func tryWithout[T any](list *[]T, i, n int, h *Header, fails func(*Header) bool) bool {
	if i < 0 || i+n > len(*list) {
		return false
	}
	all := *list
	*list = slices.Concat(all[:i:i], all[i+n:])
	if fails(h) {
		return true
	}
	*list = all
	return false
}
