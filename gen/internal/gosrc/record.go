package gosrc

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// writer collects the Go declarations of one target.
type writer struct {
	*scope
	decls    []decl
	viewable map[string]bool // Go types that are found at addresses
	needs    map[string]bool // parts of the support that are used
}

// decl is one declaration with all that belongs to it. Declarations of several
// targets with the same key are alternatives.
type decl struct {
	key  string
	code []jen.Code
}

func (w *writer) add(key string, code ...jen.Code) { w.decls = append(w.decls, decl{key, code}) }

// body is a Go struct in the making: C's record laid out with Go's fields.
type body struct {
	w       *writer
	goName  string
	cName   string // "struct ibv_recv_wr"
	path    string // "ibv_recv_wr", what words are looked up by
	at      string // where it stands, for errors
	size    int64
	align   int64
	cursor  int64
	natural int64 // the alignment that Go gives the fields so far
	fields  []jen.Code
	methods []jen.Code
	asserts []jen.Code
	members map[string]bool // names of fields and methods
}

// record writes a record that has a name, and the untagged ones inside it.
func (w *writer) record(r *abi.Record) error {
	name := w.typeName(r.Name)
	c := fmt.Sprintf("%s %s", r.Kind, r.Name)
	if r.Typedef {
		c = r.Name
	}
	doc := typeDoc(name, fmt.Sprintf("C's %s of %s, %d bytes%s", c, r.Header, r.Size, w.since(string(r.Kind), r.Name)), w.words.about(r.Name))
	return w.recordNamed(r, name, c, r.Name, fmt.Sprintf("%s:%d: %s", r.Header, r.Line, c), doc)
}

func (w *writer) recordNamed(r *abi.Record, name, c, path, at, doc string) error {
	b := &body{w: w, goName: name, cName: c, path: path, at: at, size: r.Size, align: r.Align, natural: 1, members: map[string]bool{}}
	b.fields = append(b.fields, jen.Id("_").Qual("structs", "HostLayout"))
	if err := b.fill(r); err != nil {
		return err
	}
	code := []jen.Code{jen.Comment(doc), jen.Type().Id(name).Struct(b.fields...)}
	code = append(code, b.methods...)
	b.assert(jen.Qual("unsafe", "Sizeof").Call(jen.Id(name).Values()), r.Size)
	b.assert(jen.Qual("unsafe", "Alignof").Call(jen.Id(name).Values()), r.Align)
	code = append(code, jen.Line(), jen.Func().Id("_").Params().Block(b.asserts...))
	w.add(name, code...)
	return nil
}

// assert makes the compiler refuse a constant that is not want: the index is
// out of range when it is greater, and not an index when it is smaller.
func (b *body) assert(constant jen.Code, want int64) {
	b.asserts = append(b.asserts, jen.Id("_").Op("=").Index(jen.Lit(1)).Struct().Values().Index(jen.Add(constant).Op("-").Lit(int(want))))
}

// fill lays out the members.
func (b *body) fill(r *abi.Record) error {
	if r.Kind == abi.Union {
		return b.fillUnion(r)
	}
	if err := b.alignAs(b.align, r); err != nil {
		return err
	}
	if err := b.structMembers(r, 0); err != nil {
		return err
	}
	b.pad(b.size)
	return nil
}

// sinceMember is the release that brought a member of a record that was there
// before.
func (b *body) sinceMember(f *abi.Field) string {
	return b.w.since("member", b.path+"."+f.Name)
}

// alignAs gives the Go struct C's alignment where its fields would not.
func (b *body) alignAs(align int64, r *abi.Record) error {
	natural := int64(1)
	for _, f := range r.Fields {
		if f.BitSize == nil && f.Size > 0 && !hidden(f.Name) && f.Offset%f.Align == 0 && f.Align <= align {
			natural = max(natural, f.Align)
		}
	}
	if align <= natural {
		return nil
	}
	code, err := filler(align)
	if err != nil {
		return fmt.Errorf("%s: %w", b.at, err)
	}
	b.fields = append(b.fields, code)
	return nil
}

// pad adds blank bytes up to an offset.
func (b *body) pad(offset int64) {
	if n := offset - b.cursor; n > 0 {
		b.fields = append(b.fields, jen.Id("_").Index(jen.Lit(int(n))).Byte())
		b.cursor = offset
	}
}

