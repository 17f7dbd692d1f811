package abi

// Flatten lists the leaves of a record: untagged records are opened (an
// unnamed member adds nothing to the path), while a member of a tagged or
// typedef'd type, and an array, is one leaf with its whole size.
func Flatten(r *Record) []Leaf { return appendLeaves(nil, r, "", 0) }

func appendLeaves(leaves []Leaf, r *Record, prefix string, base int64) []Leaf {
	for _, f := range r.Fields {
		path := prefix + f.Name
		if f.Type.IsRecord() && f.Type.Anon != nil {
			inner := prefix
			if f.Name != "" {
				inner = path + "."
			}
			leaves = appendLeaves(leaves, f.Type.Anon, inner, base+f.Offset)
			continue
		}
		leaf := Leaf{Path: path, CType: f.CType, Offset: base + f.Offset, Size: f.Size, BitSize: f.BitSize}
		if f.BitOffset != nil {
			bit := *f.BitOffset + 8*base
			leaf.BitOffset = &bit
		}
		leaves = append(leaves, leaf)
	}
	return leaves
}
