package abi

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Write writes the facts as indented JSON.
func (f *Facts) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(f); err != nil {
		return fmt.Errorf("writing facts: %w", err)
	}
	return nil
}

// Read reads facts and checks that they are of a schema that it understands.
func Read(r io.Reader) (*Facts, error) {
	var f Facts
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return nil, fmt.Errorf("reading facts: %w", err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("reading facts: %w", err)
	}
	return &f, nil
}

// check makes sure that the facts are of a schema that this code understands,
// and that what everything else relies on is there.
func (f *Facts) check() error {
	if f.Schema != Schema {
		return fmt.Errorf("schema is %q, this generator understands %q and %q", f.Schema, Schema, SetSchema)
	}
	for _, r := range f.Records {
		if r == nil {
			return fmt.Errorf("an empty record")
		}
		if err := checkFields(r); err != nil {
			return fmt.Errorf("%s %s: %w", r.Kind, r.Name, err)
		}
	}
	if slices.Contains(f.Enums, nil) || slices.Contains(f.Macros, nil) || slices.Contains(f.Aliases, nil) || slices.Contains(f.Functions, nil) {
		return fmt.Errorf("an empty declaration")
	}
	for _, fn := range f.Functions {
		if fn.Result == nil {
			return fmt.Errorf("function %s: no result type", fn.Name)
		}
		if err := checkType(fn.Result); err != nil {
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

func checkFields(r *Record) error {
	for _, f := range r.Fields {
		if f == nil {
			return fmt.Errorf("an empty member")
		}
		if (f.BitSize == nil) != (f.BitOffset == nil) {
			return fmt.Errorf("member %s: half a bit-field", f.Name)
		}
		if err := checkType(f.Type); err != nil {
			return fmt.Errorf("member %s: %w", f.Name, err)
		}
	}
	return nil
}

func checkType(t *Type) error {
	if t == nil {
		return fmt.Errorf("no type (facts that another program measured may lack it)")
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
	case t.Anon != nil:
		return checkFields(t.Anon)
	}
	return nil
}
