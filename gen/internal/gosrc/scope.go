package gosrc

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// scope knows what one target's facts declare and how Go names it.
type scope struct {
	facts   *abi.Facts
	words   *words
	shipped map[string]bool        // headers that the user asked for
	alias   map[string]string      // C name to the one that a macro gives it
	records map[string]*abi.Record // by typeKey
	enums   map[string]*abi.Enum   // by typeKey
	wanted  map[*abi.Record]bool   // records to write
	opaque  map[string]string      // C name of undefined records, by typeKey
	types   map[string]string      // typeKey to Go name
	names   map[string]string      // Go name to the C declaration that has it

	constants map[constant]string // Go names of enumerators,
	macros    map[string]string   // of macros,
	called    map[string]string   // and of functions, by C's
	spellings map[*abi.Enum][]func(c string) string

	*overview // of all targets

	path       string            // of the imported package, if there is one
	imported   map[string]string // typeKey to the name that the imported package has for it
	elsewhere  map[any]bool      // enumerations and macros that the imported package has
	redeclared Redeclared
	// theirs are the imported package's headers, where facts stand in for a system's:
	// of their types, only those are declared that the package's own need.
	theirs map[string]bool
}

// constant is an enumerator.
type constant struct {
	of *abi.Enum
	c  string
}

// newScope names what the facts declare, one target of several. from is a package that may
// have some of it already, or nil.
func newScope(f *abi.Facts, w *words, from *Import, over *overview, withCalls bool) (*scope, error) {
	if f.PointerSize != 4 && f.PointerSize != 8 {
		return nil, fmt.Errorf("pointers of %d bytes", f.PointerSize)
	}
	s := &scope{
		facts:   f,
		words:   w,
		shipped: map[string]bool{},
		alias:   map[string]string{},
		records: map[string]*abi.Record{},
		enums:   map[string]*abi.Enum{},
		wanted:  map[*abi.Record]bool{},
		opaque:  map[string]string{},
		types:   map[string]string{},
		names:   map[string]string{},

		constants: map[constant]string{},
		macros:    map[string]string{},
		called:    map[string]string{},
		spellings: map[*abi.Enum][]func(c string) string{},

		overview:  over,
		imported:  map[string]string{},
		elsewhere: map[any]bool{},
	}
	for _, h := range f.Headers {
		s.shipped[h] = true
	}
	for _, a := range f.Aliases {
		age := f.OrderOf("alias", a.Name)
		if other := s.alias[a.Target]; s.shipped[a.Header] && age <= s.ageOf(a.Target) && (other == "" || age < f.OrderOf("alias", other)) {
			s.alias[a.Target] = a.Name
		}
	}
	for _, r := range f.Records {
		s.records[recordKey(r)] = r
	}
	for _, e := range f.Enums {
		s.enums[enumKey(e)] = e
	}
	if theirs, err := from.scope(f, w); err != nil {
		return nil, err
	} else if theirs != nil {
		s.path = from.Path
		if f.StandIn {
			s.theirs = from.headers()
		}
		s.imports(theirs)
	}
	for _, r := range f.Records {
		if s.shipped[r.Header] && !r.Opaque && s.imported[recordKey(r)] == "" && !s.theirs[r.Header] {
			s.want(r)
		}
	}
	if withCalls {
		s.wantCalled()
	}
	s.nameAll()
	return s, nil
}

// typeKey tells types apart as C does: a tag from a typedef's name.
func typeKey(k abi.Kind, name string, isTypedef bool) string {
	if isTypedef {
		return name
	}
	return string(k) + " " + name
}

func recordKey(r *abi.Record) string { return typeKey(r.Kind, r.Name, r.Typedef) }
func enumKey(e *abi.Enum) string     { return typeKey(abi.EnumKind, e.Name, e.Typedef) }
func keyOf(t *abi.Type) string       { return typeKey(t.Kind, t.Name, t.Typedef) }

// want marks a record, and all that it is made of, to be written.
func (s *scope) want(r *abi.Record) {
	if s.wanted[r] {
		return
	}
	s.wanted[r] = true
	for _, f := range r.Fields {
		s.wantType(f.Type)
	}
}

