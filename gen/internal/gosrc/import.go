package gosrc

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// Import is a generated package whose declarations another one uses, where C
// has them just so, rather than declare them again.
type Import struct {
	Path  string // by which Go imports it
	Name  string
	Facts []*abi.Facts // that it was generated from
}

// scope is the scope of the imported package on a target, or nil where it
// has none.
func (p *Import) scope(target *abi.Facts, words *words) (*scope, error) {
	if p == nil {
		return nil, nil
	}
	for _, f := range p.Facts {
		if f.Target() == target.Target() {
			return newScope(f, words, nil, overviewOf(p.Facts), true)
		}
	}
	return nil, nil
}

// others are the targets of systems that the imported package has files for and this
// one does not: that one may lack types there, and this one is to compile all the
// same. They get the facts of the first system's, for the same processor.
func (p *Import) others(targets []*abi.Facts) (more []*abi.Facts) {
	if p == nil {
		return nil
	}
	for _, theirs := range p.Facts {
		if slices.ContainsFunc(targets, func(f *abi.Facts) bool { return f.GOOS == theirs.GOOS }) {
			continue
		}
		stands := slices.IndexFunc(targets, func(f *abi.Facts) bool { return f.GOARCH == theirs.GOARCH && f.GOOS == targets[0].GOOS })
		if stands < 0 {
			continue
		}
		more = append(more, p.standIn(targets[stands], theirs))
	}
	return more
}

// standIn is a system's facts in place of another's. Types of the imported package
// that it lacks there can only be pointed to.
func (p *Import) standIn(facts, theirs *abi.Facts) *abi.Facts {
	has := map[string]bool{}
	for _, r := range theirs.Records {
		has[recordKey(r)] = true
	}
	out := *facts
	out.GOOS, out.Libc, out.StandIn = theirs.GOOS, theirs.Libc, true
	out.Records = slices.Clone(facts.Records)
	headers := p.headers()
	for i, r := range out.Records {
		if headers[r.Header] && !has[recordKey(r)] {
			out.Records[i] = opaque(r)
		}
	}
	return &out
}

// headers are those that the imported package is of, on any system.
func (p *Import) headers() map[string]bool {
	all := map[string]bool{}
	for _, f := range p.Facts {
		for _, h := range f.Headers {
			all[h] = true
		}
	}
	return all
}

// Redeclared is by Go name what a package declares although the imported one has a
// declaration of it.
type Redeclared struct {
	Otherwise []string // C has it otherwise for some of the targets, as in another release
	InUnion   []string // its pointers are numbers, because a union has it here and not there
}

// Redeclared finds what a package cannot take from the imported one.
// withCalls tells that it has functions.
func (p *Import) Redeclared(targets []*abi.Facts, withCalls bool) (Redeclared, error) {
	found := make([]Redeclared, len(targets))
	over := overviewOf(targets)
	err := each(len(targets), func(i int) error {
		table, err := parseWords(wordsText)
		if err != nil {
			return err
		}
		s, err := newScope(targets[i], table, p, over, withCalls)
		if err != nil {
			return err
		}
		found[i] = s.redeclared
		return nil
	})
	if err != nil {
		return Redeclared{}, fmt.Errorf("comparing with %s: %w", p.Path, err)
	}
	var all Redeclared
	for _, f := range found {
		all.Otherwise, all.InUnion = append(all.Otherwise, f.Otherwise...), append(all.InUnion, f.InUnion...)
	}
	for _, list := range []*[]string{&all.Otherwise, &all.InUnion} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return all, nil
}

