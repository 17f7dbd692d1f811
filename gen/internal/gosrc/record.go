package gosrc

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// writer collects the Go declarations of one target.
type writer struct {
	*scope
	calls    *calls // nil if no functions are called
	left     []LeftOut
	guessed  []string // functions: see Options
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
	members map[string]bool       // names of fields and methods
	bytes   bool                  // the collector does not see its pointers
	later   []func() error        // what gives way to the members, such as helpers
	slots   map[*abi.Field]string // the Go names of fields that are a function pointer
}

// record writes a record that has a name, and the untagged ones inside it.
func (w *writer) record(r *abi.Record) error {
	name := w.types[recordKey(r)]
	c := cName(r)
	size := ""
	if w.sizes[recordKey(r)] == r.Size { // on all targets
		size = fmt.Sprintf(", %d bytes", r.Size)
	}
	doc := typeDoc(name, fmt.Sprintf("C's %s of %s%s%s", c, r.Header, size, w.since(string(r.Kind), r.Name)), w.words.about(r.Name))
	return w.recordNamed(r, name, c, r.Name, placeOf(r), doc, w.unscanned[recordKey(r)])
}

func (w *writer) recordNamed(r *abi.Record, name, c, path, at, doc string, bytes bool) error {
	if r.Align > 0 && r.Size%r.Align != 0 { // a typedef's alignment that is above the record's
		return fmt.Errorf("%s: no Go type has %d bytes and is aligned to %d", at, r.Size, r.Align)
	}
	b := &body{w: w, goName: name, cName: c, path: path, at: at, size: r.Size, align: r.Align, natural: 1, members: map[string]bool{}, bytes: bytes, slots: map[*abi.Field]string{}}
	if err := b.fill(r); err != nil {
		return err
	}
	head := []jen.Code{jen.Id("_").Qual("structs", "HostLayout")}
	if w.isObject(r) {
		w.needs["noCopy"] = true
		head = append(head, jen.Id("_").Id("noCopy")) // first: behind the last field, Go would pad it
	}
	if b.align > b.natural {
		code, err := w.filler(b.align)
		if err != nil {
			return fmt.Errorf("%s: %w", b.at, err)
		}
		head = append(head, code)
	}
	code := []jen.Code{jen.Comment(doc), jen.Type().Id(name).Struct(append(head, b.fields...)...)}
	code = append(code, b.methods...)
	b.assert(jen.Qual("unsafe", "Sizeof").Call(jen.Id(name).Values()), r.Size)
	b.assert(jen.Qual("unsafe", "Alignof").Call(jen.Id(name).Values()), r.Align)
	w.add(name, code...)
	// Apart from the type, which may be the same where the numbers differ.
	w.add("layout of "+name, jen.Func().Id("_").Params().Block(b.asserts...))
	return nil
}

// assert makes the compiler refuse a constant that is not want: the index is
// out of range when it is greater, and not an index when it is smaller.
func (b *body) assert(constant jen.Code, want int64) {
	b.asserts = append(b.asserts, jen.Id("_").Op("=").Index(jen.Lit(1)).Struct().Values().Index(jen.Add(constant).Op("-").Lit(int(want))))
}

// fill lays out the members.
func (b *body) fill(r *abi.Record) error {
	members := func() error { return b.structMembers(r, 0) }
	if r.Kind == abi.Union {
		members = func() error { return b.fillUnion(r) }
	}
	if err := members(); err != nil {
		return err
	}
	for _, write := range b.later {
		if err := write(); err != nil {
			return err
		}
	}
	b.pad(b.size)
	return nil
}

// about is what a member means, to go on from its name.
func (b *body) about(f *abi.Field) string { return b.w.words.about(b.path + "." + f.Name) }

// aboutIt is what a member means as a sentence, with a space in front, or
// nothing.
func (b *body) aboutIt(f *abi.Field) string {
	if text := b.about(f); text != "" {
		return " It" + text
	}
	return ""
}

// sinceMember is the release that brought a member of a record that was there
// before.
func (b *body) sinceMember(f *abi.Field) string {
	return b.w.since("member", b.path+"."+f.Name)
}

// pad adds blank bytes up to an offset.
func (b *body) pad(offset int64) {
	if n := offset - b.cursor; n > 0 {
		b.fields = append(b.fields, jen.Id("_").Index(jen.Lit(int(n))).Byte())
		b.cursor = offset
	}
}

