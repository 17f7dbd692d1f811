package cheader

import (
	"iter"
	"reflect"
	"strconv"
	"strings"

	"modernc.org/cc/v4"
)

// survey looks at what the scope does not show of the declarations: the
// attributes of bit-fields, untagged enumerations, and what has no meaning
// here, so that it is left out rather than overlooked.
func (r *reader) survey() {
	r.declarations(r.look)
	r.spread()
}

func (r *reader) look(n cc.Node) {
	switch n := n.(type) {
	case *cc.Declaration:
		r.typedefs(n)
		for l := n.InitDeclaratorList; l != nil; l = l.InitDeclaratorList {
			r.label(l.InitDeclarator)
			if t, ok := l.InitDeclarator.Declarator.Type().(*cc.ArrayType); ok {
				r.arrayFits(t, l.InitDeclarator.Declarator)
			}
		}
	case *cc.UnaryExpression:
		r.sizeOperator(n)
	case *cc.PostfixExpression:
		r.memberOperator(n)
	case *cc.AttributeValue:
		r.attribute(n)
	case *cc.TypeQualifier:
		if n.Case == cc.TypeQualifierAtomic {
			r.cannot(n, "_Atomic: an atomic type has no counterpart in Go")
		}
	case *cc.AtomicTypeSpecifier:
		r.cannot(n, "_Atomic: an atomic type has no counterpart in Go")
	case *cc.Pointer:
		r.pointerQualifiers(n)
	case *cc.StructDeclaration:
		r.structDeclaration(n)
	case *cc.DeclarationSpecifiers:
		if next := n.DeclarationSpecifiers; next != nil {
			r.enumAttributes(n.TypeSpecifier, next.AttributeSpecifierList)
		}
	case *cc.SpecifierQualifierList:
		if next := n.SpecifierQualifierList; next != nil && next.TypeQualifier != nil {
			r.enumAttributes(n.TypeSpecifier, next.TypeQualifier.AttributeSpecifierList)
		}
	case *cc.EnumTypeSpecifier:
		r.cannot(n, "an enumeration that names the type of its values is not supported: leave the type out")
	case *cc.EnumSpecifier:
		if n.Case == cc.EnumSpecifierDef {
			r.enumSpecifiers = append(r.enumSpecifiers, n)
		}
	}
}

// typedefs notes what a declaration of typedefs gives another name to.
func (r *reader) typedefs(n *cc.Declaration) {
	base := ""
	for ds := n.DeclarationSpecifiers; ds != nil; ds = ds.DeclarationSpecifiers {
		if ts := ds.TypeSpecifier; ts != nil && ts.Case == cc.TypeSpecifierTypeName {
			base = ts.Token.SrcStr()
		}
	}
	for l := n.InitDeclaratorList; l != nil; l = l.InitDeclaratorList {
		d := l.InitDeclarator.Declarator
		if !d.IsTypename() {
			continue
		}
		if asksAlignment(l.AttributeSpecifierList) {
			r.cannot(d, "attribute aligned before the name of a typedef that is not the first of its declaration is not supported; put it behind the name")
		}
		r.enumTypedef(d)
		if base != "" && d.Pointer == nil && d.DirectDeclarator.Case == cc.DirectDeclaratorIdent {
			r.bases[d.Name()] = base
		}
	}
}

// label does not follow a function that C calls by the name of another.
func (r *reader) label(n *cc.InitDeclarator) {
	if n.Asm == nil || n.Declarator.Type().Kind() != cc.Function {
		return
	}
	before := r.owner
	r.owner = owner{}.declaring(n.Declarator)
	r.cannot(n.Asm, "%s gives it the symbol of another function", strings.TrimSpace(cc.NodeSource(n.Asm)))
	r.owner = before
}

// sizeOperator does not follow a size or an alignment that cc calculates with and that
// is not the C compilers'.
func (r *reader) sizeOperator(n *cc.UnaryExpression) {
	var t cc.Type
	switch n.Case {
	case cc.UnaryExpressionSizeofExpr, cc.UnaryExpressionAlignofExpr:
		t = n.UnaryExpression.Type()
	case cc.UnaryExpressionSizeofType, cc.UnaryExpressionAlignofType:
		t = n.TypeName.Type()
	default:
		return
	}
	if t == nil || t.IsIncomplete() || t.Kind() == cc.Function {
		return
	}
	size, align := r.sizeAlign(t)
	if r.preferred(n.Token) && size%8 == 0 && !isRecord(t) {
		r.cannot(n, "the value of %s is not known: it is above that of _Alignof, write that", strings.TrimSpace(cc.NodeSource(n)))
		return
	}
	if size != t.Size() || align != int64(t.Align()) {
		r.cannot(n, "the value of %s is not known: the C front end does not know the size of the type", strings.TrimSpace(cc.NodeSource(n)))
	}
}

// preferred reports whether an operator asks for the alignment that compilers
// prefer, where it is above the one that they heed in records and cc has only that.
func (r *reader) preferred(operator cc.Token) bool {
	name := operator.SrcStr()
	return r.target.Arch == "386" && (name == "__alignof__" || name == "__alignof")
}

// memberOperator does not follow the member of a record, as offsetof has it, whose
// offset cc takes for another.
func (r *reader) memberOperator(n *cc.PostfixExpression) {
	var t cc.Type
	switch n.Case {
	case cc.PostfixExpressionSelect:
		t = n.PostfixExpression.Type()
	case cc.PostfixExpressionPSelect:
		if p, ok := n.PostfixExpression.Type().(*cc.PointerType); ok {
			t = p.Elem()
		}
	}
	if t, ok := t.(fielded); ok && !t.IsIncomplete() && r.layoutOf(t).differs {
		r.cannot(n, "the value of %s is not known: the C front end does not know the layout of the type", strings.TrimSpace(cc.NodeSource(n)))
	}
}

