package abi

import "slices"

// Own is the facts without what only the system's headers declare: of those it
// keeps the types that the other declarations need. A place in one of them is not
// kept but for its name, because it is a stub's, which says nothing of the system.
func (f *Facts) Own() *Facts {
	own := *f
	n := needs{types: map[typeName]bool{}, records: map[typeName]*Record{}}
	for _, r := range f.Records {
		n.records[typeName{r.Kind, r.Name, r.Typedef}] = r
	}
	for _, r := range f.shippedRecords() {
		n.record(r)
	}
	own.Functions = f.shippedFunctions()
	for _, fn := range own.Functions {
		n.typ(fn.Result)
		for _, p := range fn.Params {
			n.typ(p.Type)
		}
	}
	own.Records, own.Enums = []*Record{}, []*Enum{}
	for _, r := range f.Records {
		switch {
		case f.Ships(r.Header):
			own.Records = append(own.Records, r)
		case n.types[typeName{r.Kind, r.Name, r.Typedef}]:
			moved := *r
			moved.Line = 0
			own.Records = append(own.Records, &moved)
		}
	}
	for _, e := range f.Enums {
		switch {
		case f.Ships(e.Header):
			own.Enums = append(own.Enums, e)
		case e.Name != "" && n.types[typeName{EnumKind, e.Name, e.Typedef}]:
			moved := *e
			moved.Line = 0
			own.Enums = append(own.Enums, &moved)
		}
	}
	own.Macros, own.Aliases = f.shippedMacros(), f.shippedAliases()
	SortByPlace(own.Records)
	SortByPlace(own.Enums)
	// An empty list is one in a file, too.
	own.Macros = slices.Concat([]*Macro{}, own.Macros)
	own.Functions = slices.Concat([]*Function{}, own.Functions)
	return &own
}

// typeName is what tells one C type from another.
type typeName struct {
	kind      Kind
	name      string
	isTypedef bool
}

// needs collects the types that declarations are made of.
type needs struct {
	types   map[typeName]bool
	records map[typeName]*Record
}

func (n *needs) record(r *Record) {
	for _, f := range r.Fields {
		n.typ(f.Type)
	}
}

func (n *needs) typ(t *Type) {
	if t == nil {
		return
	}
	for _, inner := range t.Params {
		n.typ(inner)
	}
	n.typ(t.Result)
	n.typ(t.Elem)
	if t.Anon != nil {
		n.record(t.Anon)
	}
	key := typeName{t.Kind, t.Name, t.Typedef}
	if n.types[key] {
		return
	}
	n.types[key] = true
	if r := n.records[key]; r != nil {
		n.record(r)
	}
}
