package abi

import (
	"fmt"
	"strings"
)

// Kind classifies C types by what Go has to make of them.
type Kind string

// The kinds of C types.
const (
	Void     Kind = "void"
	Bool     Kind = "bool"
	Char     Kind = "char"
	Int      Kind = "int"
	Uint     Kind = "uint"
	Float    Kind = "float"
	EnumKind Kind = "enum"
	Struct   Kind = "struct"
	Union    Kind = "union"
	Array    Kind = "array"
	Pointer  Kind = "pointer"
	FuncPtr  Kind = "funcptr"
	Func     Kind = "func"
	// Other is a type that Go cannot express, long double for one.
	Other Kind = "other"
)

// Type is a C type.
type Type struct {
	Kind  Kind  `json:"kind"`
	Size  int64 `json:"size"`
	Align int64 `json:"align"`
	// Name is how C spells it: a typedef's name, a tag, or a keyword.
	Name string `json:"name,omitempty"`
	// Typedef tells that Name is a typedef's name rather than a tag.
	Typedef bool `json:"typedef,omitempty"`
	Const   bool `json:"const,omitempty"`
	// Signed tells that an enumeration or a plain char has negative values,
	// which the kind of these two does not say.
	Signed bool `json:"signed,omitempty"`
	// Elem is what an array holds or a pointer points to.
	Elem *Type `json:"elem,omitempty"`
	// Len is the length of an array; a flexible one has 0.
	Len int64 `json:"len,omitempty"`
	// Anon is the definition of an untagged record or enumeration.
	Anon *Record `json:"anon,omitempty"`
	// Result and Params are those of a function.
	Result   *Type   `json:"result,omitempty"`
	Params   []*Type `json:"params,omitempty"`
	Variadic bool    `json:"variadic,omitempty"`
}

// IsRecord reports whether t is a struct or a union.
func (t *Type) IsRecord() bool { return t.Kind == Struct || t.Kind == Union }

// String is the type as C writes it.
func (t *Type) String() string { return strings.TrimSpace(t.Declare("")) }

// Declare is the C declaration of name with type t.
func (t *Type) Declare(name string) string {
	switch t.Kind {
	case Pointer:
		return t.Elem.Declare(pointerDeclarator(t.Elem, name, t.Const))
	case FuncPtr:
		return t.Elem.Declare("(*" + name + ")")
	case Array:
		length := ""
		if t.Len > 0 {
			length = fmt.Sprint(t.Len)
		}
		return t.Elem.Declare(name + "[" + length + "]")
	case Func:
		params := make([]string, 0, len(t.Params))
		for _, p := range t.Params {
			params = append(params, p.String())
		}
		if t.Variadic {
			params = append(params, "...")
		}
		if len(params) == 0 {
			params = append(params, "void")
		}
		return t.Result.Declare(name + "(" + strings.Join(params, ", ") + ")")
	}
	base := t.Name
	switch {
	case base == "" && t.IsRecord(), base == "" && t.Kind == EnumKind:
		base = string(t.Kind) + " {...}"
	case (t.IsRecord() || t.Kind == EnumKind) && !t.Typedef:
		base = string(t.Kind) + " " + base
	}
	if t.Const {
		base = "const " + base
	}
	if name == "" {
		return base
	}
	return base + " " + name
}

// pointerDeclarator puts the star, with the parentheses that a pointer to an
// array needs.
func pointerDeclarator(elem *Type, name string, isConst bool) string {
	d := "*" + name
	if isConst {
		d = strings.TrimRight("*const "+name, " ")
	}
	if elem.Kind == Array || elem.Kind == Func {
		return "(" + d + ")"
	}
	return d
}
