package gosrc

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// bits makes room for bit-fields that stand together: the bytes that they
// touch, less those that another member has, and accessors.
func (b *body) bits(fields []*abi.Field, base, end int64) error {
	first, last := int64(-1), int64(0)
	for _, f := range fields {
		lo, hi := base+*f.BitOffset/8, base+(*f.BitOffset+*f.BitSize+7)/8
		if first < 0 || lo < first {
			first = lo
		}
		last = max(last, hi)
	}
	field := b.take(unexported(camel(fields[0].Name)) + "Bits")
	b.pad(first)
	if first < b.cursor || last > end {
		return fmt.Errorf("%s: the bit-fields share bytes in a way that Go cannot lay out", b.where(fields[0]))
	}
	b.fields = append(b.fields, jen.Id(field).Index(jen.Lit(int(last-first))).Byte().Comment("bit-fields: see the methods"))
	b.cursor = last
	b.assert(jen.Qual("unsafe", "Offsetof").Call(jen.Id(b.goName).Values().Dot(field)), first)
	for _, f := range fields {
		bit := *f.BitOffset + 8*base - 8*first
		moved := *f
		moved.BitOffset = &bit
		if err := b.bitAccessors(&moved, view{field: field, align: 1}, last-first); err != nil {
			return err
		}
	}
	return nil
}

// bitAccessors writes the getter and the setter of a bit-field, whose offset
// counts from v. They touch no byte that holds none of its bits.
func (b *body) bitAccessors(f *abi.Field, v view, room int64) error {
	name := camel(f.Name)
	typ, err := b.memberType(f, name, true)
	if err != nil {
		return err
	}
	first, last := *f.BitOffset/8, (*f.BitOffset+*f.BitSize+7)/8
	if last-first > 8 {
		return fmt.Errorf("%s: a bit-field over nine bytes has no accessor", b.where(f))
	}
	name = b.takeWith(name, "Set")
	shift := *f.BitOffset % 8
	bytes := v.plus(first).bytes(last - first)
	get := jen.Id("getBits").Call(bytes.Clone(), jen.Lit(int(shift)), jen.Lit(int(*f.BitSize)))
	var result *jen.Statement
	switch {
	case f.Kind == abi.Bool:
		result = get.Op("!=").Lit(0)
	case f.Kind == abi.Int || f.Type.Signed:
		// Shifting up and down again spreads the sign.
		up := jen.Lit(int(64 - *f.BitSize))
		result = jen.Add(typ.code).Parens(jen.Int64().Parens(get.Op("<<").Add(up)).Op(">>").Add(up.Clone()))
	default:
		result = jen.Add(typ.code).Parens(get)
	}
	value := jen.Uint64().Parens(jen.Id("v"))
	if f.Kind == abi.Bool {
		value = jen.Id("bitOf").Call(jen.Id("v"))
		b.w.needs["bitOf"] = true
	}
	set := jen.Id("setBits").Call(bytes.Clone(), jen.Lit(int(shift)), jen.Lit(int(*f.BitSize)), value)
	declared := fmt.Sprintf("%s : %d", f.Type.Declare(f.Name), *f.BitSize)
	why := "Safe: the bytes are the field's own."
	b.methods = append(b.methods,
		jen.Comment(fmt.Sprintf("%s reads the bit-field %s.%s", name, declared, b.aboutIt(f))),
		jen.Func().Params(b.receiver()).Id(name).Params().Add(typ.code).Block(jen.Comment(why), jen.Return(result)),
		jen.Comment(fmt.Sprintf("Set%s writes the bit-field %s: the low bits of v.", name, declared)),
		jen.Func().Params(b.receiver()).Id("Set"+name).Params(jen.Id("v").Add(typ.code)).Block(jen.Comment(why), set))
	b.w.needs["bits"] = true
	return nil
}
