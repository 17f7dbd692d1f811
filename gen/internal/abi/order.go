package abi

import "maps"

// Newcomers numbers the names that were not known when a package was written first:
// 1 for those that the next headers brought, and so on. Where two names of C would be
// one in Go, the one that came first has it, in whatever order headers declare them.
// known are the facts of all targets as they were, and all as they are now.
func Newcomers(known, all []*Facts) map[string]int {
	if len(known) == 0 {
		return nil
	}
	old, order, latest := map[string]bool{}, maps.Clone(known[0].Order), 0
	for _, f := range known {
		f.eachName(func(id string) { old[id] = true })
	}
	for _, number := range order {
		latest = max(latest, number)
	}
	for _, f := range all {
		f.eachName(func(id string) {
			if old[id] {
				return
			}
			if order == nil {
				order = map[string]int{}
			}
			order[id] = latest + 1
			old[id] = true
		})
	}
	return order
}

// OrderOf is the number that Newcomers gave a declaration, or 0 for one that was there
// from the start. What is as in SinceOf; a member's name starts with C's for its record.
func (f *Facts) OrderOf(what, name string) int { return f.Order[what+" "+name] }

// eachName visits what Go has names for.
func (f *Facts) eachName(visit func(id string)) {
	for _, r := range f.Records {
		visit(r.id())
		r.eachMember(string(r.Kind)+" "+r.Name, visit)
	}
	for _, e := range f.Enums {
		visit(e.id())
		for _, en := range e.Enumerators {
			visit("enumerator " + en.Name)
		}
	}
	for _, m := range f.Macros {
		visit(m.id())
	}
	for _, a := range f.Aliases {
		visit(a.id())
	}
	for _, fn := range f.Functions {
		visit(fn.id())
	}
}

// eachMember visits the members whose types have names of their own in Go: untagged
// records, and pointers to functions.
func (r *Record) eachMember(path string, visit func(id string)) {
	for _, f := range r.Fields {
		t, place := f.Type, path
		for t.Kind == Array || t.Kind == Pointer {
			t = t.Elem
		}
		if f.Name != "" {
			place += "." + f.Name
		}
		if f.Name != "" && (t.Anon != nil || t.Kind == FuncPtr) {
			visit("member " + place)
		}
		if t.Anon != nil {
			t.Anon.eachMember(place, visit)
		}
	}
}
