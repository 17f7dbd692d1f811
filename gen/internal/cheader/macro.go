package cheader

import (
	"sort"

	"modernc.org/cc/v4"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// macros takes the object-like macros of the headers: those with an integer
// value, and those that rename a tag or an enumerator.
func (r *reader) macros() {
	for name, m := range r.ast.Macros {
		header, line, ok := where(m)
		if !ok || m.IsFnLike || !m.IsConst {
			continue
		}
		if target, ok := soleIdentifier(m); ok && target != name && r.isDeclared(target) {
			r.facts.Aliases = append(r.facts.Aliases, &abi.Alias{Name: name, Target: target, Header: header, Line: line})
		}
		if r.differs && usesLayout(m) {
			r.failf(m, "the value of the macro %s is not known: it depends on the layout of a type, and the C front end does not know all of them here", name)
			continue
		}
		if value, _, ok := integer(m.Value()); ok && cc.IsIntegerType(m.Type()) && !r.isFunction(name) {
			signed := cc.IsSignedInteger(m.Type())
			r.facts.Macros = append(r.facts.Macros, &abi.Macro{Name: name, Header: header, Line: line, Value: value, Signed: signed})
		}
	}
	sort.Slice(r.facts.Macros, func(i, j int) bool {
		a, b := r.facts.Macros[i], r.facts.Macros[j]
		return before(a.Header, a.Line, a.Name, b.Header, b.Line, b.Name)
	})
	sort.Slice(r.facts.Aliases, func(i, j int) bool {
		a, b := r.facts.Aliases[i], r.facts.Aliases[j]
		return before(a.Header, a.Line, a.Name, b.Header, b.Line, b.Name)
	})
}

// usesLayout reports whether a macro asks for a size or an offset.
func usesLayout(m *cc.Macro) bool {
	for _, token := range m.ReplacementList() {
		switch token.SrcStr() {
		case "sizeof", "_Alignof", "__alignof__", "offsetof", "__builtin_offsetof":
			return true
		}
	}
	return false
}

func soleIdentifier(m *cc.Macro) (string, bool) {
	list := m.ReplacementList()
	if len(list) != 1 || list[0].Ch != rune(cc.IDENTIFIER) {
		return "", false
	}
	return list[0].SrcStr(), true
}

func (r *reader) isDeclared(name string) bool { return len(r.ast.Scope.Nodes[name]) > 0 }

func (r *reader) isFunction(name string) bool {
	for _, n := range r.ast.Scope.Nodes[name] {
		if d, ok := n.(*cc.Declarator); ok && d.Type().Kind() == cc.Function {
			return true
		}
	}
	return false
}