// wantCalled marks the types that functions need, so that Go can call them.
func (s *scope) wantCalled() {
	for _, f := range s.functions() {
		s.wantSignature(f.Result)
		for _, p := range f.Params {
			s.wantSignature(p.Type)
		}
	}
	for before := -1; before < len(s.wanted); { // what is wanted may have such members, too
		before = len(s.wanted)
		for _, r := range s.sortedRecords() {
			s.wantMembers(r)
		}
	}
}

// wantMembers marks the types that the functions need which members point to.
func (s *scope) wantMembers(r *abi.Record) {
	for _, f := range r.Fields {
		t := f.Type
		for t != nil && (t.Kind == abi.Array || t.Kind == abi.Pointer) {
			t = t.Elem
		}
		switch {
		case t == nil || retired(f):
		case t.Anon != nil:
			s.wantMembers(t.Anon)
		case t.Kind == abi.FuncPtr && t.Elem.Kind == abi.Func:
			s.wantSignature(t.Elem.Result)
			for _, p := range t.Elem.Params {
				s.wantSignature(p)
			}
		}
	}
}

// wantSignature marks what a parameter or a result points to.
func (s *scope) wantSignature(t *abi.Type) {
	if t != nil && !t.IsRecord() { // those by value are not called
		s.wantType(t)
	}
}

func (s *scope) wantType(t *abi.Type) {
	switch {
	case t == nil:
	case t.Anon != nil:
		for _, f := range t.Anon.Fields {
			s.wantType(f.Type)
		}
	case s.imported[keyOf(t)] != "":
	case t.IsRecord():
		if r := s.records[keyOf(t)]; r != nil && !r.Opaque {
			s.want(r)
		} else {
			s.opaque[keyOf(t)] = t.Name
		}
	case t.Kind != abi.FuncPtr: // a function's parameters are for its caller
		s.wantType(t.Elem)
	}
}

// name is the Go name of a C tag, typedef or enumerator, under the name by
// which its users know it.
func (s *scope) name(c string) string { return s.goName(s.known(c)) }

// known is the C name by which users know a tag, a typedef or an enumerator.
func (s *scope) known(c string) string {
	if alias := s.alias[c]; alias != "" {
		return alias
	}
	return c
}

// ageOf is which headers brought a tag or an enumerator: see abi.Newcomers.
func (s *scope) ageOf(c string) (age int) {
	for _, what := range []string{"struct", "union", "enum", "enumerator"} {
		age = max(age, s.facts.OrderOf(what, c))
	}
	return age
}

// nameAll gives everything its Go name. The names of a package stay: what newer
// headers brought takes none that was there before, as another type's, a constant's
// or a function's.
func (s *scope) nameAll() {
	for _, name := range []string{"BE16", "BE32", "BE64", "Ptr", "FuncPtr"} {
		s.names[name], s.names["To"+name] = "the support", "the support"
	}
	latest := 0
	for _, age := range s.facts.Order {
		latest = max(latest, age)
	}
	for age := range latest + 1 {
		s.nameTypes(age)
		s.nameConstants(age)
		s.nameFunctions(age)
		if age == latest {
			break
		}
		for _, r := range s.sortedRecords() { // some have views, which get their names last
			c := string(r.Kind) + " " + r.Name
			if name := s.types[recordKey(r)]; name != "" && s.names[name+"At"] == "" {
				s.names[name+"At"] = viewOf("C's " + c)
			}
		}
	}
}

// candidate is a C name that is to get a Go name.
type candidate struct{ c, key, where string }

// inOrder sorts candidates by who has the better claim to a Go name, whatever the order
// in the header: the header's own, by its prefixes, come before another library's, and
// those without the library's prefix. C's names with underscores in front come last.
func (s *scope) inOrder(all []candidate) []candidate {
	underscores := func(c string) int { return len(c) - len(strings.TrimLeft(c, "_")) }
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(s.dropped.rank(a.c)-s.dropped.rank(b.c), underscores(a.c)-underscores(b.c), strings.Compare(a.c, b.c))
	})
	return all
}

