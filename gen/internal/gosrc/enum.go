package gosrc

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// enum writes an enumeration: a type as wide as C's with its values and their
// names, or plain constants where C has no name for the type.
func (w *writer) enum(e *abi.Enum) error {
	names := make([]string, len(e.Enumerators))
	flags := isFlags(e)
	typ := ""
	if e.Name != "" {
		typ = w.types[enumKey(e)]
	}
	var defs []jen.Code
	for i, en := range e.Enumerators {
		names[i] = w.constants[constant{e, en.Name}]
		lit, err := literal(en.Value, flags)
		if err != nil {
			return fmt.Errorf("%s:%d: %s: %w", e.Header, e.Line, en.Name, err)
		}
		if text := w.words.about(en.Name); text != "" {
			if i > 0 {
				defs = append(defs, jen.Line())
			}
			defs = append(defs, jen.Comment(text[1:]))
		}
		def := jen.Id(names[i])
		if typ != "" {
			def.Id(typ)
		}
		defs = append(defs, def.Op("=").Add(lit).Comment(en.Name+w.since("enumerator", en.Name)))
	}
	if typ == "" {
		key := fmt.Sprintf("enum of %s", e.Enumerators[0].Name)
		w.add(key, jen.Comment(fmt.Sprintf("Constants of %s that belong to no named enumeration.", e.Header)), jen.Const().Defs(defs...))
		return nil
	}
	kind := "uint"
	if e.Signed {
		kind = "int"
	}
	what := "one of the values below"
	if flags {
		what = "a set of the bits below"
	}
	w.add(typ,
		jen.Comment(typeDoc(typ, fmt.Sprintf("C's %s of %s%s: %s", enumKey(e), e.Header, w.since("enum", e.Name), what), w.words.about(e.Name))),
		jen.Type().Id(typ).Id(fmt.Sprintf("%s%d", kind, 8*e.Size)),
		jen.Comment(fmt.Sprintf("The values of %s.", typ)),
		jen.Const().Defs(defs...),
		w.stringer(e, typ, names, flags))
	return nil
}

// stringer writes the String method: C's name for a value, or for each bit;
// what has no name is printed as a number rather than dropped.
func (w *writer) stringer(e *abi.Enum, typ string, names []string, flags bool) jen.Code {
	method := jen.Func().Params(jen.Id("v").Id(typ)).Id("String").Params().String()
	seen := map[string]bool{}
	if flags {
		w.needs["flags"] = true
		var items []jen.Code
		zero := "0"
		for i, en := range e.Enumerators {
			switch {
			case en.Value == "0":
				zero = en.Name
			case !seen[en.Value]:
				bits := jen.Uint64().Parens(jen.Id(names[i]))
				if v, negative, err := value(en.Value); err == nil && negative {
					bits = jen.Id(fmt.Sprintf("%#x", v&(1<<(8*e.Size)-1)))
				}
				items = append(items, jen.Line().Values(bits, jen.Lit(en.Name)))
			}
			seen[en.Value] = true
		}
		items = append(items, jen.Line())
		bitsOf := jen.Uint64().Parens(jen.Id("v"))
		if e.Signed { // without the copies of the sign
			bitsOf = jen.Uint64().Parens(jen.Id(fmt.Sprintf("uint%d", 8*e.Size)).Parens(jen.Id("v")))
		}
		return jen.Add(
			jen.Comment(fmt.Sprintf("String lists the bits of v by C's names, and what has none as a number; no bits are %q.", zero)), jen.Line(),
			method.Block(jen.Return(jen.Id("flagNames").Call(bitsOf, jen.Lit(zero), jen.Index().Id("flagName").Values(items...)))))
	}
	var cases []jen.Code
	for i, en := range e.Enumerators {
		if !seen[en.Value] {
			cases = append(cases, jen.Case(jen.Id(names[i])).Block(jen.Return(jen.Lit(en.Name))))
		}
		seen[en.Value] = true
	}
	format, as := "FormatUint", jen.Uint64()
	if e.Signed {
		format, as = "FormatInt", jen.Int64()
	}
	number := jen.Qual("strconv", format).Call(as.Parens(jen.Id("v")), jen.Lit(10))
	return jen.Add(
		jen.Comment("String is C's name for v, or its number where C has none."), jen.Line(),
		method.Block(
			jen.Switch(jen.Id("v")).Block(cases...),
			jen.Return(jen.Lit(typ+"(").Op("+").Add(number).Op("+").Lit(")"))))
}

// literal writes a value: bits in hexadecimal, where people see them.
func literal(text string, hex bool) (jen.Code, error) {
	v, negative, err := value(text)
	switch {
	case err != nil:
		return nil, err
	case hex && !negative:
		return jen.Id(fmt.Sprintf("%#x", v)), nil
	default:
		return jen.Id(text), nil
	}
}

// macro writes a macro with an integer value as an untyped constant.
func (w *writer) macro(m *abi.Macro) error {
	name := w.macros[m.Name]
	v, _, _ := value(m.Value)
	lit, err := literal(m.Value, v >= 1<<16) // no header counts that far: these are bits
	if err != nil {
		return fmt.Errorf("%s:%d: %s: %w", m.Header, m.Line, m.Name, err)
	}
	w.add(name,
		jen.Comment(fmt.Sprintf("%s is C's macro %s of %s%s.%s", name, m.Name, m.Header, w.since("macro", m.Name), w.words.about(m.Name))),
		jen.Const().Id(name).Op("=").Add(lit))
	return nil
}
