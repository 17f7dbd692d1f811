package gosrc

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// clib is the package that generated calls stand on.
const clib = "github.com/goverbs/goverbs/clib"

// What it can pass: clib.MostArguments, and clib.MostDirect.
const (
	mostArguments = 15
	mostDirect    = 6
)

// calls say how functions are called.
type calls struct {
	library     string // its soname
	unexported  bool
	direct      []string
	conventions *conventions
}

// callable is a C function that Go is to call, by its symbol or by a pointer.
type callable struct {
	key      string // "ibv_alloc_pd", or "verbs_context.alloc_td"
	at       string // where it is declared, for errors
	result   *abi.Type
	params   []abi.Parameter
	variadic bool
	header   string // whose convention it has
}

// functions lists what the library exports: a header's includes may be of other
// libraries.
func (s *scope) functions() []*abi.Function {
	var out []*abi.Function
	for _, f := range s.facts.Functions {
		if f.Kind == abi.FunctionExtern && f.Header == s.facts.Header {
			out = append(out, f)
		}
	}
	return out
}

// function writes a typed Go function that calls one of the library's.
func (w *writer) function(f *abi.Function) error {
	c := callable{
		key: f.Name, at: fmt.Sprintf("%s:%d: function %s", f.Header, f.Line, f.Name),
		result: f.Result, params: f.Params, variadic: f.Variadic, header: f.Header,
	}
	name := w.called[f.Name]
	symbol := "symbol" + name
	if w.calls.unexported {
		name = "c" + name
	}
	call, err := w.call(c, jen.Id(symbol), symbol)
	if err != nil {
		return err
	}
	fields := []jen.Code{field("Library", jen.Op("&").Id("cLibrary")), field("Name", jen.Lit(f.Name))}
	if release := w.facts.SinceOf("function", f.Name); release != "" {
		fields = append(fields, field("Since", jen.Lit(release)))
	}
	w.add(name,
		jen.Var().Id(symbol).Op("=").Qual(clib, "Function").Values(fields...),
		jen.Line(),
		jen.Comment(fmt.Sprintf("%s is C's function of %s%s: %s. %s", name, f.Header, w.since("function", f.Name), prototype(f), call.about)),
		call.directive,
		jen.Func().Id(name).Params(call.params...).Params(call.results...).Block(call.body...))
	return nil
}

// field is a field of a composite literal.
func field(name string, v jen.Code) jen.Code { return jen.Id(name).Op(":").Add(v) }

