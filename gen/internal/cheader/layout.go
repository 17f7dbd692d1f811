package cheader

import (
	"fmt"
	"math/bits"
	"reflect"

	"modernc.org/cc/v4"
)

// The layout of records is worked out here, by the rules of GNU C (those of
// clang on the same systems), and not taken from cc: cc does not know packed
// enumerations, an alignment asked for a bit-field, nor that a bit-field as
// wide as an integer is aligned as one.

// layout is where the members of a record stand.
type layout struct {
	size, align int64
	bit         map[*cc.Field]int64 // from the record's start, as compilers allocate bits
	differs     bool                // from what cc takes it for
}

// layoutOf lays out a complete record.
func (r *reader) layoutOf(t fielded) *layout {
	if t.NumFields() == 0 {
		return &layout{align: max(1, r.emptyAlign(t))}
	}
	// Copies of a type, qualified or renamed, share their members.
	key := t.FieldByIndex(0)
	if known := r.layouts[key]; known != nil {
		return known
	}
	def := definitionOf(key.ParentType())
	l := &layouter{
		layout: layout{align: max(1, def.align), bit: map[*cc.Field]int64{}},
		packed: def.packed, pack: 8 * def.pack, union: t.Kind() == cc.Union,
		anonAlign: r.target.Arch == "arm" || r.target.Arch == "arm64",
	}
	l.largest = 128
	switch r.target.Arch {
	case "386":
		l.maxIntAlign = 32
	case "arm", "s390x":
		l.largest = 64
	}
	l.largest = max(l.largest, 8*def.align)
	for i := range t.NumFields() {
		f := t.FieldByIndex(i)
		if declaresNothing(f) {
			continue
		}
		size, align := r.sizeAlign(f.Type())
		asked := r.members[f.Declarator()]
		m := member{size: 8 * size, align: 8 * align, packed: asked.packed || l.packed, named: f.Name() != "" || !f.IsBitfield()}
		m.aligned = 8 * max(asked.align, private(reflect.ValueOf(f).Elem(), "align").Int())
		if f.IsBitfield() {
			m.isBits, m.width = true, f.ValueBits()
		}
		l.bit[f] = l.place(m)
	}
	l.size = min(roundUp((l.end+7)/8, l.align), largest)
	l.differs = l.size != t.Size()
	for f, bit := range l.bit {
		l.differs = l.differs || !f.IsBitfield() && bit != 8*f.Offset()
	}
	r.differs = r.differs || l.differs
	r.layouts[key] = &l.layout
	return &l.layout
}

// layouter places one member after the other. What it counts, it counts in
// bits, but for the alignment of the record.
type layouter struct {
	layout
	end       int64 // of the members so far
	packed    bool
	pack      int64 // #pragma pack, 0 for none
	largest   int64 // the largest alignment that the compiler has a use for
	union     bool
	anonAlign bool // unnamed bit-fields align the record too
	// maxIntAlign is the alignment at which integers are kept in records, if
	// that is less than their size.
	maxIntAlign int64
}

// member is what the layout of a record needs to know of a member.
type member struct {
	size, align int64 // of its type
	isBits      bool
	width       int64
	packed      bool
	aligned     int64 // asked for with an attribute, 0 for none
	named       bool
}

// place puts a member where C does and returns its first bit.
func (l *layouter) place(m member) int64 {
	align := m.aligned
	switch {
	case m.isBits && m.width == 0:
		// It aligns what follows, packed or not.
		align = max(align, m.align)
	case m.isBits:
		align = max(align, l.integerAlign(m))
		if l.pack > 0 {
			align = min(align, l.pack)
		}
	default:
		align = max(align, 8)
		if !m.packed {
			align = max(align, m.align)
		}
		if l.pack > 0 {
			align = min(align, l.pack)
		}
	}
	align = max(align, 1)
	if m.named || l.anonAlign {
		l.align = max(l.align, align/8, l.typeAlign(m)/8)
	}
	width := m.size
	if m.isBits {
		width = m.width
	}
	if l.union {
		l.end = max(l.end, width)
		return 0
	}
	at := roundUp(l.end, align)
	// A bit-field that could not be reached through its type goes to the next
	// place where it can, but for one that is laid out as an integer.
	if m.isBits && m.width > 0 && !m.packed && l.pack == 0 && l.integerAlign(m) == 0 {
		if units := (at%m.align + width + m.align - 1) / m.align; units > m.size/m.align {
			// The compiler rounds what is beyond its largest alignment, as it
			// was before this member asked for one.
			from := l.end - l.end%l.largest
			if align >= l.largest {
				from = at
			}
			at = from + roundUp(at-from, m.align)
		}
	}
	l.end = at + width
	return at
}

