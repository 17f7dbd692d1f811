package crandom

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Options say which shapes a header may have.
type Options struct {
	Decls int
	// Alien allows types that have a layout in C and no counterpart in Go.
	Alien bool
	// Overaligned allows alignments that Go's types cannot have.
	Overaligned bool
}

// maker makes the declarations of a header.
type maker struct {
	*rand.Rand
	opts     Options
	names    int
	types    []typeName // that members can have
	integers []typeName // that bit-fields can have
	lengths  []string   // constants that array lengths are written with
	decls    []*Decl
}

// typeName is a type and what members of it may be.
type typeName struct {
	name    string
	bits    int  // of an integer, 0 of anything else
	integer bool // an integer or an enumeration
	array   bool // may be an array's element
	size    int  // no more than this, in bytes
	aligned bool // has an alignment of its own
}

// New makes the header of a seed.
func New(seed uint64, opts Options) *Header {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 1)), opts: opts}
	for _, t := range []typeName{
		{name: "char", bits: 8, integer: true, array: true}, {name: "signed char", bits: 8, integer: true, array: true}, {name: "unsigned char", bits: 8, integer: true, array: true},
		{name: "short", bits: 16, integer: true, array: true}, {name: "unsigned short", bits: 16, integer: true, array: true}, {name: "int", bits: 32, integer: true, array: true},
		{name: "unsigned int", bits: 32, integer: true, array: true}, {name: "long", bits: 32, integer: true, array: true}, {name: "unsigned long", bits: 32, integer: true, array: true},
		{name: "long long", bits: 64, integer: true, array: true}, {name: "unsigned long long", bits: 64, integer: true, array: true}, {name: "_Bool", bits: 1, integer: true, array: true},
		{name: "bool", bits: 1, integer: true, array: true}, {name: "uint8_t", bits: 8, integer: true, array: true}, {name: "int16_t", bits: 16, integer: true, array: true},
		{name: "uint32_t", bits: 32, integer: true, array: true}, {name: "int64_t", bits: 64, integer: true, array: true}, {name: "uint64_t", bits: 64, integer: true, array: true},
	} {
		t.size = 8
		m.types = append(m.types, t)
		m.integers = append(m.integers, t)
	}
	for _, name := range []string{"float", "double", "size_t", "const int", "volatile short", "uintptr_t"} {
		m.types = append(m.types, typeName{name: name, array: true, size: 8})
	}
	if opts.Alien {
		m.types = append(m.types, typeName{name: "long double", array: true, size: 16}, typeName{name: "_Float128", array: true, size: 16})
	}
	for range opts.Decls {
		m.decl()
	}
	return &Header{Seed: seed, Decls: m.decls}
}

// one reports true once in n times.
func (m *maker) one(n int) bool { return m.IntN(n) == 0 }

func pick[T any](m *maker, list []T) T { return list[m.IntN(len(list))] }

func (m *maker) name(prefix string) string {
	m.names++
	return fmt.Sprintf("%s%d", prefix, m.names)
}

func (m *maker) decl() {
	switch n := m.IntN(20); {
	case n < 3:
		m.enum()
	case n < 5:
		m.typedef()
	case n < 6:
		m.macro()
	default:
		m.record()
	}
}

func (m *maker) enum() {
	d := &Decl{Kind: EnumDecl}
	bits := 32
	// 32 bits with a sign, 32 without, 64 with and without.
	inits := [][]string{
		{"", "1", "7", "1 << 4", "0x7fffffff", "'a'", "sizeof(int)"},
		{"-1", "-128", "5", "", "-0x7fffffff - 1", "~0x10", "127"},
		{"0x80000000", "0xffffffff", "1u << 31", "3", "~0u"},
		{"0x123456789", "1ULL << 40", "0x7fffffffffffffff", "1", "0xffffffff + 1LL"},
		{"0x8000000000000000", "0xffffffffffffffff", "~0ULL", "2"},
		{"-5", "0x80000000", "-0x7fffffffffffffff - 1", "0x100000000"},
	}
	choice := pick(m, inits)
	if m.one(2) {
		choice = inits[0]
	}
	for range 1 + m.IntN(5) {
		v := Value{Name: m.name("E"), Init: pick(m, choice)}
		if v.Init == "" && len(d.Values) > 0 && d.Values[len(d.Values)-1].Init == "0x7fffffff" {
			v.Init = "0" // a type of 64 bits by accident
		}
		d.Values = append(d.Values, v)
	}
	if m.one(3) {
		d.Attrs = append(d.Attrs, "packed")
		bits = 8
	}
	switch m.IntN(5) {
	case 0: // constants without a type
	case 1:
		d.Name = m.name("e")
	default:
		d.Name = "enum " + m.name("e")
	}
	m.decls = append(m.decls, d)
	if d.Name != "" {
		t := typeName{name: d.Name, bits: bits, integer: true, array: true, size: 8}
		m.types = append(m.types, t)
		m.integers = append(m.integers, t)
	}
}