// prototype is the prototype of a function as C has it.
func prototype(f *abi.Function) string {
	params := make([]string, 0, len(f.Params))
	for _, p := range f.Params {
		params = append(params, p.Type.Declare(p.Name))
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	return asDeclared(f.Result, f.Name+"("+strings.Join(params, ", ")+")")
}

// asDeclared is a C declaration of a name, as a header has it.
func asDeclared(t *abi.Type, name string) string {
	text := t.Declare(name)
	for _, key := range sortedKeys(ofTheCLibrary) {
		text = strings.ReplaceAll(text, key+" ", ofTheCLibrary[key]+" ")
	}
	return text
}

// callOf names the call of what a member points to, for other files of the package.
func callOf(path string) string { return "call" + path }

// callMember writes the call of what a member points to: a method of the record, or for
// other files of the package only, a function.
func (b *body) callMember(f *abi.Field, t *abi.Type, path, at string) {
	w := b.w
	if w.calls == nil || t.Elem.Kind != abi.Func {
		return
	}
	c := callable{key: b.path + "." + f.Name, at: at, result: t.Elem.Result, variadic: t.Elem.Variadic, header: w.facts.Header}
	for i, p := range t.Elem.Params {
		c.params = append(c.params, abi.Parameter{Name: fmt.Sprintf("arg%d", i+1), Type: p})
	}
	address, own, slot := jen.Id("f"), "f", b.slots[f]
	isMethod := !w.calls.unexported
	if isMethod && slot != "" {
		address, own = jen.Id("s").Dot(slot), "s"
	}
	call, err := w.call(c, jen.Qual(clib, "Pointer").Values(field("Name", jen.Lit(c.key)), field("Address", jen.Uintptr().Call(address))), own)
	if err != nil {
		w.left = append(w.left, LeftOut{What: at, Target: w.facts.Target(), Why: err})
		return
	}
	params := call.params
	if own == "f" {
		params = append([]jen.Code{jen.Id("f").Add(w.supportCode("FuncPtr"))}, params...)
	}
	about := func(name, what string) jen.Code {
		return jen.Comment(fmt.Sprintf("%s calls %s: in C %s. %s", name, what, asDeclared(t, f.Name), call.about))
	}
	if !isMethod {
		name := w.unique(callOf(path), b.cName+"."+f.Name)
		w.add(name,
			about(name, "what "+f.Name+" of "+b.cName+" points to"), call.directive,
			jen.Func().Id(name).Params(params...).Params(call.results...).Block(call.body...))
		return
	}
	name, what := b.take("Call"+camel(f.Name)), "what "+slot+" points to"
	if slot == "" {
		what = "f, what the member " + f.Name + " points to"
	}
	b.methods = append(b.methods, about(name, what), call.directive,
		jen.Func().Params(b.receiver()).Id(name).Params(params...).Params(call.results...).Block(call.body...))
}

// goCall is the Go of a call.
type goCall struct {
	about           string // how it fails, a sentence
	directive       jen.Code
	params, results []jen.Code
	body            []jen.Code
}

// call makes the Go of a call of callee, for which own is a name in use.
func (w *writer) call(c callable, callee *jen.Statement, own string) (*goCall, error) {
	how, err := w.calls.conventions.find(c.key, c.header, c.result)
	switch {
	case err != nil:
		return nil, err
	case c.variadic:
		return nil, fmt.Errorf("%s: it takes any number of arguments", c.at)
	case len(c.params) > mostArguments:
		return nil, fmt.Errorf("%s: it has %d parameters, more than the %d that Go passes", c.at, len(c.params), mostArguments)
	}
	direct := slices.Contains(w.calls.direct, c.key)
	switch {
	case !direct:
	case len(c.params) > mostDirect:
		return nil, fmt.Errorf("%s: it cannot be called directly: it has %d parameters, more than %d", c.at, len(c.params), mostDirect)
	case how == null:
		return nil, fmt.Errorf("%s: it cannot be called directly: the reason of a failure would be in errno, which is not looked at", c.at)
	}
	out := &goCall{directive: jen.Null()}
	var words []jen.Code
	names := map[string]bool{own: true}
	for i, p := range c.params {
		name := paramName(p.Name, i, names)
		typ, word, err := w.param(c, p, jen.Id(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", c.at, p.Type.Declare(p.Name), err)
		}
		if typ.isWord {
			out.directive = jen.Comment("//go:uintptrescapes")
		}
		out.params = append(out.params, jen.Id(name).Add(typ.code))
		words = append(words, word)
	}
	var size []jen.Code
	if how == minus || how == count {
		size = []jen.Code{jen.Lit(int(c.result.Size))}
	}
	method := func(name string) *jen.Statement { return callee.Clone().Dot(name).Call(append(size, words...)...) }
	if direct {
		for len(words) < mostDirect {
			words = append(words, jen.Lit(0))
		}
		method = func(name string) *jen.Statement {
			return callee.Clone().Dot("Direct").Call(words...).Dot(name).Call(size...)
		}
	}
	if w.calls.conventions.guesses(c.key, c.header, c.result) {
		w.guessed = append(w.guessed, c.key)
	}
	return out, w.resultOf(c, how, method, out)
}

// isTaken reports whether a parameter cannot have a name because the body of the
// function has another use for it, or Go.
func isTaken(name string) bool {
	return token.IsKeyword(name) || types.Universe.Lookup(name) != nil || slices.Contains([]string{"unsafe", "clib", "result", "err", "ibv"}, name)
}

// paramName is the Go name of a parameter.
func paramName(c string, i int, names map[string]bool) string {
	name := fmt.Sprintf("arg%d", i+1)
	if strings.IndexFunc(c, func(r rune) bool { return !isJoint(r) }) >= 0 {
		name = unexported(camel(c))
	}
	for isTaken(name) || names[name] {
		name += "_"
	}
	names[name] = true
	return name
}

// paramType is the Go type of a parameter.
type paramType struct {
	code   jen.Code
	isWord bool // an address as a number
}

// param is the type of a parameter in Go, and the word that its value is passed in.
func (w *writer) param(c callable, p abi.Parameter, v *jen.Statement) (paramType, jen.Code, error) {
	t := p.Type
	typ, isWord, err := w.callType(t)
	if err != nil {
		return paramType{}, nil, err
	}
	out := paramType{typ, isWord}
	word := func(code jen.Code) (paramType, jen.Code, error) { return out, code, nil }
	if tag := w.calls.conventions.enums[c.key][p.Name]; tag != "" {
		e := w.enums[typeKey(abi.EnumKind, tag, false)]
		switch {
		case t.Kind != abi.Int && t.Kind != abi.Uint, e != nil && e.Size != t.Size:
			return out, nil, fmt.Errorf("conventions give it the type enum %s, which does not fit", tag)
		case e != nil: // a release that is older than the enumeration has the integer only
			out.code = w.typeCode(enumKey(e))
			switch {
			case t.Kind == abi.Int:
				v = jen.Id(fmt.Sprintf("int%d", 8*t.Size)).Call(v)
			case e.Signed:
				v = jen.Id(fmt.Sprintf("uint%d", 8*t.Size)).Call(v)
			}
		}
	}
	switch {
	case isWord:
		return word(v)
	case t.Kind == abi.Pointer:
		return word(jen.Uintptr().Call(jen.Qual("unsafe", "Pointer").Call(v)))
	case t.Kind == abi.Bool:
		return word(jen.Qual(clib, "Bool").Call(v))
	case t.Kind == abi.Char && t.Signed:
		return word(jen.Uintptr().Call(jen.Int8().Call(v)))
	case t.Size == 4 && (t.Kind == abi.Uint || t.Kind == abi.EnumKind && !t.Signed):
		return word(jen.Qual(clib, "Word").Call(v))
	}
	return word(jen.Uintptr().Call(v))
}

// callType is the Go type of a parameter or a result. An address that is no
// pointer in Go is a word.
func (w *writer) callType(t *abi.Type) (code jen.Code, isWord bool, err error) {
	pointed := t
	for pointed.Kind == abi.Pointer || pointed.Kind == abi.Array {
		pointed = pointed.Elem
	}
	switch {
	case t.Kind == abi.FuncPtr || t.Kind == abi.Pointer && !isPointer(t):
		return jen.Uintptr(), true, nil
	case pointed.Anon != nil:
		return nil, false, fmt.Errorf("its type has no name")
	case t.Kind == abi.Pointer && w.byPointer(t):
		return nil, false, fmt.Errorf("it is a pointer of the C library's own")
	case t.Kind == abi.Float:
		return nil, false, fmt.Errorf("numbers in floating point are passed in other registers")
	case t.IsRecord():
		return nil, false, fmt.Errorf("a struct or a union is passed by value")
	case t.Size > w.facts.PointerSize:
		return nil, false, fmt.Errorf("it has %d bytes, more than a register", t.Size)
	}
	typ, err := w.goType(t, "uintptr", "", false) // the type of pointers to function pointers
	return typ.code, false, err
}

// resultOf writes the results and the body of a call, which method makes.
func (w *writer) resultOf(c callable, how convention, method func(name string) *jen.Statement, out *goCall) error {
	failure := jen.Error()
	take := func(name string) jen.Code { return jen.List(jen.Id("result"), jen.Err()).Op(":=").Add(method(name)) }
	const cannot = "C reports no failure: the error says that there is no such function."
	switch how {
	case errno:
		out.about = "The error is what C returns, where that is not 0."
		out.results, out.body = []jen.Code{failure}, []jen.Code{jen.Return(method("Errno"))}
		return nil
	case nothing:
		out.about = cannot
		out.results, out.body = []jen.Code{failure}, []jen.Code{jen.Return(method("Void"))}
		return nil
	case text:
		out.about = cannot
		out.results, out.body = []jen.Code{jen.String(), failure}, []jen.Code{jen.Return(method("Text"))}
		return nil
	case count:
		out.about = "The error is of a negative result."
		out.results, out.body = []jen.Code{jen.Int(), failure}, []jen.Code{jen.Return(method("Count"))}
		return nil
	}
	typ, isWord, err := w.callType(c.result)
	if err != nil {
		return fmt.Errorf("%s: its result: %w", c.at, err)
	}
	out.results = []jen.Code{jen.Add(typ), failure}
	value := jen.Add(typ).Call(jen.Id("result"))
	switch {
	case isWord:
		value = jen.Id("result")
	case c.result.Kind == abi.Pointer:
		elem, err := w.pointee(c.result.Elem, "uintptr", "")
		if err != nil {
			return fmt.Errorf("%s: its result: %w", c.at, err)
		}
		value = jen.Qual(clib, "At").Types(elem).Call(jen.Id("result"))
	case c.result.Kind == abi.Bool:
		value = jen.Byte().Call(jen.Id("result")).Op("!=").Lit(0)
	}
	name := "Value"
	out.about = cannot
	switch how {
	case null:
		name, out.about = "Null", "The error is errno, where C returns NULL."
	case minus:
		name, out.about = "Minus", "The error is errno, where C returns a negative number."
	}
	out.body = []jen.Code{take(name), jen.Return(value, jen.Err())}
	return nil
}

// library writes the variable of the library.
func (w *writer) library() {
	w.add("cLibrary",
		jen.Comment(fmt.Sprintf("cLibrary is %s, which is loaded when the first of its functions is called.", w.calls.library)),
		jen.Var().Id("cLibrary").Op("=").Qual(clib, "Library").Values(field("Soname", jen.Lit(w.calls.library))))
}

// allFunctions writes the library's functions. What Go cannot call is left out.
func (w *writer) allFunctions() error {
	if w.calls == nil {
		return nil
	}
	functions := w.functions()
	if len(functions) > 0 {
		w.library()
	}
	for _, f := range functions {
		if err := w.function(f); err != nil {
			w.left = append(w.left, LeftOut{What: f.Name, Target: w.facts.Target(), Why: err})
		}
	}
	for _, key := range w.calls.conventions.stale() {
		w.left = append(w.left, LeftOut{What: key, Target: w.facts.Target(), Why: fmt.Errorf("%s: %s: there is no such function", w.calls.conventions.lines[key], key)})
	}
	return nil
}
