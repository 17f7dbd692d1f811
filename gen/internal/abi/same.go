package abi

import "slices"

// Same reports whether another record is this one: of the same size and
// alignment, with the same members in the same places.
func (r *Record) Same(other *Record) bool {
	var d differ
	diffRecord(&d, r, other)
	return d.changes == nil
}

// Covers reports whether another record is this one or an earlier form of it: what
// has room for this one has room for the other, and members are where they were.
func (r *Record) Covers(other *Record) bool {
	var d differ
	diffRecord(&d, other, r)
	return !slices.ContainsFunc(d.changes, Change.Breaking)
}

// Covers reports whether another enumeration is this one or an earlier form of
// it: as wide, and with no value that this one lacks or has otherwise.
func (e *Enum) Covers(other *Enum) bool {
	var d differ
	diffEnum(&d, other, e)
	return !slices.ContainsFunc(d.changes, Change.Breaking)
}
