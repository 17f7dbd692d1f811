package cheader

import (
	"slices"
	"sort"

	"modernc.org/cc/v4"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// macros takes the object-like macros of the headers: those with an integer
// value, and those that rename a tag or an enumerator.
func (r *reader) macros() {
	outEnumerators := r.outEnumerators()
	for name, m := range r.ast.Macros {
		header, line, ok := where(m)
		if !ok || m.IsFnLike || !m.IsConst || r.varies(name, map[string]bool{}) {
			continue
		}
		if target, ok := soleIdentifier(m); ok && target != name && r.isDeclared(target) {
			r.facts.Aliases = append(r.facts.Aliases, &abi.Alias{Name: name, Target: target, Header: header, Line: line})
		}
		if slices.ContainsFunc(m.ReplacementList(), r.preferred) {
			r.leaveOut(m, "the value of the macro %s is not known: __alignof__ may be above _Alignof", name)
			continue
		}
		if r.differs && r.usesLayout(m) {
			r.leaveOut(m, "the value of the macro %s is not known: it depends on the layout of a type, and the C front end does not know all of them here", name)
			continue
		}
		if value, _, ok := integer(m.Value()); ok && cc.IsIntegerType(m.Type()) && !r.isFunction(name) {
			if out := r.outWord(name, outEnumerators, map[string]bool{}); out != "" {
				r.leaveOut(m, "macro %s: it needs %s, which is left out", name, out)
				continue
			}
			signed := cc.IsSignedInteger(m.Type())
			r.facts.Macros = append(r.facts.Macros, &abi.Macro{Name: name, Header: header, Line: line, Value: value, Signed: signed})
		}
	}
	sort.Strings(r.facts.LeftOut)
	sort.Slice(r.facts.Macros, func(i, j int) bool {
		a, b := r.facts.Macros[i], r.facts.Macros[j]
		return before(a.Header, a.Line, a.Name, b.Header, b.Line, b.Name)
	})
	sort.Slice(r.facts.Aliases, func(i, j int) bool {
		a, b := r.facts.Aliases[i], r.facts.Aliases[j]
		return before(a.Header, a.Line, a.Name, b.Header, b.Line, b.Name)
	})
}

// varies reports whether a macro, by way of others too, stands for something
// else wherever it is used. Macros are followed once, seen.
func (r *reader) varies(name string, seen map[string]bool) bool {
	switch name {
	case "__LINE__", "__COUNTER__", "__DATE__", "__TIME__", "__TIMESTAMP__", "__FILE__", "__BASE_FILE__", "__INCLUDE_LEVEL__":
		return true
	}
	m := r.ast.Macros[name]
	if m == nil || seen[name] {
		return false
	}
	seen[name] = true
	return slices.ContainsFunc(m.ReplacementList(), func(token cc.Token) bool { return r.varies(token.SrcStr(), seen) })
}

// outWord is a word of a macro, by way of others too, that is left out, or "".
func (r *reader) outWord(name string, outEnumerators, seen map[string]bool) string {
	m := r.ast.Macros[name]
	if m == nil || seen[name] || len(r.out) == 0 {
		return ""
	}
	seen[name] = true
	for _, token := range m.ReplacementList() {
		word := token.SrcStr()
		if outEnumerators[word] || r.out[tagKey(word)] || r.out[nameKey(word)] {
			return word
		}
		if out := r.outWord(word, outEnumerators, seen); out != "" {
			return out
		}
	}
	return ""
}

// usesLayout reports whether a macro may ask for the size or an offset of
// anything but C's own types.
func (r *reader) usesLayout(m *cc.Macro) (uses bool) {
	own := true
	for _, token := range m.ReplacementList() {
		switch name := token.SrcStr(); {
		case name == "sizeof" || name == "_Alignof" || name == "__alignof__" || name == "__alignof":
			uses = true
		case name == "offsetof" || name == "__builtin_offsetof":
			return true
		case token.Ch == rune(cc.IDENTIFIER): // or a keyword
			own = own && (basic[name] || r.isScalarTypedef(name))
		}
	}
	return uses && !own
}

// basic are the words that C's own types are made of.
var basic = map[string]bool{
	"char": true, "short": true, "int": true, "long": true, "float": true, "double": true, "void": true,
	"signed": true, "unsigned": true, "_Bool": true, "const": true, "volatile": true,
}

func (r *reader) isScalarTypedef(name string) bool {
	for _, n := range r.ast.Scope.Nodes[name] {
		if d, ok := n.(*cc.Declarator); ok && d.IsTypename() {
			_, scalar := d.Type().(*cc.PredefinedType)
			return scalar
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
