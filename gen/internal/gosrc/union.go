package gosrc

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// storage is the field of a union's Go type that holds its bytes.
const storage = "data"

// fillUnion makes a union: bytes with C's size and alignment, and a view of
// them for each member.
func (b *body) fillUnion(r *abi.Record) error {
	b.fields = append(b.fields, jen.Id(storage).Index(jen.Lit(int(r.Size))).Byte())
	b.cursor = r.Size
	b.assert(jen.Qual("unsafe", "Offsetof").Call(jen.Id(b.goName).Values().Dot(storage)), 0)
	return b.views(r, view{field: storage, align: b.align})
}

// view is bytes inside the Go struct that members are seen in.
type view struct {
	field string // the Go field that holds them
	at    int64  // where in that field
	align int64  // what the field's address is a multiple of
}

func (v view) plus(n int64) view { v.at += n; return v }

// unnamedUnion makes room for a union without a name, whose members belong to
// the struct around it in C and so do their views in Go.
func (b *body) unnamedUnion(f *abi.Field, offset int64) error {
	first := firstName(f.Type.Anon)
	switch {
	case first == "":
		return nil // pad covers it
	case f.Size == 0: // of arrays without length: Go would pad it
		return b.views(f.Type.Anon, view{at: offset, align: b.align})
	}
	field := b.take(unexported(camel(first)) + "Union")
	b.pad(offset)
	align := min(f.Type.Align, b.align)
	for offset%align != 0 {
		align /= 2 // packed
	}
	typ := jen.Index(jen.Lit(int(f.Size))).Byte()
	if align > 1 {
		code, err := b.w.filler(align)
		if err != nil {
			return fmt.Errorf("%s: %w", b.at, err)
		}
		typ = jen.Struct(code, jen.Id(storage).Index(jen.Lit(int(f.Size))).Byte())
	}
	b.natural = max(b.natural, align)
	b.fields = append(b.fields, jen.Id(field).Add(typ).Comment("union: see the methods"))
	b.cursor = offset + f.Size
	b.assert(jen.Qual("unsafe", "Offsetof").Call(jen.Id(b.goName).Values().Dot(field)), offset)
	return b.views(f.Type.Anon, view{field: field, align: align})
}

// firstName is the name of the first named member, or of the first one inside
// the first unnamed member.
func firstName(r *abi.Record) string {
	for _, f := range r.Fields {
		if f.Name != "" {
			return f.Name
		}
		if f.Type.Anon != nil {
			if name := firstName(f.Type.Anon); name != "" {
				return name
			}
		}
	}
	return ""
}

// views writes the accessors of all members of r, which starts at v.
func (b *body) views(r *abi.Record, v view) error {
	for _, f := range r.Fields {
		in := v.plus(f.Offset)
		var err error
		switch {
		case hidden(f.Name):
		case f.BitSize != nil:
			err = b.bitAccessors(f, v, r.Size-f.Offset)
		case f.Name == "" && f.Type.Anon != nil:
			err = b.views(f.Type.Anon, in)
		case f.Size == 0:
			err = b.flexible(f, in)
		default:
			err = b.viewOf(f, in)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// viewOf writes the accessors of one member: a pointer into the union for what
// has members or methods of its own, else a getter and a setter, which copy.
func (b *body) viewOf(f *abi.Field, v view) error {
	name := camel(f.Name)
	typ, err := b.memberType(f, name, true)
	if err != nil {
		return err
	}
	aligned := v.at%typ.align == 0 && typ.align <= v.align
	if aligned && (f.Type.IsRecord() || f.Kind == abi.Array || isPointer(f.Type)) {
		return b.pointerView(f, name, typ, v)
	}
	return b.valueView(f, name, typ, v, aligned)
}

func (b *body) pointerView(f *abi.Field, name string, typ gotype, v view) error {
	name = b.take(name)
	b.methods = append(b.methods,
		jen.Comment(fmt.Sprintf("%s views the bytes of the union as its member %s; the pointer is valid as long as the union is.%s",
			name, asDeclared(f.Type, f.Name), b.aboutIt(f))),
		jen.Func().Params(b.receiver()).Id(name).Params().Op("*").Add(typ.code).Block(
			jen.Comment("Safe: the union is as large and as aligned as each of its members."),
			jen.Return(jen.Parens(jen.Op("*").Add(typ.code)).Parens(v.pointer()))))
	return nil
}

// valueView writes the getter and the setter of a member.
func (b *body) valueView(f *abi.Field, name string, typ gotype, v view, aligned bool) error {
	name = b.takeWith(name, "Set")
	about := b.aboutIt(f)
	getter := jen.Func().Params(b.receiver()).Id(name).Params().Add(typ.code)
	setter := jen.Func().Params(b.receiver()).Id("Set" + name).Params(jen.Id("v").Add(typ.code))
	if aligned {
		place := jen.Op("*").Parens(jen.Op("*").Add(typ.code)).Parens(v.pointer())
		why := jen.Comment("Safe: the union is as large and as aligned as each of its members.")
		getter.Block(why, jen.Return(place.Clone()))
		setter.Block(why, place.Clone().Op("=").Id("v"))
	} else {
		why := jen.Comment("Safe: only v is seen as bytes, all of it; the member is copied, aligned or not.")
		bytesOfV := func() *jen.Statement {
			return jen.Parens(jen.Op("*").Index(jen.Lit(int(f.Size))).Byte()).Parens(jen.Qual("unsafe", "Pointer").Call(jen.Op("&").Id("v"))).Index(jen.Empty(), jen.Empty())
		}
		place := v.bytes(f.Size)
		getter.Block(jen.Var().Id("v").Add(typ.code), why, jen.Copy(bytesOfV(), place.Clone()), jen.Return(jen.Id("v")))
		setter.Block(why, jen.Copy(place.Clone(), bytesOfV()))
	}
	b.methods = append(b.methods,
		jen.Comment(fmt.Sprintf("%s reads the member %s.%s", name, asDeclared(f.Type, f.Name), about)), getter,
		jen.Comment(fmt.Sprintf("Set%s writes the member %s.", name, asDeclared(f.Type, f.Name))), setter)
	return nil
}

func (b *body) receiver() *jen.Statement { return jen.Id("s").Op("*").Id(b.goName) }

// pointer is the address of the bytes.
func (v view) pointer() *jen.Statement {
	p := jen.Qual("unsafe", "Pointer").Call(jen.Op("&").Id("s").Dot(v.field))
	if v.field == "" { // the record itself
		p = jen.Qual("unsafe", "Pointer").Call(jen.Id("s"))
	}
	if v.at == 0 {
		return p
	}
	return jen.Qual("unsafe", "Add").Call(p, jen.Lit(int(v.at)))
}

// bytes is a slice of n of the bytes, of a field that is a byte array.
func (v view) bytes(n int64) *jen.Statement {
	return jen.Parens(jen.Op("*").Index(jen.Lit(int(n))).Byte()).Parens(v.pointer()).Index(jen.Empty(), jen.Empty())
}
