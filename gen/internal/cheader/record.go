package cheader

import (
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
	rec := r.record(t, d)
	rec.Name, rec.Header, rec.Line, rec.Typedef = d.Name(), header, line, true
	rec.Flat = abi.Flatten(rec)
	r.facts.Records = append(r.facts.Records, rec)
}

// record reads the members of a complete struct or union.
func (r *reader) record(t fielded, at cc.Node) *abi.Record {
	l := r.layoutOf(t)
	rec := &abi.Record{Kind: recordKind(t), Size: l.size, Align: l.align}
	for i := 0; i < t.NumFields(); i++ {
		f := t.FieldByIndex(i)
		if f == nil {
			continue
		}
		var node cc.Node = at
		if d := f.Declarator(); d != nil {
			node = d
		}
		if f.IsBitfield() && f.Name() == "" {
			continue // padding by another name
		}
		// cc does not diagnose a member of incomplete type, C does.
		if f.Type().IsIncomplete() && !f.IsFlexibleArrayMember() && !isZeroLength(f.Type()) {
			r.failf(node, "member %q has the incomplete type %s", f.Name(), f.Type())
			continue
		}
		rec.Fields = append(rec.Fields, r.field(f, l.bit[f], node))
	}
	return rec
}

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
	if f.IsFlexibleArrayMember() {
		out.Flexible, out.Size = true, 0
	}
	if f.IsBitfield() {
		width := f.ValueBits()
		out.BitSize, out.BitOffset = &width, &bit
	}
	return out
}

func isZeroLength(t cc.Type) bool {
	a, ok := t.(*cc.ArrayType)
	return ok && !a.Elem().IsIncomplete()
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
