// Package abi is the model of what a C header declares: records with their
// exact layout, enumerations, integer macros and functions, as one compiler
// for one target sees them. It knows neither how headers are read nor how Go
// is written; both sides of the generator meet here.
//
// The model is also a file format, JSON with the schema named by [Schema], so
// that facts can be kept, compared and turned into Go without the headers.
package abi

// Schema names the JSON form of [Facts]. It changes when a reader of the old
// form would misunderstand the new one.
const Schema = "abifacts/1"

// Facts is everything one header, with all it includes, declares for one
// target.
type Facts struct {
	Schema      string      `json:"schema"`
	Header      string      `json:"header"`
	Version     string      `json:"version,omitempty"`
	GOOS        string      `json:"goos"`
	GOARCH      string      `json:"goarch"`
	Libc        string      `json:"libc"`
	BigEndian   bool        `json:"big_endian"`
	PointerSize int64       `json:"pointer_size"`
	LongSize    int64       `json:"long_size"`
	Headers     []string    `json:"headers"`
	Records     []*Record   `json:"records"`
	Enums       []*Enum     `json:"enums"`
	Macros      []*Macro    `json:"macros"`
	Aliases     []*Alias    `json:"aliases,omitempty"`
	Functions   []*Function `json:"functions"`
	// Prefixes are what the header's own names start with because C has no packages,
	// as the package of these facts drops them from its names. Unlike an empty list,
	// nil tells that nobody has looked.
	Prefixes []string `json:"prefixes,omitzero"`
	// Since is the release that each declaration appeared in, for SinceOf.
	Since map[string]string `json:"since,omitempty"`
	// Order is which headers brought a declaration after the first ones, for OrderOf.
	Order map[string]int `json:"order,omitempty"`
	// StandIn tells that these are another system's facts, so that programs compile for
	// a system that there are no facts of.
	StandIn bool `json:"-"`
	// LeftOut says what the headers have besides, and why it is no fact.
	LeftOut []string `json:"-"`
}

// Record is a struct or a union.
type Record struct {
	// Name is the tag, or the typedef's name where the tag is missing, or ""
	// for an untagged record inside another one.
	Name   string `json:"name,omitempty"`
	Kind   Kind   `json:"kind"`
	Header string `json:"header,omitempty"`
	Line   int    `json:"line,omitempty"`
	// Typedef tells that the record has no tag: C knows it by a typedef only.
	Typedef bool     `json:"typedef,omitempty"`
	Opaque  bool     `json:"opaque,omitempty"`
	Size    int64    `json:"size"`
	Align   int64    `json:"align"`
	Fields  []*Field `json:"fields,omitempty"`
	Flat    []Leaf   `json:"flat,omitempty"`
}

// Field is one member of a record.
type Field struct {
	// Name is "" for an unnamed member, whose own members C promotes.
	Name string `json:"name"`
	// CType is the member's type as C writes it.
	CType  string `json:"type"`
	Kind   Kind   `json:"kind"`
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	Align  int64  `json:"align,omitempty"`
	// BitOffset counts from the record's first byte, in the order in which the
	// target's compiler allocates bits. Both are nil unless it is a bit-field.
	BitOffset *int64 `json:"bit_offset,omitempty"`
	BitSize   *int64 `json:"bit_size,omitempty"`
	Flexible  bool   `json:"flexible,omitempty"`
	Type      *Type  `json:"ctype"`
	// Position is where the header declares the member, for errors: file, line
	// and column. Facts read from a file do not have it.
	Position string `json:"-"`
}

// Leaf is a member of a record with the untagged records on the way to it
// flattened out, at its offset from the outermost record.
type Leaf struct {
	Path      string `json:"path"`
	CType     string `json:"type"`
	Offset    int64  `json:"offset"`
	Size      int64  `json:"size"`
	BitOffset *int64 `json:"bit_offset,omitempty"`
	BitSize   *int64 `json:"bit_size,omitempty"`
}

// Enum is an enumeration.
type Enum struct {
	// Name is the tag, or the typedef's name where the tag is missing, or "".
	Name string `json:"name"`
	// Typedef tells that Name is a typedef's.
	Typedef     bool         `json:"typedef,omitempty"`
	Header      string       `json:"header"`
	Line        int          `json:"line"`
	Size        int64        `json:"size"`
	Signed      bool         `json:"signed"`
	Enumerators []Enumerator `json:"enumerators"`
}

// Enumerator is a named value of an enumeration.
type Enumerator struct {
	Name string `json:"name"`
	// Value is decimal: 64 bits of either sign do not fit a JSON number.
	Value string `json:"value"`
	// Bit tells that the header spells the value as a bit or a union of bits
	// (1 << 3, A | B), as it does for flags.
	Bit bool `json:"bit,omitempty"`
}

// Macro is an object-like macro whose value is an integer constant.
type Macro struct {
	Name   string `json:"name"`
	Header string `json:"header"`
	Line   int    `json:"line"`
	Value  string `json:"value"`
	Signed bool   `json:"signed,omitempty"`
}

// Alias is an object-like macro that gives another name to a tag or to an
// enumerator.
type Alias struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	Header string `json:"header"`
	Line   int    `json:"line"`
}

// Function is a function that the headers declare or define.
type Function struct {
	Name   string      `json:"name"`
	Kind   string      `json:"kind"` // FunctionExtern or FunctionInline
	Header string      `json:"header"`
	Line   int         `json:"line"`
	Result *Type       `json:"result"`
	Params []Parameter `json:"params"`
	// Variadic tells that any number of arguments may follow.
	Variadic bool `json:"variadic,omitempty"`
	// ShadowedByMacro tells that C code naming the function gets a macro.
	ShadowedByMacro bool `json:"shadowed_by_macro,omitempty"`
}

// The kinds of functions: with a symbol in the library, or only in the header.
const (
	FunctionExtern = "extern"
	FunctionInline = "static inline"
)

// Parameter is one parameter of a function.
type Parameter struct {
	Name string `json:"name"`
	Type *Type  `json:"type"`
}
