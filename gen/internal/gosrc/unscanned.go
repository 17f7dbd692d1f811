package gosrc

import (
	"slices"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// overview is what all targets together say, of records by their keys.
type overview struct {
	unscanned map[string]bool
	sizes     map[string]int64 // -1 where they differ
	dropped
}

func overviewOf(targets []*abi.Facts) *overview {
	sizes := map[string]int64{}
	for _, f := range targets {
		for _, r := range f.Records {
			key := recordKey(r)
			if known, ok := sizes[key]; ok && known != r.Size {
				sizes[key] = -1
			} else {
				sizes[key] = r.Size
			}
		}
	}
	var prefixes dropped
	for _, f := range targets {
		for _, p := range f.Prefixes {
			if !slices.Contains(prefixes, p) {
				prefixes = append(prefixes, p)
			}
		}
	}
	return &overview{unscanned(targets), sizes, append(prefixes, verbsPrefix)}
}

// unscanned finds the records that are only bytes to Go's collector somewhere,
// by their keys: those that are members of a union, stand where Go would not
// put them, or follow the end of another record, and what these consist of. A
// typed store there would hand the collector whatever bits were there before,
// as the pointer that they are not. So pointers in these records are numbers,
// wherever else the records are used: C has one type, and so has Go, on every
// target.
func unscanned(targets []*abi.Facts) map[string]bool {
	found := map[string]bool{}
	for _, f := range targets {
		s := scanning{found: found, records: map[string]*abi.Record{}, pointer: f.PointerSize}
		for _, r := range f.Records {
			s.records[recordKey(r)] = r
		}
		for _, r := range f.Records {
			s.record(r, found[recordKey(r)])
		}
	}
	return found
}

// scanning is unscanned at work on one target.
type scanning struct {
	found   map[string]bool
	records map[string]*abi.Record
	pointer int64
}

// record looks through the members of a record, which is bytes or not.
func (s *scanning) record(r *abi.Record, bytes bool) { s.members(r, 0, r.Align, bytes) }

// members looks through what stands at base in a record with an alignment.
func (s *scanning) members(r *abi.Record, base, align int64, bytes bool) {
	for _, f := range r.Fields {
		if f.Type == nil {
			continue // of facts that make no sense
		}
		t, needs := f.Type, s.alignOf(f.Type)
		for t.Kind == abi.Array {
			t = t.Elem
		}
		own := needs > 0 && ((base+f.Offset)%needs != 0 || needs > align)
		inside := bytes || r.Kind == abi.Union || f.Size == 0 || own
		switch {
		case !t.IsRecord():
		case t.Anon != nil && f.Name == "" && r.Kind == abi.Struct && t.Kind == abi.Struct:
			s.members(t.Anon, base+f.Offset, align, inside)
		case t.Anon != nil:
			s.record(t.Anon, inside)
		case inside && !s.found[keyOf(t)]:
			s.found[keyOf(t)] = true
			if inner := s.records[keyOf(t)]; inner != nil {
				s.record(inner, true)
			}
		}
	}
}

// alignOf is the alignment that Go's version of a type has.
func (s *scanning) alignOf(t *abi.Type) int64 {
	for t.Kind == abi.Array {
		t = t.Elem
	}
	switch {
	case t.Anon != nil:
		return t.Anon.Align
	case !t.IsRecord():
		return min(t.Size, s.pointer)
	case s.records[keyOf(t)] != nil:
		return s.records[keyOf(t)].Align
	}
	return 0
}

// holdsPointers reports whether Go's version of a record would have pointers if
// it were scanned.
func (s *scope) holdsPointers(r *abi.Record) bool { return s.holds(r, map[*abi.Record]bool{}) }

func (s *scope) holds(r *abi.Record, seen map[*abi.Record]bool) bool {
	if r == nil || seen[r] {
		return false
	}
	seen[r] = true
	for _, f := range r.Fields {
		t := f.Type
		for t.Kind == abi.Array {
			t = t.Elem
		}
		if isPointer(t) || t.Anon != nil && s.holds(t.Anon, seen) || t.IsRecord() && s.holds(s.records[keyOf(t)], seen) {
			return true
		}
	}
	return false
}

// isPointer reports whether a type of C's is a pointer in Go, too.
func isPointer(t *abi.Type) bool {
	if t.Kind != abi.Pointer {
		return false
	}
	elem := t.Elem.Kind
	return elem != abi.Void && elem != abi.Func && elem != abi.Other
}
