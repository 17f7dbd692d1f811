package gosrc

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// gotype is a Go type and what Go makes of it in memory.
type gotype struct {
	code        jen.Code
	size, align int64
}

// goType is the Go type of a C type. path names an untagged type, and at says
// where it stands, should it have no counterpart in Go. In bytes, a pointer is a
// number.
func (s *scope) goType(t *abi.Type, path, at string, bytes bool) (gotype, error) {
	fixed := func(code jen.Code) (gotype, error) { return gotype{code, t.Size, s.goAlign(t.Size)}, nil }
	switch t.Kind {
	case abi.Bool:
		return fixed(jen.Bool())
	case abi.Char:
		return fixed(jen.Byte())
	case abi.Int, abi.Uint:
		if be := bigEndian(t); be != "" {
			return fixed(s.supportCode(be))
		}
		name := fmt.Sprintf("%s%d", t.Kind, 8*t.Size)
		return fixed(jen.Id(name))
	case abi.Float:
		return fixed(jen.Id(fmt.Sprintf("float%d", 8*t.Size)))
	case abi.EnumKind:
		return s.enumType(t)
	case abi.Pointer:
		if s.byPointer(t) {
			return fixed(s.typeCode(keyOf(t.Elem)))
		}
		elem, err := s.pointee(t.Elem, path, at)
		switch {
		case err != nil:
			return gotype{}, err
		case !isPointer(t):
			return fixed(jen.Uintptr())
		case bytes:
			return fixed(s.supportCode("Ptr").Types(elem))
		}
		return fixed(jen.Op("*").Add(elem))
	case abi.FuncPtr:
		return fixed(s.supportCode("FuncPtr"))
	case abi.Array:
		elem, err := s.goType(t.Elem, path, at, bytes)
		if err != nil {
			return gotype{}, err
		}
		return gotype{jen.Index(jen.Lit(int(t.Len))).Add(elem.code), t.Len * elem.size, elem.align}, nil
	case abi.Struct, abi.Union:
		align, err := s.recordAlign(t, at)
		if err != nil {
			return gotype{}, err
		}
		if t.Anon == nil {
			return gotype{s.typeCode(keyOf(t)), t.Size, align}, nil
		}
		return gotype{jen.Id(path), t.Size, align}, nil
	}
	return gotype{}, fmt.Errorf("%s: the type %s has no counterpart in Go", at, t)
}

// byPointer reports whether a pointer is the C library's own type, of which users
// need the room only.
func (s *scope) byPointer(t *abi.Type) bool {
	return t.Kind == abi.Pointer && t.Elem.IsRecord() && s.words.pointer[t.Elem.Name] && s.opaque[keyOf(t.Elem)] != ""
}

// recordAlign is the alignment that Go's version of a record has, which is C's.
func (s *scope) recordAlign(t *abi.Type, at string) (int64, error) {
	r := t.Anon
	if r == nil {
		r = s.records[keyOf(t)]
	}
	if r == nil || r.Opaque {
		return 0, fmt.Errorf("%s: Go has no definition of %s", at, t)
	}
	return r.Align, nil
}

func (s *scope) enumType(t *abi.Type) (gotype, error) {
	size, align := t.Size, s.goAlign(t.Size)
	if t.Name != "" && s.typeName(keyOf(t)) != "" {
		return gotype{s.typeCode(keyOf(t)), size, align}, nil
	}
	kind := "uint"
	if t.Signed {
		kind = "int"
	}
	return gotype{jen.Id(fmt.Sprintf("%s%d", kind, 8*size)), size, align}, nil
}

// pointee is the Go type of what a pointer points to, if it is one in Go: a void
// pointer carries an address or the user's own number, so it must not be a
// pointer to the collector.
func (s *scope) pointee(elem *abi.Type, path, at string) (jen.Code, error) {
	switch {
	case elem.Kind == abi.Void, elem.Kind == abi.Func, elem.Kind == abi.Other:
		return nil, nil
	case elem.IsRecord() && elem.Anon == nil:
		return s.typeCode(keyOf(elem)), nil
	}
	inner, err := s.goType(elem, path, at, false)
	return inner.code, err
}

// goAlign is the alignment that Go gives a number of a size.
func (s *scope) goAlign(size int64) int64 { return min(size, s.facts.PointerSize) }

// bigEndian is the type for an integer that the kernel's typedefs declare to be
// in network byte order.
func bigEndian(t *abi.Type) string {
	name := strings.TrimPrefix(t.Name, "__aligned_")
	name = strings.TrimPrefix(name, "__")
	if t.Typedef && name == fmt.Sprintf("be%d", 8*t.Size) {
		return strings.ToUpper(name)
	}
	return ""
}

// filler is a zero-sized field that gives a struct an alignment.
func (s *scope) filler(align int64) (jen.Code, error) {
	if align == 2 || align == 4 || align == 8 && s.facts.PointerSize == 8 {
		return jen.Id("_").Index(jen.Lit(0)).Id(fmt.Sprintf("uint%d", 8*align)), nil
	}
	return nil, fmt.Errorf("an alignment of %d cannot be had in Go", align)
}

// alignOf is the alignment of a type in Go, or 0 for one that Go does not have.
func (s *scope) alignOf(t *abi.Type) int64 {
	return (&scanning{records: s.records, pointer: s.facts.PointerSize}).alignOf(t)
}