// nameTypes names the types of an age. What is named by its place comes first: no tag
// takes its name. The suffix _t of a typedef says nothing in Go.
func (s *scope) nameTypes(age int) {
	for _, r := range s.sortedRecords() {
		s.reserve(r, s.name(typeWord(r.Name, r.Typedef)), cName(r), string(r.Kind)+" "+r.Name, age, s.facts.OrderOf(string(r.Kind), r.Name))
	}
	var all []candidate
	for _, r := range s.sortedRecords() {
		if s.facts.OrderOf(string(r.Kind), r.Name) == age {
			all = append(all, candidate{typeWord(r.Name, r.Typedef), recordKey(r), fmt.Sprintf(" (%s:%d)", r.Header, r.Line)})
		}
	}
	for _, e := range s.emittedEnums() {
		if e.Name != "" && s.facts.OrderOf("enum", e.Name) == age {
			all = append(all, candidate{typeWord(e.Name, e.Typedef), enumKey(e), fmt.Sprintf(" (%s:%d)", e.Header, e.Line)})
		}
	}
	for _, key := range sortedKeys(s.opaque) {
		if s.ageOf(s.opaque[key]) == age {
			all = append(all, candidate{s.opaque[key], key, ""})
		}
	}
	for _, t := range s.inOrder(all) {
		if own := ofTheCLibrary[t.key]; own != "" && s.opaque[t.key] != "" {
			s.types[t.key] = s.unique(own, t.key)
			continue
		}
		s.types[t.key] = s.unique(s.free(s.name(t.c), camel(s.known(t.c))), t.key+t.where)
	}
}

// ofTheCLibrary are types whose tags nobody but the C libraries uses, and C's name of
// each: glibc and musl have the same tags, FreeBSD others.
var ofTheCLibrary = map[string]string{
	"struct _IO_FILE": "FILE", "struct __sFILE": "FILE",
	"struct __dirstream": "DIR", "struct _dirdesc": "DIR",
}

// nameConstants names the enumerators and the macros of an age.
func (s *scope) nameConstants(age int) {
	enums := s.emittedEnums()
	slices.SortStableFunc(enums, func(a, b *abi.Enum) int { return strings.Compare(a.Key(), b.Key()) })
	for _, e := range enums {
		var some []abi.Enumerator
		for _, en := range e.Enumerators {
			if s.facts.OrderOf("enumerator", en.Name) == age {
				some = append(some, en)
			}
		}
		for i, name := range s.constantNames(e, some) {
			s.constants[constant{e, some[i].Name}] = s.unique(name, fmt.Sprintf("%s (%s:%d)", some[i].Name, e.Header, e.Line))
		}
	}
	var all []candidate
	for _, m := range s.emittedMacros() {
		if s.facts.OrderOf("macro", m.Name) == age {
			all = append(all, candidate{m.Name, m.Name, fmt.Sprintf(" (%s:%d)", m.Header, m.Line)})
		}
	}
	for _, m := range s.inOrder(all) {
		s.macros[m.c] = s.unique(s.free(s.goName(m.c), spelled(m.c)), "macro "+m.c+m.where)
	}
}

// nameFunctions names the functions of an age. They keep their names while nothing
// calls them, for a library may be named later.
func (s *scope) nameFunctions(age int) {
	var all []candidate
	for _, f := range s.functions() {
		if s.facts.OrderOf("function", f.Name) == age {
			all = append(all, candidate{c: f.Name})
		}
	}
	for _, f := range s.inOrder(all) {
		s.called[f.c] = s.unique(s.free(s.goName(f.c), camel(f.c)), "function "+f.c)
	}
}

// typeWord is the C name of a type without what says that it is a type.
func typeWord(c string, isTypedef bool) string {
	if isTypedef {
		return strings.TrimSuffix(c, "_t")
	}
	return c
}

// cName is how C refers to a record.
func cName(r *abi.Record) string {
	if r.Typedef {
		return r.Name
	}
	return string(r.Kind) + " " + r.Name
}

// reserve keeps the Go names of what only its place in a record names: untagged
// records, and calls of what members point to. Those of an age have their turn.
func (s *scope) reserve(r *abi.Record, goName, c, id string, age, oldest int) {
	for _, f := range r.Fields {
		inner := f.Type
		for inner.Kind == abi.Array || inner.Kind == abi.Pointer {
			inner = inner.Elem
		}
		path, place, own := goName+camel(f.Name), c+"."+f.Name, id+"."+f.Name
		came := max(oldest, s.facts.OrderOf("member", own))
		switch {
		case hidden(f.Name) || came > age:
		case f.Name == "" && inner.Anon != nil:
			s.reserve(inner.Anon, goName, c, id, age, oldest)
		case inner.Anon != nil:
			s.reserve(inner.Anon, s.unique(path, place), place, own, age, came)
		case inner.Kind == abi.FuncPtr:
			s.unique(callOf(path), place)
		}
	}
}

