package gosrc

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// misaligned lays out a member of a packed record that stands where Go would
// not put its type: as bytes, with accessors that copy.
func (b *body) misaligned(f *abi.Field, name string, offset int64) error {
	typ, err := b.memberType(f, name, true)
	if err != nil {
		return err
	}
	raw := b.take(unexported(name) + "Bytes")
	b.pad(offset)
	b.fields = append(b.fields, jen.Id(raw).Index(jen.Lit(int(f.Size))).Byte().Comment(asDeclared(f.Type, f.Name)+", not aligned: see the methods"))
	b.cursor = offset + f.Size
	b.assert(jen.Qual("unsafe", "Offsetof").Call(jen.Id(b.goName).Values().Dot(raw)), offset)
	return b.valueView(f, name, typ, view{field: raw, align: 1}, false)
}

// flexible writes the accessor of an array that has no length in the record:
// Go would pad a trailing one, so it gets no field.
func (b *body) flexible(f *abi.Field, v view) error {
	if f.Kind != abi.Array || hidden(f.Name) {
		return nil // an empty record takes no room and holds nothing
	}
	name := camel(f.Name)
	elem, err := b.elemType(f, name)
	if err != nil {
		return err
	}
	if v.at%elem.align != 0 || elem.align > v.align {
		b.flexiblePointer(f, name, v)
		return nil
	}
	return b.flexibleMethod(f, name, elem, v.pointer())
}

// flexiblePointer writes the accessor of an array whose elements stand where Go
// cannot have them.
func (b *body) flexiblePointer(f *abi.Field, name string, v view) {
	name = b.take(name)
	b.methods = append(b.methods,
		jen.Comment(fmt.Sprintf("%s is where the member %s starts, which has no length in C. Its elements are not aligned as Go needs it: copy their bytes.%s",
			name, asDeclared(f.Type, f.Name), b.aboutIt(f))),
		jen.Func().Params(b.receiver()).Id(name).Params().Qual("unsafe", "Pointer").Block(jen.Return(v.pointer())))
}

// elemType is the type of what an array of unknown length holds. No Go type has
// room for it, so it is C's memory or bytes.
func (b *body) elemType(f *abi.Field, name string) (gotype, error) {
	one := *f
	one.Type, one.Kind = f.Type.Elem, f.Type.Elem.Kind
	return b.memberType(&one, name, true)
}

func (b *body) flexibleMethod(f *abi.Field, name string, elem gotype, start *jen.Statement) error {
	name = b.take(name)
	b.methods = append(b.methods,
		jen.Comment(fmt.Sprintf("%s views n elements of the member %s, which has no length in C: the caller knows that n of them are there.%s",
			name, asDeclared(f.Type, f.Name), b.aboutIt(f))),
		jen.Func().Params(b.receiver()).Id(name).Params(jen.Id("n").Int()).Index().Add(elem.code).Block(
			jen.Comment("Safe as far as the caller is right about n; the place is aligned as C has it."),
			jen.Return(jen.Qual("unsafe", "Slice").Call(jen.Parens(jen.Op("*").Add(elem.code)).Parens(start), jen.Id("n")))))
	return nil
}

// helpers writes what makes lists usable: the walk along next pointers, and
// the slice of a pointer with its count.
func (b *body) helpers(f *abi.Field, name string) error {
	value := jen.Id("s").Dot(name)
	next := jen.Id("e").Dot(name)
	if b.bytes {
		value, next = value.Dot("Get").Call(), next.Dot("Get").Call()
	}
	pointee := f.Kind == abi.Pointer && f.Type.Elem.Kind == abi.Struct && f.Type.Elem.Anon == nil
	if pointee && f.Name == "next" && "struct "+f.Type.Elem.Name == b.cName {
		all := b.take("All")
		b.methods = append(b.methods,
			jen.Comment(fmt.Sprintf("%s walks the list that starts at s, without copying, up to a nil %s.", all, name)),
			jen.Func().Params(b.receiver()).Id(all).Params().Qual("iter", "Seq").Types(jen.Op("*").Id(b.goName)).Block(
				jen.Return(jen.Func().Params(jen.Id("yield").Func().Params(jen.Op("*").Id(b.goName)).Bool()).Block(
					jen.For(jen.Id("e").Op(":=").Id("s"), jen.Id("e").Op("!=").Nil().Op("&&").Id("yield").Call(jen.Id("e")), jen.Id("e").Op("=").Add(next)).Block()))))
		b.w.viewable[b.goName] = true
	}
	count := b.w.words.counted[b.path+"."+f.Name]
	if count == "" {
		return nil
	}
	if !pointee {
		return fmt.Errorf("%s: words count it, but it does not point to a struct", b.where(f))
	}
	key := keyOf(f.Type.Elem)
	elem := b.w.typeName(key)
	method := b.take(elem + "s")
	b.methods = append(b.methods,
		jen.Comment(fmt.Sprintf("%s views the %s elements of %s as a slice, without copying. It is nil when there are none.", method, camel(count), name)),
		jen.Func().Params(b.receiver()).Id(method).Params().Index().Add(b.w.typeCode(key)).Block(
			jen.If(value.Clone().Op("==").Nil().Op("||").Id("s").Dot(camel(count)).Op("<=").Lit(0)).Block(jen.Return(jen.Nil())),
			jen.Comment("Safe as far as the struct is right about itself, which C relies on too."),
			jen.Return(jen.Qual("unsafe", "Slice").Call(value, jen.Id("s").Dot(camel(count))))))
	b.w.viewable[elem] = b.w.imported[key] == ""
	return nil
}

// viewOf is what has the name of a view.
func viewOf(c string) string { return "the view of " + c }

// viewAt writes the function that sees memory at an address as a record. It is
// not inlined: Go 1.26's compiler for amd64 gives up on a copy from a pointer
// that it has seen as an integer.
func (w *writer) viewAt(name, c string) {
	at := w.unique(name+"At", viewOf(c))
	w.add(at,
		jen.Comment(fmt.Sprintf("%s views the memory at address as %s. The memory must hold one, and must not be in the Go heap unless a pointer keeps it there.", at, c)),
		jen.Comment("//go:noinline"),
		jen.Func().Id(at).Params(jen.Id("address").Uintptr()).Op("*").Id(name).Block(
			jen.Comment("Safe as far as the caller is right: an address of C's becomes the pointer that it is."),
			jen.Return(jen.Op("*").Parens(jen.Op("**").Id(name)).Parens(jen.Qual("unsafe", "Pointer").Call(jen.Op("&").Id("address"))))))
}