// take gives a field or a method of the Go struct its name, which is another
// than name, but for underscores at its end, if a member before it has that.
func (b *body) take(name string) string { return b.takeWith(name, "") }

// takeWith takes a name together with the one that has a prefix.
func (b *body) takeWith(name, prefix string) string {
	for b.members[name] || prefix != "" && b.members[prefix+name] {
		name += "_"
	}
	b.members[name] = true
	if prefix != "" {
		b.members[prefix+name] = true
	}
	return name
}

// where says which member it is, and where the header has it if that is known.
func (b *body) where(f *abi.Field) string {
	declaration := asDeclared(f.Type, f.Name)
	if f.Position != "" {
		return fmt.Sprintf("%s: %s in %s", f.Position, declaration, b.cName)
	}
	return fmt.Sprintf("%s: %s", b.at, declaration)
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
			err = b.flexible(f, view{at: base + f.Offset, align: b.align})
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
	if hidden(f.Name) || retired(f) {
		return nil // pad covers it
	}
	name := camel(f.Name)
	if align := b.w.alignOf(f.Type); align > 0 && (offset%align != 0 || align > b.align) {
		return b.misaligned(f, name, offset)
	}
	typ, err := b.memberType(f, name, b.bytes)
	if err != nil {
		return err
	}
	name = b.take(name)
	if f.Kind == abi.FuncPtr {
		b.slots[f] = name
	}
	b.pad(offset)
	if text := b.about(f); text != "" {
		b.fields = append(b.fields, jen.Line(), jen.Comment(name+text))
	}
	b.fields = append(b.fields, jen.Id(name).Add(typ.code).Comment(asDeclared(f.Type, f.Name)+b.sinceMember(f)))
	b.natural = max(b.natural, typ.align)
	b.cursor = offset + f.Size
	b.assert(jen.Qual("unsafe", "Offsetof").Call(jen.Id(b.goName).Values().Dot(name)), offset)
	b.later = append(b.later, func() error { return b.helpers(f, name) })
	return nil
}

// isObject reports whether a record is an object of the library: one that words
// say is, or what has such an object for its context.
func (s *scope) isObject(r *abi.Record) bool {
	for _, f := range r.Fields {
		if f.Name == "context" && f.Kind == abi.Pointer && s.words.object[f.Type.Elem.Name] {
			return true
		}
	}
	return s.words.object[r.Name]
}

// retired reports whether a member is the slot of a function that nobody calls
// any more. It keeps its room, and headers put an underscore before its name.
func retired(f *abi.Field) bool { return f.Kind == abi.FuncPtr && strings.HasPrefix(f.Name, "_") }

// memberType is the Go type of a member, and writes what only this member has:
// an untagged record, or the call of what it points to. The collector does not
// see the pointers of a member in bytes.
func (b *body) memberType(f *abi.Field, name string, bytes bool) (gotype, error) {
	path := b.goName + name
	at := b.where(f)
	inner, within := f.Type, bytes
	for inner.Kind == abi.Array || inner.Kind == abi.Pointer {
		within = within && inner.Kind == abi.Array // what is pointed to is memory of its own
		inner = inner.Elem
	}
	c := fmt.Sprintf("%s.%s", b.cName, f.Name)
	switch {
	case inner.Anon != nil:
		path = b.w.unique(path, c)
		doc := fmt.Sprintf("%s is the untagged %s at %s in C.%s", path, inner.Kind, c, b.aboutIt(f))
		if err := b.w.recordNamed(inner.Anon, path, c, b.path+"."+f.Name, at, doc, within); err != nil {
			return gotype{}, err
		}
	case inner.Kind == abi.FuncPtr:
		b.later = append(b.later, func() error { b.callMember(f, inner, path, at); return nil })
	}
	typ, err := b.w.goType(f.Type, path, at, bytes)
	if err != nil {
		return gotype{}, err
	}
	if tag := b.w.words.enum[b.path+"."+f.Name]; tag != "" {
		// A release that is older than the enumeration has the integer only.
		if e := b.w.enums[typeKey(abi.EnumKind, tag, false)]; e != nil {
			if e.Size != f.Size {
				return gotype{}, fmt.Errorf("%s: words give it the type enum %s, which is not of its size", at, tag)
			}
			typ.code = b.w.typeCode(enumKey(e))
		}
	}
	return typ, nil
}

// bitRun counts the bit-fields that stand together.
func bitRun(fields []*abi.Field) int {
	n := 0
	for n < len(fields) && fields[n].BitSize != nil {
		n++
	}
	return n
}
