package abi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Merge joins what is known of a target with what was read from headers, of an
// older or a newer release. Nothing known is taken away: what only the headers
// have is added, what has grown is taken in its larger form. The changes are
// what the headers added; there are none if they were covered already.
//
// Headers that contradict what is known are refused with a [ConflictError].
func Merge(known, read *Facts) (*Facts, []Change, error) {
	if known.Header != read.Header {
		return nil, nil, fmt.Errorf("what is known is of %s, not of %s", known.Header, read.Header)
	}
	forward, backward := Diff(known, read), Diff(read, known)
	if len(forward) == 0 {
		// The same release. It is taken as read: the lines may have moved.
		same := *read
		same.Records = slices.Clone(read.Records)
		for _, k := range known.Records {
			if i := slices.IndexFunc(same.Records, func(r *Record) bool { return r.id() == k.id() }); i >= 0 {
				same.Records[i] = respelled(k, same.Records[i])
			}
		}
		same.Version, same.Since, same.Prefixes = known.Version, known.Since, known.Prefixes
		return &same, nil, nil
	}
	older := choices(backward)
	var conflicts, added []Change
	for _, c := range forward {
		id := c.What + " " + c.Name
		switch {
		case !c.Breaking():
			added = append(added, c)
		case c.Kind == Removed:
		case c.What == "function" && calledAlike(known, read, c.Name):
		case older[id] == Grown:
			// The headers have the smaller form of what is known.
		default:
			conflicts = append(conflicts, c)
		}
	}
	if conflicts != nil {
		return nil, nil, &ConflictError{Target: read.Target(), Version: read.Version, Changes: conflicts}
	}
	if added == nil {
		return known, nil, nil
	}
	merged := *read
	merged.Headers = slices.Compact(slices.Sorted(slices.Values(slices.Concat(known.Headers, read.Headers))))
	merged.Records = join(known.Records, read.Records, func(k, r *Record) *Record {
		if older[r.id()] == Grown {
			return k
		}
		return respelled(k, r)
	})
	merged.Enums = join(known.Enums, read.Enums, joinEnums)
	merged.Macros = join(known.Macros, read.Macros, latest)
	merged.Aliases = join(known.Aliases, read.Aliases, latest)
	merged.Functions = join(known.Functions, read.Functions, func(k, r *Function) *Function {
		if k.Prototype() == r.Prototype() {
			return r
		}
		kept := *r // which differs in what is constant only
		kept.Result, kept.Params = k.Result, k.Params
		return &kept
	})
	if hasOwn(backward) {
		merged.Version = known.Version // neither contains the other
	}
	merged.Prefixes = known.Prefixes
	merged.Since = since(known.Since, added, read.Version)
	return &merged, added, nil
}

// hasOwn reports whether something exists on one side only, or is larger there.
func hasOwn(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return !c.Breaking() })
}

// choices tells by declaration how it changed.
func choices(changes []Change) map[string]ChangeKind {
	out := map[string]ChangeKind{}
	for _, c := range changes {
		out[c.What+" "+c.Name] = c.Kind
	}
	return out
}

// calledAlike reports whether a function's prototypes differ at most in what parameters
// point to being constant, which is nothing to its callers.
func calledAlike(known, read *Facts, name string) bool {
	named := func(f *Function) bool { return f.Name == name }
	i, j := slices.IndexFunc(known.Functions, named), slices.IndexFunc(read.Functions, named)
	if i < 0 || j < 0 {
		return false
	}
	k, r := known.Functions[i], read.Functions[j]
	return k.Kind == r.Kind && k.Variadic == r.Variadic && k.Result.Declare("") == r.Result.Declare("") &&
		slices.EqualFunc(k.Params, r.Params, func(a, b Parameter) bool { return withoutConst(a.Type) == withoutConst(b.Type) })
}

func withoutConst(t *Type) string {
	return strings.NewReplacer("const ", "", "*const", "*").Replace(t.Declare(""))
}

// respelled is a record as read, where room for later is as it is known: an array of one
// byte may be a byte elsewhere, and neither is to take the other's place.
func respelled(known, read *Record) *Record {
	was := leaves(known)
	if !slices.ContainsFunc(read.Flat, func(l Leaf) bool {
		return isSpare(l.Path) && was[l.Path].CType != l.CType && was[l.Path].place() == l.place()
	}) ||
		!read.Same(known) || !known.Same(read) {
		return read
	}
	kept := *read
	kept.Fields, kept.Flat = known.Fields, known.Flat
	return &kept
}

func latest[T any](_, read T) T { return read }

// join has the declarations of both sides, and of those that both have what
// pick takes.
func join[T declaration](known, read []T, pick func(known, read T) T) []T {
	old := map[string]T{}
	for _, v := range known {
		old[v.id()] = v
	}
	out := []T{}
	for _, v := range read {
		if k, both := old[v.id()]; both {
			v = pick(k, v)
			delete(old, v.id())
		}
		out = append(out, v)
	}
	for _, v := range known {
		if _, left := old[v.id()]; left {
			out = append(out, v)
		}
	}
	SortByPlace(out)
	return out
}

// joinEnums has the enumerators of both sides, those of the headers first.
func joinEnums(known, read *Enum) *Enum {
	out := *read
	out.Enumerators = slices.Clone(read.Enumerators)
	for _, e := range known.Enumerators {
		if !slices.ContainsFunc(read.Enumerators, func(r Enumerator) bool { return r.Name == e.Name }) {
			out.Enumerators = append(out.Enumerators, e)
		}
	}
	return &out
}

// since notes the release that brought each of the changes, by what
// [Facts.SinceOf] asks for.
func since(known map[string]string, added []Change, version string) map[string]string {
	out := maps.Clone(known)
	if version == "" {
		return out
	}
	if out == nil {
		out = map[string]string{}
	}
	for _, c := range added {
		if c.Kind == Added {
			out[c.What+" "+c.Name] = version
		}
		for _, member := range c.Members {
			out["member "+c.Name+"."+member] = version
		}
	}
	return out
}

// SinceOf is the release in which a declaration appeared, or "" where that is
// not known or was before the first release looked at. What is "struct",
// "union", "enum", "enumerator", "macro", "alias", "function", or "member" with
// the name of its record, a dot, and its path.
func (f *Facts) SinceOf(what, name string) string { return f.Since[what+" "+name] }

// ConflictError says that headers contradict what was known.
type ConflictError struct {
	Target  string
	Version string
	Changes []Change
}

func (e *ConflictError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the headers of %s contradict what is known of %s:", orUnknown(e.Version), e.Target)
	for _, c := range e.Changes {
		b.WriteString("\n  " + c.String())
	}
	return b.String()
}

func orUnknown(version string) string {
	if version == "" {
		return "an unknown release"
	}
	return "release " + version
}

// String is the change in one line, and its details on lines of their own.
func (c Change) String() string {
	s := fmt.Sprintf("%s: %s %s", c.Kind, c.What, c.Name)
	for _, d := range c.Details {
		s += "\n      " + d
	}
	return s
}
