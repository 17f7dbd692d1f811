package cheader

import (
	"fmt"
	"slices"
	"strings"

	"modernc.org/cc/v4"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// What is C, and whose layout is not known here, refuses no header: it is left out
// of the facts with all that has it by value, and named. Its size and its members
// are read nowhere, for they may be wrong.

// owner is the declaration that a node of the syntax is a part of: what is left out
// if the node is not followed.
type owner struct {
	keys     []string // in reader.out: the tags and names that it declares
	what     string   // for people; empty for what is no fact, such as a variable
	function bool
	params   int  // lists of parameters on the way
	mute     bool // parameters that are for the caller of a pointer only
}

func tagKey(tag string) string   { return "tag " + tag }
func nameKey(name string) string { return "name " + name }

// cannot leaves out what the current node is a part of.
func (r *reader) cannot(n cc.Node, format string, args ...any) {
	o := r.owner
	if o.mute {
		return
	}
	if len(o.keys) == 0 {
		r.failf(n, format, args...)
		return
	}
	known := true
	for _, key := range o.keys {
		if !r.out[key] {
			r.out[key], r.grew, known = true, true, false
		}
	}
	if !known && o.what != "" {
		r.leaveOut(n, "%s: %s", o.what, fmt.Sprintf(format, args...))
	}
}

// declarationOwner is the owner of what a declaration declares.
func declarationOwner(n *cc.Declaration) owner {
	var o owner
	for ds := n.DeclarationSpecifiers; ds != nil; ds = ds.DeclarationSpecifiers {
		if ts := ds.TypeSpecifier; ts != nil {
			o = o.with(definedTag(ts))
		}
	}
	for l := n.InitDeclaratorList; l != nil; l = l.InitDeclaratorList {
		o = o.declaring(l.InitDeclarator.Declarator)
	}
	return o
}

func (o owner) with(key, what string) owner {
	if key != "" {
		o.keys = append(slices.Clone(o.keys), key)
	}
	if what != "" {
		o.what = strings.TrimPrefix(o.what+", "+what, ", ")
	}
	return o
}

// declaring adds a name.
func (o owner) declaring(d *cc.Declarator) owner {
	what := ""
	switch {
	case d.IsTypename():
		what = "typedef " + d.Name()
	case d.Type().Kind() == cc.Function:
		what, o.function = "function "+d.Name(), true
	}
	return o.with(nameKey(d.Name()), what)
}

// definedTag is the tag that a specifier defines.
func definedTag(n *cc.TypeSpecifier) (key, what string) {
	switch {
	case n.StructOrUnionSpecifier != nil && n.StructOrUnionSpecifier.Case == cc.StructOrUnionSpecifierDef:
		if t, ok := n.StructOrUnionSpecifier.Type().(fielded); ok && tagOf(t) != "" {
			return tagKey(tagOf(t)), string(recordKind(t)) + " " + tagOf(t)
		}
	case n.EnumSpecifier != nil && n.EnumSpecifier.Case == cc.EnumSpecifierDef:
		return enumKey(n.EnumSpecifier)
	}
	return "", ""
}

// enumKey names an enumeration, one without a tag by its place.
func enumKey(n *cc.EnumSpecifier) (key, what string) {
	if t, ok := n.Type().(*cc.EnumType); ok {
		if tag := t.Tag(); tag.SrcStr() != "" {
			return tagKey(tag.SrcStr()), "enum " + tag.SrcStr()
		}
	}
	return "enum at " + position(n), "an enumeration without a tag"
}

// declarations calls visit for every node that declares something at file scope,
// with its owner. Of the definition of a function, the body is none.
func (r *reader) declarations(visit func(cc.Node)) {
	for tu := r.ast.TranslationUnit; tu != nil; tu = tu.TranslationUnit {
		ed := tu.ExternalDeclaration
		if ed == nil {
			continue
		}
		if _, _, shipped := where(ed); !shipped {
			continue
		}
		switch {
		case ed.Declaration != nil:
			r.within(ed.Declaration, declarationOwner(ed.Declaration), visit)
		case ed.FunctionDefinition != nil:
			f := ed.FunctionDefinition
			o := owner{}.declaring(f.Declarator)
			r.owner = o
			visit(f)
			r.within(f.DeclarationSpecifiers, o, visit)
			r.within(f.Declarator, o, visit)
		}
	}
	r.owner = owner{}
}

// within walks a node. What has a tag is an owner itself.
func (r *reader) within(n cc.Node, o owner, visit func(cc.Node)) {
	switch n := n.(type) {
	case *cc.StructOrUnionSpecifier:
		if n.Case == cc.StructOrUnionSpecifierDef {
			if t, ok := n.Type().(fielded); ok && tagOf(t) != "" {
				o = owner{mute: o.mute}.with(tagKey(tagOf(t)), string(recordKind(t))+" "+tagOf(t))
			}
			o.function = false
		}
	case *cc.EnumSpecifier:
		if n.Case == cc.EnumSpecifierDef {
			key, what := enumKey(n)
			if strings.HasPrefix(key, "tag ") || len(o.keys) == 0 {
				o = owner{mute: o.mute}.with(key, what)
			} else {
				o = o.with(key, "")
			}
		}
	case *cc.ParameterTypeList:
		o.params++
		o.mute = o.mute || !o.function || o.params > 1
	case *cc.CompoundStatement:
		return
	}
	r.owner = o
	visit(n)
	for child := range children(n) {
		r.within(child, o, visit)
	}
}

// spread leaves out what has by value what is left out, until nothing is left that
// does.
func (r *reader) spread() {
	for r.grew {
		r.grew = false
		r.declarations(r.mention)
	}
}

// mention leaves out a declaration that needs the layout of what is left out.
func (r *reader) mention(n cc.Node) {
	switch n := n.(type) {
	case *cc.Declaration:
		for l := n.InitDeclaratorList; l != nil; l = l.InitDeclaratorList {
			d := l.InitDeclarator.Declarator
			r.owner = owner{}.declaring(d)
			r.mentionIn(d, r.specified(n.DeclarationSpecifiers), byValue(d, r.owner.function))
		}
	case *cc.FunctionDefinition:
		r.mentionIn(n.Declarator, r.specified(n.DeclarationSpecifiers), byValue(n.Declarator, true))
	case *cc.ParameterDeclaration:
		value := abstractByValue(n.AbstractDeclarator)
		if n.Declarator != nil {
			value = byValue(n.Declarator, false)
		}
		r.mentionIn(n, r.specified(n.DeclarationSpecifiers), value)
	case *cc.StructDeclaration:
		out := r.qualified(n.SpecifierQualifierList)
		for l := n.StructDeclaratorList; l != nil; l = l.StructDeclaratorList {
			if d := l.StructDeclarator.Declarator; d != nil {
				r.mentionIn(d, out, byValue(d, false))
			} else {
				r.mentionIn(n, out, true)
			}
		}
	case *cc.TypeName: // of sizeof, say
		r.mentionIn(n, r.qualified(n.SpecifierQualifierList), true)
	case *cc.UnaryExpression:
		if n.Case == cc.UnaryExpressionSizeofExpr || n.Case == cc.UnaryExpressionAlignofExpr {
			if t, ok := n.UnaryExpression.Type().(fielded); ok && r.out[tagKey(tagOf(t))] {
				r.mentionIn(n, tagOf(t), true)
			}
		}
	case *cc.PrimaryExpression:
		if en, ok := n.ResolvedTo().(*cc.Enumerator); ok && n.Case == cc.PrimaryExpressionIdent && r.outEnumerators()[en.Token.SrcStr()] {
			r.mentionIn(n, en.Token.SrcStr(), true)
		}
	}
}

func (r *reader) mentionIn(n cc.Node, out string, value bool) {
	if out != "" && value {
		r.cannot(n, "it needs %s, which is left out", out)
	}
}

// byValue reports whether what is declared has an object of the type that the
// specifiers name, or is one. What a pointer to a function returns is none.
func byValue(d *cc.Declarator, isFunction bool) bool {
	if d.Pointer != nil {
		return false
	}
	switch d.DirectDeclarator.Case {
	case cc.DirectDeclaratorFuncParam, cc.DirectDeclaratorFuncIdent:
		return isFunction
	}
	return true
}

func abstractByValue(d *cc.AbstractDeclarator) bool {
	return d == nil || d.Pointer == nil && d.DirectAbstractDeclarator.Case != cc.DirectAbstractDeclaratorFunc
}

// specified is the type among specifiers that is left out, or "".
func (r *reader) specified(n *cc.DeclarationSpecifiers) string {
	for ; n != nil; n = n.DeclarationSpecifiers {
		if out := r.outType(n.TypeSpecifier); out != "" {
			return out
		}
	}
	return ""
}

func (r *reader) qualified(n *cc.SpecifierQualifierList) string {
	for ; n != nil; n = n.SpecifierQualifierList {
		if out := r.outType(n.TypeSpecifier); out != "" {
			return out
		}
	}
	return ""
}

func (r *reader) outType(n *cc.TypeSpecifier) string {
	switch {
	case n == nil:
	case n.Case == cc.TypeSpecifierTypeName:
		if name := n.Token.SrcStr(); r.out[nameKey(name)] {
			return name
		}
	case n.StructOrUnionSpecifier != nil:
		if t, ok := n.StructOrUnionSpecifier.Type().(fielded); ok && r.out[tagKey(tagOf(t))] {
			return string(recordKind(t)) + " " + tagOf(t)
		}
	case n.EnumSpecifier != nil:
		if key, what := enumKey(n.EnumSpecifier); r.out[key] {
			return what
		}
	}
	return ""
}

// outEnumerators are the values of enumerations that are left out.
func (r *reader) outEnumerators() map[string]bool {
	names := map[string]bool{}
	for _, n := range r.enumSpecifiers {
		if key, _ := enumKey(n); !r.out[key] {
			continue
		}
		for l := n.EnumeratorList; l != nil; l = l.EnumeratorList {
			names[l.Enumerator.Token.SrcStr()] = true
		}
	}
	return names
}

// withoutOut drops from the facts what is left out. Of a record there stays that it
// is one, for pointers to it.
func (r *reader) withoutOut() {
	for i, rec := range r.facts.Records {
		key := tagKey(rec.Name)
		if rec.Typedef {
			key = nameKey(rec.Name)
		}
		if r.out[key] {
			r.facts.Records[i] = &abi.Record{Name: rec.Name, Kind: rec.Kind, Typedef: rec.Typedef, Header: rec.Header, Line: rec.Line, Opaque: true}
		}
	}
	r.facts.Functions = slices.DeleteFunc(r.facts.Functions, func(f *abi.Function) bool { return r.out[nameKey(f.Name)] })
	r.facts.Enums = slices.DeleteFunc(r.facts.Enums, func(e *abi.Enum) bool {
		return !e.Typedef && e.Name != "" && r.out[tagKey(e.Name)]
	})
}