// take claims a name for a field or a method of the Go struct.
func (b *body) take(name string) error {
	if b.members[name] {
		return fmt.Errorf("%s: two members would both be %s in Go", b.at, name)
	}
	b.members[name] = true
	return nil
}

// structMembers lays out the members of a struct that starts at base.
func (b *body) structMembers(r *abi.Record, base int64) error {
	for i := 0; i < len(r.Fields); i++ {
		f := r.Fields[i]
		var err error
		switch {
		case f.BitSize != nil:
			n := bitRun(r.Fields[i:])
			err = b.bits(r.Fields[i:i+n], base, b.size)
			i += n - 1
		case f.Name == "" && f.Kind == abi.Struct:
			err = b.structMembers(f.Type.Anon, base+f.Offset)
		case f.Name == "" && f.Kind == abi.Union:
			err = b.unnamedUnion(f, base+f.Offset)
		case f.Size == 0:
			err = b.flexible(f, base+f.Offset)
		default:
			err = b.field(f, base+f.Offset)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// field lays out an ordinary member.
func (b *body) field(f *abi.Field, offset int64) error {
	if hidden(f.Name) {
		return nil // pad covers it
	}
	name := camel(f.Name)
	typ, err := b.memberType(f, name)
	if err != nil {
		return err
	}
	if offset%typ.align != 0 || typ.align > b.align {
		return b.misaligned(f, name, typ, offset)
	}
	if err := b.take(name); err != nil {
		return err
	}
	b.pad(offset)
	if text := b.w.words.about(b.path + "." + f.Name); text != "" {
		b.fields = append(b.fields, jen.Line(), jen.Comment(text[1:]))
	}
	b.fields = append(b.fields, jen.Id(name).Add(typ.code).Comment(f.Type.Declare(f.Name)+b.sinceMember(f)))
	b.cursor = offset + f.Size
	b.assert(jen.Qual("unsafe", "Offsetof").Call(jen.Id(b.goName).Values().Dot(name)), offset)
	return b.helpers(f, name)
}

// memberType is the Go type of a member, and writes the types that only this
// member has: untagged records and the functions that it may point to.
func (b *body) memberType(f *abi.Field, name string) (gotype, error) {
	path := b.w.free(b.goName+name, b.goName+"_"+name)
	at := b.at + "." + f.Name
	inner := f.Type
	for inner.Kind == abi.Array || inner.Kind == abi.Pointer && inner.Elem.Kind != abi.Func {
		inner = inner.Elem
	}
	switch {
	case inner.Anon != nil && f.Kind != abi.Pointer:
		c := fmt.Sprintf("%s.%s", b.cName, f.Name)
		doc := fmt.Sprintf("%s is the untagged %s at %s in C, %d bytes.%s", path, inner.Kind, c, inner.Size, b.w.words.about(b.path+"."+f.Name))
		if err := b.w.claim(path, c); err != nil {
			return gotype{}, err
		}
		if err := b.w.recordNamed(inner.Anon, path, c, b.path+"."+f.Name, at, doc); err != nil {
			return gotype{}, err
		}
	case inner.Kind == abi.FuncPtr:
		if err := b.w.funcType(path+"Func", f, inner, b.cName); err != nil {
			return gotype{}, err
		}
	}
	typ, err := b.w.goType(f.Type, path, at)
	if err != nil {
		return gotype{}, err
	}
	if tag := b.w.words.enum[b.path+"."+f.Name]; tag != "" {
		// A release that is older than the enumeration has the integer only.
		if e := b.w.enums[tag]; e != nil {
			if e.Size != f.Size {
				return gotype{}, fmt.Errorf("%s: words give it the type enum %s, which is not of its size", at, tag)
			}
			typ.code = jen.Id(b.w.name(tag))
		}
	}
	return typ, nil
}

// funcType writes the type of a slot that holds a C function's address.
func (w *writer) funcType(name string, f *abi.Field, t *abi.Type, in string) error {
	if err := w.claim(name, in+"."+f.Name); err != nil {
		return err
	}
	w.add(name,
		jen.Comment(fmt.Sprintf("%s is the address of a C function, or 0: the type of %s in %s, in C %s.", name, f.Name, in, t.Declare(f.Name))),
		jen.Type().Id(name).Uintptr())
	return nil
}

// bitRun counts the bit-fields that stand together.
func bitRun(fields []*abi.Field) int {
	n := 0
	for n < len(fields) && fields[n].BitSize != nil {
		n++
	}
	return n
}
