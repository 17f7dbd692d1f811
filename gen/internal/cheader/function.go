package cheader

import (
	"modernc.org/cc/v4"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// function takes a function that a header declares or defines. A function may
// be declared many times; its definition, if there is one, says what it is.
func (r *reader) function(d *cc.Declarator) {
	header, line, ok := where(d)
	t, isFunction := d.Type().(*cc.FunctionType)
	if !ok || !isFunction {
		return
	}
	if r.owner = (owner{}).declaring(d); r.out[nameKey(d.Name())] {
		return
	}
	kind := abi.FunctionExtern
	if d.IsStatic() || d.IsInline() {
		kind = abi.FunctionInline
	}
	for _, f := range r.facts.Functions {
		if f.Name == d.Name() {
			if kind == abi.FunctionInline {
				f.Kind = kind
			}
			return
		}
	}
	f := &abi.Function{Name: d.Name(), Kind: kind, Header: header, Line: line, Result: r.typ(t.Result(), d), Params: []abi.Parameter{}}
	for _, p := range t.Parameters() {
		if p.Type().Kind() == cc.Void {
			continue // (void)
		}
		f.Params = append(f.Params, abi.Parameter{Name: p.Name(), Type: r.typ(p.Type(), d)})
	}
	f.Variadic = t.IsVariadic()
	_, f.ShadowedByMacro = r.ast.Macros[d.Name()]
	r.facts.Functions = append(r.facts.Functions, f)
}