// imports finds what is declared here and in the imported package alike. A record
// with pointers that is bytes to the collector here only is another Go type. Of
// what has grown since, pointers are to the imported package's, which has all of
// it; but what holds such a record itself is of the size that it has here. Where
// facts stand in for a system's, what the imported package has there is as good.
func (s *scope) imports(from *scope) {
	grown := map[string]bool{}
	for _, r := range s.facts.Records {
		key := recordKey(r)
		theirs := from.records[key]
		covered := theirs != nil && !theirs.Opaque && theirs.Covers(r) || s.theirs[r.Header]
		scanned := covered && theirs != nil && s.unscanned[key] && !from.unscanned[key] && from.holdsPointers(theirs)
		switch {
		case from.types[key] == "":
		case r.Opaque || covered && !scanned:
			s.imported[key] = from.types[key]
			grown[key] = !r.Opaque && (theirs == nil || !r.Same(theirs))
		case !s.shipped[r.Header]:
		case scanned:
			s.redeclared.InUnion = append(s.redeclared.InUnion, from.types[key])
		default:
			s.redeclared.Otherwise = append(s.redeclared.Otherwise, from.types[key])
		}
	}
	for _, key := range s.heldOf(grown) {
		s.redeclared.Otherwise = append(s.redeclared.Otherwise, from.types[key])
		delete(s.imported, key)
	}
	for key, name := range from.types {
		if s.records[key] == nil && s.enums[key] == nil {
			s.imported[key] = name // only pointers to it can be here
		}
	}
	enums := map[string]*abi.Enum{}
	for _, e := range from.emittedEnums() {
		enums[e.Key()] = e
	}
	for _, e := range s.facts.Enums {
		theirs := enums[e.Key()]
		switch {
		case theirs == nil || theirs.Typedef != e.Typedef:
			s.elsewhere[e] = s.theirs[e.Header]
		case theirs.Covers(e) || s.theirs[e.Header]:
			s.elsewhere[e] = true
			if e.Name != "" {
				s.imported[enumKey(e)] = from.types[enumKey(e)]
			}
		case !s.shipped[e.Header]:
		case e.Name != "":
			s.redeclared.Otherwise = append(s.redeclared.Otherwise, from.types[enumKey(e)])
		default:
			s.redeclared.Otherwise = append(s.redeclared.Otherwise, e.Enumerators[0].Name)
		}
	}
	values := map[string]string{}
	for _, m := range from.facts.Macros {
		if from.shipped[m.Header] {
			values[m.Name] = m.Value
		}
	}
	for _, m := range s.facts.Macros {
		switch value, ok := values[m.Name]; {
		case ok && value == m.Value || s.theirs[m.Header]:
			s.elsewhere[m] = true
		case ok && s.shipped[m.Header]:
			s.redeclared.Otherwise = append(s.redeclared.Otherwise, from.goName(m.Name))
		}
	}
}

// heldOf lists those of some imported records that records of this package hold
// themselves, rather than point to, or that one of the list holds.
func (s *scope) heldOf(some map[string]bool) (found []string) {
	var look func(r *abi.Record)
	look = func(r *abi.Record) {
		for _, f := range r.Fields {
			t := f.Type
			for t.Kind == abi.Array {
				t = t.Elem
			}
			switch key := keyOf(t); {
			case t.Anon != nil && t.IsRecord():
				look(t.Anon)
			case t.IsRecord() && some[key]:
				some[key] = false
				found = append(found, key)
				look(s.records[key])
			}
		}
	}
	for _, r := range s.facts.Records {
		if s.imported[recordKey(r)] == "" {
			look(r)
		}
	}
	return found
}

// typeName is the Go name of a C type, without the package that it is of.
func (s *scope) typeName(key string) string {
	if name := s.imported[key]; name != "" {
		return name
	}
	return s.types[key]
}

// typeCode is the Go name of a C type, as this package refers to it.
func (s *scope) typeCode(key string) *jen.Statement {
	if name := s.imported[key]; name != "" {
		return jen.Qual(s.path, name)
	}
	return jen.Id(s.types[key])
}

// supportCode is a type of the support that every package rests on.
func (s *scope) supportCode(name string) *jen.Statement {
	if s.path != "" {
		return jen.Qual(s.path, name)
	}
	return jen.Id(name)
}
