package abi

import (
	"fmt"
	"slices"
	"strings"
)

// Kind of a change.
type ChangeKind string

// The kinds of changes. Programs built for the old facts live with what was
// added or has grown; the other kinds break them.
const (
	Added      ChangeKind = "added"
	Grown      ChangeKind = "grown"
	Renumbered ChangeKind = "renumbered"
	Changed    ChangeKind = "changed"
	Removed    ChangeKind = "removed"
)

// Change is one difference between two facts.
type Change struct {
	Kind ChangeKind `json:"change"`
	// What is the sort of declaration: struct, union, enum, enumerator, macro,
	// alias or function.
	What string `json:"what"`
	Name string `json:"name"`
	// Details are the differences inside the declaration, one a line.
	Details []string `json:"details,omitempty"`
	// Members are those that a record has gained, by path.
	Members []string `json:"members,omitempty"`
}

// Breaking reports whether what was made for the old facts is wrong by the new.
func (c Change) Breaking() bool { return c.Kind != Added && c.Kind != Grown }

// Diff lists what changed in the headers that RDMA software ships, in the order
// of the kinds and then of the names. What only moved inside a header, or has
// another name for a parameter, did not change.
func Diff(before, after *Facts) []Change {
	var d differ
	compare(&d, before.shippedRecords(), after.shippedRecords(), func(r *Record) (string, string) { return string(r.Kind), r.Name }, diffRecord)
	compare(&d, before.shippedEnums(), after.shippedEnums(), func(e *Enum) (string, string) { return "enum", e.Key() }, diffEnum)
	compare(&d, before.shippedMacros(), after.shippedMacros(), func(m *Macro) (string, string) { return "macro", m.Name }, diffMacro)
	compare(&d, before.shippedAliases(), after.shippedAliases(), func(a *Alias) (string, string) { return "alias", a.Name }, diffAlias)
	compare(&d, before.shippedFunctions(), after.shippedFunctions(), func(f *Function) (string, string) { return "function", f.Name }, diffFunction)
	order := []ChangeKind{Removed, Changed, Renumbered, Grown, Added}
	slices.SortStableFunc(d.changes, func(a, b Change) int {
		return slices.Index(order, a.Kind) - slices.Index(order, b.Kind)
	})
	return d.changes
}

// differ collects changes.
type differ struct{ changes []Change }

func (d *differ) add(kind ChangeKind, what, name string, details ...string) {
	d.changes = append(d.changes, Change{Kind: kind, What: what, Name: name, Details: details})
}

// compare pairs the declarations of one sort by name.
func compare[T any](d *differ, before, after []T, name func(T) (what, name string), diff func(d *differ, before, after T)) {
	type key struct{ what, name string }
	keyOf := func(v T) key { what, n := name(v); return key{what, n} }
	found := map[key]T{}
	for _, v := range after {
		found[keyOf(v)] = v
	}
	was := map[key]bool{}
	for _, v := range before {
		k := keyOf(v)
		was[k] = true
		if now, ok := found[k]; ok {
			diff(d, v, now)
		} else {
			d.add(Removed, k.what, k.name)
		}
	}
	for _, v := range after {
		if k := keyOf(v); !was[k] {
			d.add(Added, k.what, k.name)
		}
	}
}

func diffEnum(d *differ, before, after *Enum) {
	name := after.Key()
	if before.Size != after.Size || before.Signed != after.Signed {
		d.add(Changed, "enum", name, fmt.Sprintf("%s became %s", before.width(), after.width()))
	}
	compare(d, before.Enumerators, after.Enumerators, func(e Enumerator) (string, string) { return "enumerator", e.Name },
		func(d *differ, b, a Enumerator) {
			if a.Value != b.Value {
				d.add(Renumbered, "enumerator", a.Name, fmt.Sprintf("%s became %s", b.Value, a.Value))
			}
		})
}

// width is the enumeration's integer type, in words.
func (e *Enum) width() string {
	if e.Signed {
		return fmt.Sprintf("%d bits, signed", 8*e.Size)
	}
	return fmt.Sprintf("%d bits, unsigned", 8*e.Size)
}

func diffMacro(d *differ, before, after *Macro) {
	if before.Value != after.Value {
		d.add(Renumbered, "macro", after.Name, fmt.Sprintf("%s became %s", before.Value, after.Value))
	}
}

func diffAlias(d *differ, before, after *Alias) {
	if before.Target != after.Target {
		d.add(Changed, "alias", after.Name, fmt.Sprintf("%s became %s", before.Target, after.Target))
	}
}

func diffFunction(d *differ, before, after *Function) {
	var details []string
	if before.Kind != after.Kind {
		details = append(details, fmt.Sprintf("%s became %s", before.Kind, after.Kind))
	}
	if was, is := before.Prototype(), after.Prototype(); was != is {
		details = append(details, fmt.Sprintf("%s became %s", was, is))
	}
	if details != nil {
		d.add(Changed, "function", after.Name, details...)
	}
}

// Prototype is the function's declaration without its parameters' names.
func (f *Function) Prototype() string {
	t := &Type{Kind: Func, Result: f.Result, Variadic: f.Variadic}
	for _, p := range f.Params {
		t.Params = append(t.Params, p.Type)
	}
	return t.Declare(f.Name)
}

// Key names an enumeration: by its tag, or by its first enumerator.
func (e *Enum) Key() string {
	if e.Name == "" && len(e.Enumerators) > 0 {
		return "of " + e.Enumerators[0].Name
	}
	return e.Name
}

// Ships reports whether a header is among those that were asked for, rather
// than a system's.
func (f *Facts) Ships(header string) bool { return slices.Contains(f.Headers, header) }

func shipped[T any](f *Facts, all []T, header func(T) string) []T {
	var out []T
	for _, v := range all {
		if f.Ships(header(v)) {
			out = append(out, v)
		}
	}
	return out
}

func (f *Facts) shippedRecords() []*Record {
	return shipped(f, f.Records, func(r *Record) string { return r.Header })
}

func (f *Facts) shippedEnums() []*Enum {
	return shipped(f, f.Enums, func(e *Enum) string { return e.Header })
}

func (f *Facts) shippedMacros() []*Macro {
	return shipped(f, f.Macros, func(m *Macro) string { return m.Header })
}

func (f *Facts) shippedAliases() []*Alias {
	return shipped(f, f.Aliases, func(a *Alias) string { return a.Header })
}

func (f *Facts) shippedFunctions() []*Function {
	return shipped(f, f.Functions, func(x *Function) string { return x.Header })
}

// Target is what the facts hold for, as the generator's flags spell it.
func (f *Facts) Target() string { return strings.Join([]string{f.GOOS, f.GOARCH, f.Libc}, "/") }
