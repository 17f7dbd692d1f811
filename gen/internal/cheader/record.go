package cheader

import (
	"fmt"
	"strings"

	"modernc.org/cc/v4"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// fielded is what structs and unions have in common.
type fielded interface {
	cc.Type
	NumFields() int
	FieldByIndex(int) *cc.Field
	Tag() cc.Token
}

// tagged takes a struct or union that has a tag.
func (r *reader) tagged(n *cc.StructOrUnionSpecifier) {
	header, line, ok := where(n)
	t, isRecord := n.Type().(fielded)
	if !ok || !isRecord {
		return
	}
	name := tagOf(t)
	if name == "" {
		return
	}
	if n.Case != cc.StructOrUnionSpecifierDef {
		if t.IsIncomplete() {
			r.opaque(name, recordKind(t), header, line)
		}
		return
	}
	if r.out[tagKey(name)] {
		r.opaque(name, recordKind(t), header, line)
		return
	}
	r.owner = owner{}.with(tagKey(name), string(recordKind(t))+" "+name)
	rec := r.record(t, n)
	rec.Name, rec.Header, rec.Line = name, header, line
	rec.Flat = abi.Flatten(rec)
	r.facts.Records = append(r.facts.Records, rec)
}

// opaque notes a tag that is declared and never defined, once.
func (r *reader) opaque(name string, kind abi.Kind, header string, line int) {
	for _, rec := range r.facts.Records {
		if rec.Name == name && rec.Kind == kind {
			return
		}
	}
	r.facts.Records = append(r.facts.Records, &abi.Record{Name: name, Kind: kind, Header: header, Line: line, Opaque: true})
}

// typedef takes a struct or union that only a typedef names. Typedefs of
// anything else are followed where they are used.
func (r *reader) typedef(d *cc.Declarator) {
	header, line, ok := where(d)
	t, isRecord := d.Type().(fielded)
	if !ok || !isRecord || tagOf(t) != "" || t.IsIncomplete() {
		return
	}
	if r.owner = (owner{}).declaring(d); r.out[nameKey(d.Name())] {
		r.facts.Records = append(r.facts.Records, &abi.Record{Name: d.Name(), Kind: recordKind(t), Typedef: true, Header: header, Line: line, Opaque: true})
		return
	}
	rec := r.record(t, d)
	rec.Name, rec.Header, rec.Line, rec.Typedef = d.Name(), header, line, true
	_, rec.Align = r.sizeAlign(t) // the typedef's, if it has one of its own
	rec.Flat = abi.Flatten(rec)
	r.facts.Records = append(r.facts.Records, rec)
}

// largest is more than the size of any record that is meant.
const largest = 1 << 40

// record reads the members of a complete struct or union.
func (r *reader) record(t fielded, at cc.Node) *abi.Record {
	l := r.layoutOf(t)
	rec := &abi.Record{Kind: recordKind(t), Size: l.size, Align: l.align}
	if l.size >= largest {
		r.failf(at, "%s is larger than any memory", t)
		return rec
	}
	for i := range t.NumFields() {
		f := t.FieldByIndex(i)
		if declaresNothing(f) {
			continue
		}
		var node cc.Node = at
		if d := f.Declarator(); d != nil {
			node = d
		}
		if reason := r.unknown(f); reason != "" {
			r.cannot(node, "member %s: %s", r.declaration(f, node), reason)
			continue
		}
		if reason := r.refuse(f); reason != "" {
			r.failf(node, "member %s: %s", r.declaration(f, node), reason)
			continue
		}
		if f.IsBitfield() && f.Name() == "" {
			continue // padding by another name
		}
		rec.Fields = append(rec.Fields, r.field(f, l.bit[f], node))
	}
	names := map[string]bool{}
	for _, leaf := range memberNames(nil, rec) {
		if names[leaf] {
			r.failf(at, "two members are named %q", leaf)
		}
		names[leaf] = true
	}
	return rec
}

// memberNames lists the names of a record's members, those of unnamed members
// among them as C has it.
func memberNames(names []string, r *abi.Record) []string {
	for _, f := range r.Fields {
		if f.Name != "" {
			names = append(names, f.Name)
		} else if f.Type.Anon != nil {
			names = memberNames(names, f.Type.Anon)
		}
	}
	return names
}

// unknown says why the layout of a member is not known here.
func (r *reader) unknown(f *cc.Field) string {
	t := f.Type()
	for a, ok := t.(*cc.ArrayType); ok; a, ok = t.(*cc.ArrayType) {
		t = a.Elem()
	}
	switch {
	case cc.IsComplexType(t):
		return "complex numbers are not supported"
	case t.IsIncomplete() && !isRecord(t) && t.Kind() != cc.Enum && t.Kind() != cc.Void && t.Kind() != cc.Function:
		return "the C front end does not know the size of the type"
	}
	return ""
}

// refuse says why a member is not C. cc does not diagnose all that compilers do.
func (r *reader) refuse(f *cc.Field) string {
	t := f.Type()
	if f.IsBitfield() {
		size, _ := r.sizeAlign(t)
		width := 8 * size
		if t.Kind() == cc.Bool {
			width = 1
		}
		switch {
		case !cc.IsIntegerType(t):
			return "a bit-field must be an integer"
		case f.ValueBits() > width:
			return "a bit-field that is wider than its type"
		case f.ValueBits() == 0 && f.Name() != "":
			return "a bit-field without width must not have a name"
		}
		return ""
	}
	if a, ok := t.(*cc.ArrayType); ok && f.IsFlexibleArrayMember() {
		t = a.Elem() // an array without length, at the end
	}
	for {
		a, ok := t.(*cc.ArrayType)
		if !ok {
			break
		}
		if a.IsVLA() {
			return "the length of an array is not constant"
		}
		if a.Len() < 0 {
			return "the type is incomplete"
		}
		t = a.Elem()
	}
	switch {
	case t.Kind() == cc.Void || t.Kind() == cc.Function:
		return "no object can have the type"
	case t.IsIncomplete():
		return "the type is incomplete"
	}
	return ""
}

// declaresNothing reports whether a member is none to compilers: a type that
// stands alone, unless it is an untagged record, whose members are the outer
// record's.
func declaresNothing(f *cc.Field) bool {
	if f.Name() != "" || f.IsBitfield() {
		return false
	}
	t, ok := f.Type().(fielded)
	return !ok || tagOf(t) != "" || t.Typedef() != nil
}

// declaration is a member as C declares it.
func (r *reader) declaration(f *cc.Field, node cc.Node) string {
	text := r.typ(f.Type(), node).Declare(f.Name())
	if f.IsBitfield() {
		text += fmt.Sprintf(" : %d", f.ValueBits())
	}
	return text
}

func isRecord(t cc.Type) bool { return t.Kind() == cc.Struct || t.Kind() == cc.Union }

// field describes a member that starts at a bit of its record.
func (r *reader) field(f *cc.Field, bit int64, node cc.Node) *abi.Field {
	typ := r.typ(f.Type(), node)
	out := &abi.Field{
		Name:   f.Name(),
		CType:  typ.String(),
		Kind:   typ.Kind,
		Offset: bit / 8,
		Size:   typ.Size,
		Align:  typ.Align,
		Type:   typ,
	}
	position := node.Position()
	position.Filename = strings.TrimPrefix(position.Filename, root+"/")
	out.Position = position.String()
	if f.IsFlexibleArrayMember() {
		out.Flexible, out.Size = true, 0
	}
	if f.IsBitfield() {
		width := f.ValueBits()
		out.BitSize, out.BitOffset = &width, &bit
	}
	return out
}

func recordKind(t cc.Type) abi.Kind {
	if t.Kind() == cc.Union {
		return abi.Union
	}
	return abi.Struct
}

func tagOf(t fielded) string {
	tag := t.Tag()
	return tag.SrcStr()
}
