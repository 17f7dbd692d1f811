package cheader

import (
	"regexp"

	"modernc.org/cc/v4"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// typ describes a C type. at is where an error would point to.
func (r *reader) typ(t cc.Type, at cc.Node) *abi.Type {
	size, align := r.sizeAlign(t)
	out := &abi.Type{Size: size, Align: align, Const: t.Attributes().IsConst()}
	if d := t.Typedef(); d != nil {
		out.Name, out.Typedef = d.Name(), true
	}
	if out.Typedef && !isRecord(t) && r.out[nameKey(out.Name)] {
		out.Kind, out.Size, out.Align = abi.Other, 0, 1 // of which there are only pointers
		return out
	}
	switch t := t.(type) {
	case *cc.PointerType:
		r.pointer(out, t, at)
	case *cc.ArrayType:
		out.Kind, out.Len = abi.Array, max(t.Len(), 0)
		out.Elem = r.typ(t.Elem(), at)
		out.Name, out.Typedef = "", false
		r.arrayFits(t, at)
		r.arrayAlign(t, at)
	case *cc.StructType:
		r.recordType(out, t, at)
	case *cc.UnionType:
		r.recordType(out, t, at)
	case *cc.EnumType:
		out.Kind, out.Signed = abi.EnumKind, hasNegative(t)
		out.Name, out.Typedef = r.enumName(t)
	case *cc.FunctionType:
		r.funcType(out, t, at)
	default:
		r.scalar(out, t, at)
	}
	return out
}

// arrayFits refuses arrays whose elements cannot follow one another, for their
// alignment is above their size.
func (r *reader) arrayFits(t *cc.ArrayType, at cc.Node) {
	for {
		if size, align := r.sizeAlign(t.Elem()); size%align != 0 {
			r.failf(at, "an array of %s: %d bytes aligned to %d cannot follow one another", t.Elem(), size, align)
			return
		}
		inner, ok := t.Elem().(*cc.ArrayType)
		if !ok {
			return
		}
		t = inner
	}
}

// arrayAlign does not follow arrays whose elements have an alignment that compilers may
// not heed: gcc forgets that of a typedef when another typedef makes it const or
// volatile.
func (r *reader) arrayAlign(t *cc.ArrayType, at cc.Node) {
	var elem cc.Type = t
	qualified := false
	for {
		qualified = qualified || elem.Attributes().IsConst() || elem.Attributes().IsVolatile()
		a, ok := elem.(*cc.ArrayType)
		if !ok {
			break
		}
		elem = a.Elem()
	}
	if _, align := r.sizeAlign(elem); qualified && align != r.naturalAlign(elem) {
		r.cannot(at, "an array of %s, which is const or volatile: compilers do not heed its alignment; leave out the one or the other", elem)
	}
}

func (r *reader) pointer(out *abi.Type, t *cc.PointerType, at cc.Node) {
	out.Kind = abi.Pointer
	out.Elem = r.typ(t.Elem(), at)
	if out.Elem.Kind == abi.Func {
		out.Kind = abi.FuncPtr
	}
	out.Name, out.Typedef = "", false
}

func (r *reader) recordType(out *abi.Type, t fielded, at cc.Node) {
	out.Kind = recordKind(t)
	nameByTag(out, tagOf(t))
	if out.Name == "" && !t.IsIncomplete() {
		out.Anon = r.record(t, at)
	}
}

// nameByTag names a type by its tag if it has one: a typedef's name is only
// another word for it.
func nameByTag(out *abi.Type, tag string) {
	if tag != "" {
		out.Name, out.Typedef = tag, false
	}
}

func (r *reader) funcType(out *abi.Type, t *cc.FunctionType, at cc.Node) {
	out.Kind, out.Name, out.Typedef = abi.Func, "", false
	out.Size, out.Align = 0, 1
	out.Result = r.typ(t.Result(), at)
	out.Variadic = t.IsVariadic()
	for _, p := range t.Parameters() {
		if p.Type().Kind() == cc.Void {
			continue // (void)
		}
		out.Params = append(out.Params, r.typ(p.Type(), at))
	}
}

// byteOrder is the kernel's typedef for a byte order that a typedef stands for,
// or else the typedef itself: it is all that tells one from any other integer.
func (r *reader) byteOrder(typedef string) string {
	seen := map[string]bool{}
	for name := typedef; name != "" && !seen[name]; name = r.bases[name] {
		if kernelOrder.MatchString(name) {
			return name
		}
		seen[name] = true
	}
	return typedef
}

var kernelOrder = regexp.MustCompile(`^__(be|le)(16|32|64)$`)

func (r *reader) scalar(out *abi.Type, t cc.Type, at cc.Node) {
	switch k := t.Kind(); {
	case k == cc.Void:
		out.Kind, out.Size, out.Align = abi.Void, 0, 1
	case k == cc.Bool:
		out.Kind = abi.Bool
	case k == cc.Char:
		out.Kind, out.Signed = abi.Char, cc.IsSignedInteger(t)
	case k == cc.Float, k == cc.Double:
		out.Kind = abi.Float
	case cc.IsIntegerType(t) && t.Size() <= 8:
		out.Kind = abi.Uint
		if cc.IsSignedInteger(t) {
			out.Kind = abi.Int
		}
	default:
		out.Kind = abi.Other
	}
	if out.Typedef {
		out.Name = r.byteOrder(out.Name)
	} else {
		out.Name = t.Kind().String()
		if out.Kind == abi.Uint && t.Kind() == cc.UInt {
			out.Name = "unsigned int"
		}
	}
	if t.VectorSize() > 0 {
		out.Kind = abi.Other
	}
}
