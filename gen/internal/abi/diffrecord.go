package abi

import (
	"fmt"
	"regexp"
	"strings"
)

// diffRecord tells how a record changed. It has grown, which is no break, when
// all old members are where they were, counted from the front or, as with
// verbs_context, all from the end; room kept for later may be used up.
func diffRecord(d *differ, before, after *Record) {
	what, name := string(after.Kind), after.Name
	switch {
	case before.Opaque && after.Opaque:
		return
	case before.Opaque:
		d.add(Grown, what, name, "was declared only, is defined now")
		return
	case after.Opaque:
		d.add(Changed, what, name, "was defined, is declared only")
		return
	}
	shift := frontGrowth(before, after)
	broken, grown, members := leafChanges(before, after, shift)
	if before.Align != after.Align {
		broken = append(broken, fmt.Sprintf("alignment %d became %d", before.Align, after.Align))
	}
	if after.Size < before.Size {
		broken = append(broken, fmt.Sprintf("size %d became %d", before.Size, after.Size))
	} else if after.Size > before.Size {
		grown = append([]string{fmt.Sprintf("size %d became %d", before.Size, after.Size)}, grown...)
	}
	switch {
	case broken != nil:
		d.add(Changed, what, name, append(broken, grown...)...)
	case grown != nil:
		d.changes = append(d.changes, Change{Kind: Grown, What: what, Name: name, Details: grown, Members: members})
	}
}

// frontGrowth is by how much all members moved because the record grew at its
// front, or 0.
func frontGrowth(before, after *Record) int64 {
	shift := after.Size - before.Size
	if shift <= 0 || before.Kind != Struct || len(before.Flat) == 0 {
		return 0
	}
	now := leaves(after)
	for _, l := range before.Flat {
		if n, ok := now[l.Path]; !ok || n.Offset != l.Offset+shift {
			return 0
		}
	}
	return shift
}

func leaves(r *Record) map[string]Leaf {
	out := map[string]Leaf{}
	for _, l := range r.Flat {
		out[l.Path] = l
	}
	return out
}

// leafChanges compares the members one by one.
func leafChanges(before, after *Record, shift int64) (broken, grown, members []string) {
	was, now := leaves(before), leaves(after)
	for _, b := range before.Flat {
		a, ok := now[b.Path]
		b.Offset += shift
		switch {
		case !ok && isSpare(b.Path):
			grown = append(grown, fmt.Sprintf("%s at %d is in use now", b.Path, b.Offset))
		case !ok:
			broken = append(broken, fmt.Sprintf("%s at %d is gone", b.Path, b.Offset))
		case isSpare(b.Path) && b.place() != a.place():
			grown = append(grown, fmt.Sprintf("%s %s became %s", b.Path, b.place(), a.place()))
		case b.place() != a.place():
			broken = append(broken, fmt.Sprintf("%s %s became %s", b.Path, b.place(), a.place()))
		case b.CType != a.CType && !isSpare(b.Path):
			broken = append(broken, fmt.Sprintf("%s was %s, is %s", b.Path, b.CType, a.CType))
		}
	}
	for _, a := range after.Flat {
		if _, ok := was[a.Path]; !ok {
			grown = append(grown, fmt.Sprintf("%s at %d is new", a.Path, a.Offset))
			members = append(members, a.Path)
		}
	}
	return broken, grown, members
}

// place is where a member stands, in words.
func (l Leaf) place() string {
	if l.BitSize != nil {
		return fmt.Sprintf("(%d bits at bit %d)", *l.BitSize, *l.BitOffset)
	}
	return fmt.Sprintf("(%d bytes at %d)", l.Size, l.Offset)
}

var spare = regexp.MustCompile(`^(_*reserved|_*pad(ding)?|_*rsvd|_*spare)[0-9]*$`)

// isSpare reports whether a member's name says that it is room for later.
func isSpare(path string) bool {
	return spare.MatchString(strings.ToLower(path[strings.LastIndex(path, ".")+1:]))
}