// integerAlign is the alignment of a bit-field that has the width of an
// integer and a place where an integer can be: it is laid out as one.
func (l *layouter) integerAlign(m member) int64 {
	if m.width != 8 && m.width != 16 && m.width != 32 && m.width != 64 || m.packed && m.width > 8 {
		return 0
	}
	if !l.union && l.end != 0 && int64(1)<<bits.TrailingZeros64(uint64(l.end)) < m.width {
		return 0
	}
	if l.maxIntAlign > 0 && m.aligned == 0 {
		return min(m.width, l.maxIntAlign)
	}
	return m.width
}

// typeAlign is the alignment that a bit-field's type gives the record.
func (l *layouter) typeAlign(m member) int64 {
	switch {
	case !m.isBits:
		return 0
	case m.width == 0:
		return m.align
	case l.pack > 0:
		return min(m.align, l.pack)
	case m.packed:
		return min(m.align, 8)
	}
	return m.align
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// naturalAlign is the alignment that a type would have without a typedef's own.
// It may be too small for what is larger than all integers.
func (r *reader) naturalAlign(t cc.Type) (align int64) {
	switch t := t.(type) {
	case *cc.EnumType:
		_, align = r.enumSizeAlign(t)
		return align
	case fielded:
		if !t.IsIncomplete() {
			return r.layoutOf(t).align
		}
	}
	size, align := r.sizeAlign(t)
	switch a := t.Attributes(); {
	case a == nil || a.Aligned() <= 0:
		return align
	case r.target.Arch == "386":
		return min(size, 4)
	}
	return min(size, 8)
}

// sizeAlign is the size and the alignment of a complete type.
func (r *reader) sizeAlign(t cc.Type) (size, align int64) {
	asked := int64(0)
	if a := t.Attributes(); a != nil {
		asked = max(0, a.Aligned())
	}
	switch t := t.(type) {
	case *cc.ArrayType:
		size, align = r.sizeAlign(t.Elem())
		if n := max(t.Len(), 0); n > 0 && size > largest/n {
			size = largest
		} else {
			size *= n
		}
	case *cc.EnumType:
		size, align = r.enumSizeAlign(t)
	case fielded:
		if t.IsIncomplete() {
			return 0, 1
		}
		l := r.layoutOf(t)
		size, align = l.size, l.align
	default:
		if t.IsIncomplete() {
			return 0, 1
		}
		size, align = t.Size(), int64(t.Align())
	}
	if asked > 0 {
		align = asked
	}
	return size, max(align, 1)
}

// enumSizeAlign is the size and the alignment of an enumeration: an int's,
// unless its values need more, or it is packed and they need less.
func (r *reader) enumSizeAlign(t *cc.EnumType) (size, align int64) {
	low, high := enumRange(t)
	need := bits.Len64(high)
	if low < 0 {
		need = max(need, bits.Len64(uint64(-(low+1)))) + 1
	}
	var def definition
	if list := t.Enumerators(); len(list) > 0 {
		def = r.enums[list[0]]
	}
	size = 4
	if def.packed {
		size = 1
	}
	for 8*size < int64(need) {
		size *= 2
	}
	align = size
	if r.target.Arch == "386" {
		align = min(align, 4)
	}
	r.differs = r.differs || size != t.Size()
	return size, align
}

// enumRange is the least and the greatest value of an enumeration, or 0 when
// none is below or above.
func enumRange(t *cc.EnumType) (low int64, high uint64) {
	for _, en := range t.Enumerators() {
		switch v := en.Value().(type) {
		case cc.Int64Value:
			low = min(low, int64(v))
			high = max(high, uint64(max(v, 0)))
		case cc.UInt64Value:
			high = max(high, uint64(v))
		}
	}
	return low, high
}

// definition is what C says of a record as a whole.
type definition struct {
	packed      bool
	align, pack int64 // attribute aligned and #pragma pack, 0 for none
}

// definitionOf reads what cc keeps of a definition in fields that it has no
// methods for. A release of cc without them is an error, not a wrong layout.
func definitionOf(t cc.Type) definition {
	v := reflect.ValueOf(t).Elem()
	return definition{
		packed: private(v, "defPacked").Bool(),
		align:  max(0, private(v, "defAlign").Int()),
		pack:   private(v, "packMax").Int(),
	}
}

func private(v reflect.Value, name string) reflect.Value {
	f := v.FieldByName(name)
	if !f.IsValid() {
		panic(fmt.Sprintf("this version of modernc.org/cc has no %s in %s", name, v.Type()))
	}
	return f
}

// emptyAlign is the alignment that is asked for a record without members.
func (r *reader) emptyAlign(t fielded) int64 {
	for _, n := range r.ast.Scope.Nodes[tagOf(t)] {
		if s, ok := n.(*cc.StructOrUnionSpecifier); ok && s.Case == cc.StructOrUnionSpecifierDef {
			return definitionOf(s.Type()).align
		}
	}
	return definitionOf(t).align
}
