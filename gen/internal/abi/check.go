package abi

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

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
	if !r.Opaque && !isAlign(r.Align) || r.Size < 0 {
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
	return nil
}

func checkField(f *Field) error {
	switch {
	case (f.BitSize == nil) != (f.BitOffset == nil):
		return errors.New("half a bit-field")
	case f.BitSize != nil && (*f.BitSize < 1 || *f.BitSize > 64 || *f.BitOffset < 0):
		return fmt.Errorf("a bit-field of %d bits at bit %d cannot be", *f.BitSize, *f.BitOffset)
	case f.Offset < 0 || f.Size < 0:
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
	case t.Anon != nil:
		return checkRecord(t.Anon)
	}
	return nil
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