// unique takes a Go name for a C declaration, or one that only adds
// underscores if another declaration has it.
func (s *scope) unique(goName, c string) string {
	for {
		if other, taken := s.names[goName]; !taken || other == c {
			s.names[goName] = c
			return goName
		}
		goName += "_"
	}
}

// free is the first of two Go names, or the second if another declaration has
// the first: C tells a tag from an enumerator and a macro, Go does not.
func (s *scope) free(first, second string) string {
	if _, taken := s.names[first]; taken {
		return second
	}
	return first
}

// sortedRecords lists the records to write, in the order of the headers.
func (s *scope) sortedRecords() []*abi.Record {
	var out []*abi.Record
	for _, r := range s.facts.Records {
		if s.wanted[r] {
			out = append(out, r)
		}
	}
	return out
}

// emittedEnums lists the enumerations to write: those of the headers asked for.
func (s *scope) emittedEnums() []*abi.Enum {
	var out []*abi.Enum
	for _, e := range s.facts.Enums {
		if s.shipped[e.Header] && !s.elsewhere[e] {
			out = append(out, e)
		}
	}
	return out
}

// isFlags reports whether most of an enumeration's values are spelled as bits.
func isFlags(e *abi.Enum) bool {
	bits := 0
	for _, en := range e.Enumerators {
		if en.Bit {
			bits++
		}
	}
	return 2*bits > len(e.Enumerators)
}

// emittedMacros lists the macros to write.
func (s *scope) emittedMacros() []*abi.Macro {
	other := map[string]bool{} // what has the name in Go already
	for target, alias := range s.alias {
		other[alias] = alias != target
	}
	for _, e := range s.emittedEnums() { // repeated, so that #ifdef can ask for it
		for _, en := range e.Enumerators {
			other[en.Name] = true
		}
	}
	var out []*abi.Macro
	for _, m := range s.facts.Macros {
		if s.shipped[m.Header] && !s.elsewhere[m] && !other[m.Name] {
			out = append(out, m)
		}
	}
	return out
}

// constantNames gives the Go names of some of an enumeration's values. Where one would
// be a type's name, all of them take the enumeration's own name in front
// instead of C's common prefix, and an underscore if even that is a type's.
// Without an enumeration's name, one keeps C's spelling. What newer headers add is
// spelled as the first ones are, if it can be.
func (s *scope) constantNames(e *abi.Enum, some []abi.Enumerator) []string {
	if len(some) == 0 {
		return nil
	}
	spellings := s.spellings[e]
	if spellings == nil {
		spellings = []func(c string) string{s.name}
		if e.Name != "" {
			prefix := commonPrefix(some)
			for _, joint := range []string{"", "_"} {
				spellings = append(spellings, func(c string) string {
					return s.types[enumKey(e)] + joint + camel(strings.TrimPrefix(c, prefix))
				})
			}
		}
	}
	var out []string
	for i, spell := range spellings {
		out = nil
		clash := false
		for _, en := range some {
			name := spell(en.Name)
			_, taken := s.names[name]
			clash = clash || taken
			out = append(out, name)
		}
		if s.spellings[e] == nil && (!clash || i == len(spellings)-1) {
			s.spellings[e] = spellings[i:]
		}
		if !clash {
			break
		}
	}
	if e.Name == "" {
		for i, en := range some {
			out[i] = s.free(out[i], spelled(en.Name))
		}
	}
	return out
}

// commonPrefix is the longest run of whole words that all names start with,
// at least one word short of the shortest name.
func commonPrefix(es []abi.Enumerator) string {
	prefix := es[0].Name[:strings.LastIndex(es[0].Name, "_")+1]
	for _, e := range es {
		for !strings.HasPrefix(e.Name, prefix) {
			cut := strings.LastIndex(strings.TrimSuffix(prefix, "_"), "_")
			prefix = prefix[:cut+1]
		}
	}
	return prefix
}

// value parses a decimal value of either sign.
func value(text string) (v uint64, negative bool, err error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return uint64(i), i < 0, nil
	}
	v, err = strconv.ParseUint(text, 10, 64)
	return v, false, err
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