// attribute does not follow the attributes that change a layout in ways that are not
// followed here.
func (r *reader) attribute(n *cc.AttributeValue) {
	switch name := strings.Trim(n.Token.SrcStr(), "_"); name {
	case "aligned":
		if n.Case == cc.AttributeValueIdent {
			r.cannot(n, "attribute aligned without a number: each processor has its own; write the number")
		}
	case "mode", "vector_size", "scalar_storage_order", "ms_struct":
		r.cannot(n, "attribute %s is not supported", name)
	}
}

// structDeclaration notes what attributes ask for members. As in C, one among
// the specifiers is every declarator's, unless it follows the definition of a
// type, and one at the end the last declarator's.
func (r *reader) structDeclaration(n *cc.StructDeclaration) {
	var all definition
	defined := false
	for l := n.SpecifierQualifierList; l != nil; l = l.SpecifierQualifierList {
		if q := l.TypeQualifier; q != nil && q.Case == cc.TypeQualifierAttr && !defined {
			asked := r.asked(q.AttributeSpecifierList)
			all.packed, all.align = all.packed || asked.packed, max(all.align, asked.align)
		}
		if a := l.AlignmentSpecifier; a != nil {
			all.align = max(all.align, r.alignas(a))
		}
		defined = l.TypeSpecifier != nil && l.TypeSpecifier.EnumSpecifier != nil
	}
	for l := n.StructDeclaratorList; l != nil; l = l.StructDeclaratorList {
		d := l.StructDeclarator.Declarator
		m := all
		if l.StructDeclaratorList == nil {
			last := r.asked(n.AttributeSpecifierList)
			m.packed, m.align = m.packed || last.packed, max(m.align, last.align)
		}
		if d != nil {
			r.members[d] = m
		} else if m.packed || m.align > 0 {
			r.cannot(n, "an attribute of a bit-field without a name is not supported")
		}
	}
}

// alignas is the alignment that _Alignas asks for. cc heeds the last one, C the
// strictest.
func (r *reader) alignas(n *cc.AlignmentSpecifier) int64 {
	if n.Case == cc.AlignmentSpecifierType {
		_, align := r.sizeAlign(n.TypeName.Type())
		return align
	}
	text, _, _ := integer(n.ConstantExpression.Value())
	align, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		r.failf(n, "_Alignas: not an alignment")
	}
	return align
}

// pointerQualifiers does not follow an alignment that is asked for a pointer rather than
// for what is declared: cc overlooks it.
func (r *reader) pointerQualifiers(n *cc.Pointer) {
	for l := n.TypeQualifiers; l != nil; l = l.TypeQualifiers {
		if q := l.TypeQualifier; q != nil && asksAlignment(q.AttributeSpecifierList) {
			r.cannot(n, "attribute aligned of a pointer is not supported; put it behind what is declared")
		}
	}
}

// asksAlignment reports whether attribute aligned is in a list.
func asksAlignment(list *cc.AttributeSpecifierList) bool {
	for ; list != nil; list = list.AttributeSpecifierList {
		for av := list.AttributeSpecifier.AttributeValueList; av != nil; av = av.AttributeValueList {
			if strings.Trim(av.AttributeValue.Token.SrcStr(), "_") == "aligned" {
				return true
			}
		}
	}
	return false
}

// enumAttributes notes the attributes that follow the definition of an
// enumeration, which cc does not take for the type's.
func (r *reader) enumAttributes(n *cc.TypeSpecifier, list *cc.AttributeSpecifierList) {
	if n == nil || n.EnumSpecifier == nil || n.EnumSpecifier.Case != cc.EnumSpecifierDef {
		return
	}
	if t, ok := n.EnumSpecifier.Type().(*cc.EnumType); ok && len(t.Enumerators()) > 0 {
		asked := r.asked(list)
		if asked.align > 0 {
			r.cannot(n, "attribute aligned of an enumeration, which compilers do not heed: leave it out, or put it behind a typedef's name")
		}
		r.enums[t.Enumerators()[0]] = asked
	}
}

// asked is what a list of attributes asks of a layout.
func (r *reader) asked(list *cc.AttributeSpecifierList) (d definition) {
	for ; list != nil; list = list.AttributeSpecifierList {
		for av := list.AttributeSpecifier.AttributeValueList; av != nil; av = av.AttributeValueList {
			v := av.AttributeValue
			switch name := strings.Trim(v.Token.SrcStr(), "_"); {
			case name == "packed":
				d.packed = true
			case name == "aligned" && v.Case == cc.AttributeValueExpr:
				text, negative, ok := integer(v.ArgumentExpressionList.AssignmentExpression.Value())
				align, err := strconv.ParseInt(text, 10, 32)
				if !ok || negative || err != nil {
					r.failf(v, "attribute aligned: not an alignment")
				}
				d.align = max(d.align, align)
			}
		}
	}
	return d
}

// children are the nodes that a node consists of.
func children(n cc.Node) iter.Seq[cc.Node] {
	return func(yield func(cc.Node) bool) {
		v := reflect.ValueOf(n)
		if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
			return
		}
		for i := range v.Elem().NumField() {
			f := v.Elem().Field(i)
			if !v.Elem().Type().Field(i).IsExported() || f.Kind() != reflect.Pointer && f.Kind() != reflect.Interface || f.IsNil() {
				continue
			}
			if child, ok := f.Interface().(cc.Node); ok && !yield(child) {
				return
			}
		}
	}
}