func (m *maker) typedef() {
	name := m.name("t")
	t := pick(m, m.integers)
	d := &Decl{Kind: TypedefDecl, Name: name}
	switch m.IntN(7) {
	case 0, 1, 2:
		d.Text = fmt.Sprintf("typedef %s %s;", t.name, name)
		t.name = name
		m.integers = append(m.integers, t)
	case 3:
		if t.aligned {
			return // the C front end refuses a second alignment
		}
		// An alignment above the type's size rules out arrays of it.
		align := pick(m, []int{1, 2, 4, 8})
		if m.opts.Overaligned {
			align = pick(m, []int{1, 2, 4, 8, 16, 32})
		}
		d.Text = fmt.Sprintf("typedef %s %s __attribute__((aligned(%d)));", t.name, name, align)
		t.name, t.array, t.aligned, t.size = name, align == 1, true, 32
		m.integers = append(m.integers, t)
	case 4:
		d.Kind, d.Name = OtherDecl, name
		d.Text = fmt.Sprintf("typedef %s %s[%d];", t.name, name, 1+m.IntN(4))
		if !t.array {
			return
		}
		t = typeName{name: name, array: true, size: 32}
	case 5:
		d.Kind, d.Name = OtherDecl, name
		d.Text = fmt.Sprintf("typedef %s (*%s)(struct later_%s *, %s);", t.name, name, name, t.name)
		t = typeName{name: name, array: true, size: 8}
	case 6:
		d.Kind, d.Name = OtherDecl, name
		other := pick(m, m.types)
		d.Text = fmt.Sprintf("typedef %s %s;", other.name, name)
		t = typeName{name: name, array: other.array, size: other.size}
	}
	m.decls = append(m.decls, d)
	m.types = append(m.types, t)
}

func (m *maker) macro() {
	name := m.name("M")
	a, b := m.IntN(1<<20), 1+m.IntN(31)
	text := pick(m, []string{
		fmt.Sprintf("%d", a), fmt.Sprintf("-%d", a), fmt.Sprintf("(%#xu << %d)", a, b), fmt.Sprintf("0x%xULL << 33", a),
		fmt.Sprintf("(1 << %d)", b%31), fmt.Sprintf("~%d", a), fmt.Sprintf("(%d > %d ? %d : -1)", a, b, b),
		fmt.Sprintf("((uint8_t)%d)", a), fmt.Sprintf("(%d / %d)", a, b), fmt.Sprintf("-%d %% %d", a, b),
		fmt.Sprintf("sizeof(int[%d])", b), "'x'", "'\\377'", "(-1 < 0u)", fmt.Sprintf("(-%d >> 2)", a),
		fmt.Sprintf("0%o", a), fmt.Sprintf("%dL * %dL", a, a), fmt.Sprintf("(!%d || %d && 1)", a, b), "0x7fffffffffffffff",
		"0xffffffffffffffff", "0x80000000", "2147483648", "(int)0xffffffff", "(char)200", "(signed char)200", "1 ? -1 : 0u",
	})
	m.decls = append(m.decls, &Decl{Kind: MacroDecl, Name: name, Text: text})
	if m.one(3) {
		length := m.name("N")
		m.decls = append(m.decls, &Decl{Kind: MacroDecl, Name: length, Text: fmt.Sprint(1 + m.IntN(5))})
		m.lengths = append(m.lengths, length)
	}
}

func (m *maker) record() {
	d := &Decl{Kind: RecordDecl}
	flexible := m.one(10)
	d.Record = m.recordBody(2, flexible)
	r := d.Record
	if m.one(6) {
		r.Pack = pick(m, []int{1, 2, 4, 8, 16})
	}
	array := true
	if m.one(5) {
		d.Name = m.name("r")
		if m.one(3) {
			aligns := []int{1}
			if m.opts.Overaligned {
				aligns = append(aligns, 2, 4, 8, 16, 32)
			}
			align := pick(m, aligns)
			d.Attrs = []string{fmt.Sprintf("aligned(%d)", align)}
			array = align == 1 // the size may be no multiple of another one
		}
	} else {
		d.Name = r.Keyword + " " + m.name("r")
	}
	m.decls = append(m.decls, d)
	if flexible {
		return
	}
	t := typeName{name: d.Name, array: array, size: m.size(r)}
	if t.size > maxSize {
		return
	}
	m.types = append(m.types, t)
	if m.one(2) {
		m.types = append(m.types, t) // so that records nest
	}
}

// maxSize is the size above which a record has no part in others: sizes would
// grow without bound, and objects with them.
const maxSize = 400

// size is a bound on the size of a record.
func (m *maker) size(r *Record) int {
	size := 64 // alignment
	for _, f := range r.Members {
		one := 8
		if f.Inner != nil {
			one = m.size(f.Inner)
		} else if f.Before == "" {
			for _, t := range m.types {
				if t.name == f.Type {
					one = t.size
				}
			}
		}
		if strings.HasPrefix(f.After, "[") {
			one *= 5 * strings.Count(f.After, "[")
		}
		size += one + 8
	}
	return size
}

