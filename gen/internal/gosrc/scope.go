package gosrc

import (
	"fmt"
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
	records map[string]*abi.Record // by kind and C name
	enums   map[string]*abi.Enum   // by C tag
	wanted  map[*abi.Record]bool   // records to write
	opaque  map[string]string      // kind and C name of undefined records, to Go name
	names   map[string]string      // Go name to the C declaration that has it
}

func newScope(f *abi.Facts, w *words) (*scope, error) {
	s := &scope{
		facts:   f,
		words:   w,
		shipped: map[string]bool{},
		alias:   map[string]string{},
		records: map[string]*abi.Record{},
		enums:   map[string]*abi.Enum{},
		wanted:  map[*abi.Record]bool{},
		opaque:  map[string]string{},
		names:   map[string]string{},
	}
	for _, h := range f.Headers {
		s.shipped[h] = true
	}
	for _, a := range f.Aliases {
		if s.alias[a.Target] == "" && s.shipped[a.Header] {
			s.alias[a.Target] = a.Name
		}
	}
	for _, r := range f.Records {
		s.records[recordKey(r.Kind, r.Name)] = r
	}
	for _, e := range f.Enums {
		s.enums[e.Name] = e
	}
	for _, r := range f.Records {
		if s.shipped[r.Header] && !r.Opaque {
			s.want(r)
		}
	}
	return s, s.claimAll()
}

func recordKey(k abi.Kind, name string) string { return string(k) + " " + name }

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

func (s *scope) wantType(t *abi.Type) {
	switch {
	case t == nil:
	case t.Anon != nil:
		for _, f := range t.Anon.Fields {
			s.wantType(f.Type)
		}
	case t.IsRecord():
		if r := s.records[recordKey(t.Kind, t.Name)]; r != nil && !r.Opaque {
			s.want(r)
		} else {
			s.opaque[recordKey(t.Kind, t.Name)] = s.name(t.Name)
		}
	case t.Kind != abi.FuncPtr: // a function's parameters are for its caller
		s.wantType(t.Elem)
	}
}

// name is the Go name of a C tag, typedef or enumerator, under the name by
// which its users know it.
func (s *scope) name(c string) string {
	if known := s.alias[c]; known != "" {
		c = known
	}
	return goName(c)
}

// typeName is name for a type that only a typedef may name: the suffix _t says
// nothing in Go.
func (s *scope) typeName(c string) string { return s.name(strings.TrimSuffix(c, "_t")) }

// claimAll gives every type its name and makes sure that no two are equal.
func (s *scope) claimAll() error {
	for _, r := range s.sortedRecords() {
		if err := s.claim(s.typeName(r.Name), fmt.Sprintf("%s %s (%s:%d)", r.Kind, r.Name, r.Header, r.Line)); err != nil {
			return err
		}
	}
	for _, e := range s.emittedEnums() {
		if e.Name == "" {
			continue
		}
		if err := s.claim(s.name(e.Name), fmt.Sprintf("enum %s (%s:%d)", e.Name, e.Header, e.Line)); err != nil {
			return err
		}
	}
	return nil
}

// claim takes a Go name for a C declaration.
func (s *scope) claim(goName, c string) error {
	if other, taken := s.names[goName]; taken && other != c {
		return fmt.Errorf("%s and %s would both be %s in Go", other, c, goName)
	}
	s.names[goName] = c
	return nil
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
		if s.shipped[e.Header] {
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

// constantNames gives the Go names of an enumeration's values. Where one would
// be a type's name, all of them take the enumeration's own name in front
// instead of C's common prefix, and an underscore if even that is a type's.
// Without an enumeration's name, one keeps C's spelling.
func (s *scope) constantNames(e *abi.Enum) []string {
	spellings := []func(c string) string{s.name}
	if e.Name != "" {
		prefix := commonPrefix(e.Enumerators)
		for _, joint := range []string{"", "_"} {
			spellings = append(spellings, func(c string) string {
				return s.name(e.Name) + joint + camel(strings.TrimPrefix(c, prefix))
			})
		}
	}
	var out []string
	for _, spell := range spellings {
		out = nil
		clash := false
		for _, en := range e.Enumerators {
			name := spell(en.Name)
			_, taken := s.names[name]
			clash = clash || taken
			out = append(out, name)
		}
		if !clash {
			break
		}
	}
	if e.Name == "" {
		for i, en := range e.Enumerators {
			out[i] = s.free(out[i], strings.TrimLeft(en.Name, "_"))
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
