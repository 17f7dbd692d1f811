package abi

import (
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// maxSize is more bytes than any record has.
const maxSize = 1 << 40

var targetWord = regexp.MustCompile(`^[a-z0-9]*$`)

// check makes sure that the facts are of a schema that this code understands,
// and that what everything else relies on is there and can be so: names are
// names, and sizes are sizes.
func (f *Facts) check() error {
	if f.Schema != Schema {
		return fmt.Errorf("schema is %q, this generator understands %q and %q", f.Schema, Schema, SetSchema)
	}
	for _, word := range []string{f.GOOS, f.GOARCH, f.Libc} {
		if !targetWord.MatchString(word) {
			return fmt.Errorf("%q is no part of a target", word)
		}
	}
	return errors.Join(f.checkRecords(), f.checkEnums(), f.checkMacros(), f.checkFunctions(), f.checkReleases())
}

func (f *Facts) checkRecords() error {
	for _, r := range f.Records {
		if r == nil {
			return errors.New("an empty record")
		}
		if err := checkRecord(r); err != nil {
			return fmt.Errorf("%s %s: %w", r.Kind, r.Name, err)
		}
	}
	return nil
}

func checkRecord(r *Record) error {
	if r.Kind != Struct && r.Kind != Union {
		return fmt.Errorf("%q is no kind of record", r.Kind)
	}
	if err := checkPlace(r.Name, r.Header); err != nil {
		return err
	}
	if !r.Opaque && !isAlign(r.Align) || r.Size < 0 || r.Size > maxSize {
		return fmt.Errorf("%d bytes aligned to %d cannot be", r.Size, r.Align)
	}
	for _, f := range r.Fields {
		if f == nil {
			return errors.New("an empty member")
		}
		if err := checkField(f); err != nil {
			return fmt.Errorf("member %s: %w", f.Name, err)
		}
	}
	return errors.Join(checkPlaces(r), checkFlat(r))
}

// checkPlaces refuses members that overlap or that end behind their record: what
// lacks an offset or a size reads as 0.
func checkPlaces(r *Record) error {
	end := int64(0) // of the members so far, in bits
	for _, f := range r.Fields {
		first, size := 8*f.Offset, 8*f.Size
		if f.BitSize != nil {
			first, size = *f.BitOffset, *f.BitSize
		}
		switch {
		case r.Kind == Union && first != 0, r.Kind == Struct && first < end:
			return fmt.Errorf("member %s: it cannot stand at bit %d of the %s", f.Name, first, r.Kind)
		case first+size > 8*r.Size:
			return fmt.Errorf("member %s: it ends behind the %d bytes of the %s", f.Name, r.Size, r.Kind)
		}
		end = first + size
	}
	return nil
}

// checkFlat refuses a flat list that says otherwise than the members. Facts may
// come without one.
func checkFlat(r *Record) error {
	want := Flatten(r)
	if len(r.Flat) == 0 {
		return nil
	}
	if len(r.Flat) != len(want) {
		return fmt.Errorf("the flat list has %d members, not %d", len(r.Flat), len(want))
	}
	for i, l := range r.Flat {
		if !reflect.DeepEqual(l, want[i]) {
			return fmt.Errorf("the flat list has %s otherwise than the member %s", l.Path, want[i].Path)
		}
	}
	return nil
}

func checkField(f *Field) error {
	switch {
	case (f.BitSize == nil) != (f.BitOffset == nil):
		return errors.New("half a bit-field")
	case f.BitSize != nil && (*f.BitSize < 1 || *f.BitSize > 64 || *f.BitOffset < 0 || *f.BitOffset > 8*maxSize):
		return fmt.Errorf("a bit-field of %d bits at bit %d cannot be", *f.BitSize, *f.BitOffset)
	case f.Offset < 0 || f.Size < 0 || f.Offset > maxSize || f.Size > maxSize:
		return fmt.Errorf("%d bytes at %d cannot be", f.Size, f.Offset)
	}
	if err := checkPlace(f.Name, ""); err != nil {
		return err
	}
	if err := checkType(f.Type); err != nil {
		return err
	}
	if f.Kind != f.Type.Kind || f.Name == "" && f.Type.Anon == nil {
		return fmt.Errorf("a member of kind %q cannot have the type %s", f.Kind, f.Type)
	}
	switch {
	case f.Flexible && (f.Size != 0 || f.Type.Kind != Array), !f.Flexible && f.Size != f.Type.Size:
		return fmt.Errorf("%d bytes cannot hold the type %s of %d", f.Size, f.Type, f.Type.Size)
	case f.BitOffset != nil && f.Offset != *f.BitOffset/8:
		return fmt.Errorf("bit %d is not in byte %d", *f.BitOffset, f.Offset)
	}
	return nil
}

func checkType(t *Type) error {
	if t == nil {
		return errors.New("no type (facts that another program measured may lack it)")
	}
	for _, inner := range append([]*Type{t.Elem, t.Result}, t.Params...) {
		if inner != nil {
			if err := checkType(inner); err != nil {
				return err
			}
		}
	}
	needsElem := t.Kind == Pointer || t.Kind == Array || t.Kind == FuncPtr
	switch {
	case needsElem && t.Elem == nil, t.Kind == Func && t.Result == nil, slices.Contains(t.Params, nil):
		return fmt.Errorf("half a type, %s", t.Kind)
	case strings.ContainsFunc(t.Name, func(r rune) bool { return r != ' ' && !isNameRune(r) }):
		return fmt.Errorf("%q is not the name of a type", t.Name)
	case !isAlign(t.Align), t.Size < 0, t.Len < 0, !hasNumberSize(t):
		return fmt.Errorf("%d bytes aligned to %d cannot be the %s %s", t.Size, t.Align, t.Kind, t.Name)
	case t.Anon != nil && !t.IsRecord():
		return fmt.Errorf("members of the %s %s", t.Kind, t.Name)
	case t.Kind == Array && !isTimes(t.Size, t.Len, t.Elem.Size):
		return fmt.Errorf("%d times %d bytes are not the %d of the array", t.Len, t.Elem.Size, t.Size)
	case t.Anon != nil && t.Anon.Size != t.Size:
		return fmt.Errorf("%d bytes of members in the %d of the %s", t.Anon.Size, t.Size, t.Kind)
	case t.Anon != nil:
		return checkRecord(t.Anon)
	}
	return nil
}

// isTimes reports whether a product that may be too large for 64 bits is size.
func isTimes(size, n, each int64) bool {
	high, low := bits.Mul64(uint64(n), uint64(each))
	return high == 0 && low == uint64(size)
}

// hasNumberSize reports whether a number has the size of one.
func hasNumberSize(t *Type) bool {
	switch t.Kind {
	case Bool, Char:
		return t.Size == 1
	case Int, Uint, EnumKind:
		return isNumberSize(t.Size)
	case Float, Pointer, FuncPtr:
		return t.Size == 4 || t.Size == 8
	}
	return true
}

func isNumberSize(size int64) bool { return size == 1 || size == 2 || size == 4 || size == 8 }

func isAlign(align int64) bool { return align > 0 && align&(align-1) == 0 }

func (f *Facts) checkEnums() error {
	for _, e := range f.Enums {
		if e == nil {
			return errors.New("an empty declaration")
		}
		if err := checkPlace(e.Name, e.Header); err != nil {
			return fmt.Errorf("enum %s: %w", e.Name, err)
		}
		if !isNumberSize(e.Size) || len(e.Enumerators) == 0 {
			return fmt.Errorf("enum %s: %d values of %d bytes cannot be", e.Name, len(e.Enumerators), e.Size)
		}
		for _, en := range e.Enumerators {
			if err := checkConstant(en.Name, e.Header, en.Value); err != nil {
				return fmt.Errorf("enum %s: %w", e.Name, err)
			}
		}
	}
	return nil
}

func (f *Facts) checkMacros() error {
	for _, m := range f.Macros {
		if m == nil {
			return errors.New("an empty declaration")
		}
		if err := checkConstant(m.Name, m.Header, m.Value); err != nil {
			return fmt.Errorf("macro %s: %w", m.Name, err)
		}
	}
	for _, a := range f.Aliases {
		if a == nil || a.Name == "" || a.Target == "" {
			return errors.New("an empty declaration")
		}
		if err := errors.Join(checkPlace(a.Name, a.Header), checkPlace(a.Target, "")); err != nil {
			return fmt.Errorf("alias %s: %w", a.Name, err)
		}
	}
	return nil
}

var decimal = regexp.MustCompile(`^-?[0-9]+$`)

func checkConstant(name, header, value string) error {
	if name == "" || !decimal.MatchString(value) {
		return fmt.Errorf("%q of the value %q", name, value)
	}
	return checkPlace(name, header)
}

func (f *Facts) checkFunctions() error {
	for _, fn := range f.Functions {
		if fn == nil {
			return errors.New("an empty declaration")
		}
		if fn.Result == nil {
			return fmt.Errorf("function %s: no result type", fn.Name)
		}
		if err := errors.Join(checkPlace(fn.Name, fn.Header), checkType(fn.Result)); err != nil {
			return fmt.Errorf("function %s: %w", fn.Name, err)
		}
		for _, p := range fn.Params {
			if err := checkType(p.Type); err != nil {
				return fmt.Errorf("function %s, parameter %s: %w", fn.Name, p.Name, err)
			}
		}
	}
	return nil
}

func (f *Facts) checkReleases() error {
	for what, release := range f.Since {
		if strings.ContainsFunc(release, unicode.IsControl) {
			return fmt.Errorf("%s: %q is no release", what, release)
		}
	}
	return nil
}

// checkPlace refuses names that C does not take. A comment of Go that quotes one
// could end in the middle of it.
func checkPlace(name, header string) error {
	if strings.ContainsFunc(name, func(r rune) bool { return !isNameRune(r) }) {
		return fmt.Errorf("%q is not a name", name)
	}
	if strings.ContainsFunc(header, unicode.IsControl) {
		return fmt.Errorf("%q is not a header", header)
	}
	return nil
}

func isNameRune(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