func (m *maker) recordBody(depth int, flexible bool) *Record {
	r := &Record{Keyword: "struct"}
	if m.one(4) && !flexible {
		r.Keyword = "union"
	}
	n := 1 + m.IntN(8)
	if m.one(40) && !flexible {
		n = 0 // an empty record, as GNU C has them
	}
	bitFields := m.one(3)
	for range n {
		switch {
		case bitFields && !m.one(4):
			r.Members = append(r.Members, m.bitField())
		case depth > 0 && m.one(6):
			r.Members = append(r.Members, m.innerMember(depth))
		case m.one(20):
			if t := pick(m, m.types); strings.HasPrefix(t.name, "struct ") {
				r.Members = append(r.Members, &Member{Type: t.name, Width: -1}) // declares nothing
			}
		default:
			r.Members = append(r.Members, m.member())
		}
	}
	if flexible {
		last := &Member{Name: m.name("m"), Width: -1, After: "[]"}
		t := pick(m, m.types)
		for !t.array {
			t = pick(m, m.types)
		}
		last.Type = t.name
		r.Members = append(r.Members, &Member{Name: m.name("m"), Type: "int", Width: -1, Integer: true})
		if m.one(2) {
			// In a union C takes an array without length behind something only.
			empty := &Member{Name: m.name("m"), Inner: &Record{Keyword: "struct"}, Width: -1}
			one := &Member{Inner: &Record{Keyword: "struct", Members: []*Member{empty, last}}, Width: -1}
			last = &Member{Inner: &Record{Keyword: "union", Members: []*Member{one}}, Width: -1}
		}
		r.Members = append(r.Members, last)
	}
	if m.one(6) {
		r.Attrs = append(r.Attrs, "packed")
	}
	if m.one(8) {
		aligns := []int{1, 2, 4, 8}
		if m.opts.Overaligned {
			aligns = append(aligns, 16, 64)
		}
		r.Attrs = append(r.Attrs, fmt.Sprintf("aligned(%d)", pick(m, aligns)))
	}
	r.AttrsFirst = m.one(3)
	return r
}

func (m *maker) memberAttrs() []string {
	var attrs []string
	if m.one(12) {
		attrs = append(attrs, "packed")
	}
	if m.one(16) {
		aligns := []int{1, 2, 4, 8}
		if m.opts.Overaligned {
			aligns = append(aligns, 16)
		}
		attrs = append(attrs, fmt.Sprintf("aligned(%d)", pick(m, aligns)))
	}
	return attrs
}

// bitField makes a bit-field of at most 56 bits: the C front end refuses one
// that is spread over nine bytes, as a wider one can be.
func (m *maker) bitField() *Member {
	t := pick(m, m.integers)
	b := &Member{Type: t.name, Width: m.IntN(min(t.bits, 56) + 1), Attrs: m.memberAttrs(), Integer: true}
	if b.Width > 0 && !m.one(6) {
		b.Name = m.name("m")
	}
	if b.Name == "" {
		b.Attrs = nil // an alignment would be refused
	}
	return b
}

func (m *maker) innerMember(depth int) *Member {
	inner := &Member{Inner: m.recordBody(depth-1, false), Width: -1, Attrs: m.memberAttrs()}
	if m.one(2) {
		inner.Name = m.name("m")
		if m.one(3) {
			inner.After = fmt.Sprintf("[%d]", 1+m.IntN(3))
		}
	} else {
		inner.Attrs = nil
	}
	return inner
}

func (m *maker) member() *Member {
	t := pick(m, m.types)
	f := &Member{Name: m.name("m"), Type: t.name, Width: -1, Attrs: m.memberAttrs(), Integer: t.integer}
	if t.integer && t.array && m.one(16) {
		f.Aligns = []int{8}
		if m.opts.Overaligned {
			f.Aligns = append(f.Aligns, pick(m, []int{8, 16, 32}))
			m.Shuffle(2, func(i, j int) { f.Aligns[i], f.Aligns[j] = f.Aligns[j], f.Aligns[i] })
		}
		return f
	}
	switch m.IntN(12) {
	case 0, 1:
		if t.array {
			f.After, f.Integer = m.dims(), false
		}
	case 2:
		f.Before, f.Integer = pick(m, []string{"*", "**", "*const "}), false
	case 3:
		f.Type, f.Before, f.Integer = "struct later"+m.name("_"), "*", false
	case 4:
		f.Type, f.Before, f.Integer = pick(m, m.integers).name, "(*", false
		f.After = pick(m, []string{")(void)", ")(int, ...)", ")(char, void (*)(int))"})
		if t.array && m.one(3) {
			f.Type, f.After = t.name, ")[3]"
		}
	case 5:
		f.Type, f.Integer = "void", false
		f.Before, f.After = "(*(*", ")(int))(void *)"
	}
	return f
}

func (m *maker) dims() string {
	dims := ""
	for range 1 + m.IntN(2) {
		if len(m.lengths) > 0 && m.one(3) {
			dims += "[" + pick(m, m.lengths) + "]"
		} else {
			dims += fmt.Sprintf("[%d]", 1+m.IntN(4))
		}
	}
	if m.one(12) {
		return "[0]"
	}
	return dims
}
