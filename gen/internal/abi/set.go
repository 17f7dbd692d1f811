package abi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// SetSchema names the JSON form of the facts of several targets. Most of what
// a header declares is the same on many of them, so the first target's facts
// are written in full and, of each other, what differs from the one before it
// that it is most like.
const SetSchema = "abifacts-set/1"

// setFile is the form of a set in a file.
type setFile struct {
	Schema string       `json:"schema"`
	First  *Facts       `json:"first"`
	Others []difference `json:"others,omitempty"`
}

// difference is what one target's facts have otherwise than another's. Its
// Facts hold only the declarations that differ or that the other lacks.
type difference struct {
	On      int      `json:"on"` // the other, counted from the first as 0
	Facts   *Facts   `json:"facts"`
	Without []string `json:"without,omitempty"` // declarations that only the other has
}

// len counts the declarations that differ.
func (d difference) len() int {
	f := d.Facts
	return len(d.Without) + len(f.Records) + len(f.Enums) + len(f.Macros) + len(f.Aliases) + len(f.Functions)
}

// WriteSet writes the facts of several targets of one header.
func WriteSet(w io.Writer, all []*Facts) error {
	if len(all) == 0 {
		return fmt.Errorf("writing facts: there are none")
	}
	bare := make([]*Facts, len(all))
	for i, f := range all {
		bare[i] = withoutFlat(f)
	}
	out := setFile{Schema: SetSchema, First: bare[0]}
	for i, f := range bare[1:] {
		best, err := nearest(bare[:i+1], f)
		if err != nil {
			return fmt.Errorf("writing facts: %w", err)
		}
		out.Others = append(out.Others, best)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("writing facts: %w", err)
	}
	return nil
}

// ReadAll reads the facts of one target or of a set of them, compressed or not.
func ReadAll(r io.Reader) ([]*Facts, error) {
	text, err := readPlain(r)
	if err != nil {
		return nil, fmt.Errorf("reading facts: %w", err)
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("reading facts: not the JSON of facts: %w", err)
	}
	if head.Schema != SetSchema {
		f, err := Read(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		return []*Facts{f}, nil
	}
	var in setFile
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("reading facts: %w", err)
	}
	if in.First == nil {
		return nil, fmt.Errorf("reading facts: a set without a first target")
	}
	if err := in.First.check(); err != nil {
		return nil, fmt.Errorf("reading facts: %w", err)
	}
	all := []*Facts{in.First}
	for _, d := range in.Others {
		if d.Facts == nil || d.On < 0 || d.On >= len(all) {
			return nil, fmt.Errorf("reading facts: a set with a target that says nothing")
		}
		if err := d.Facts.check(); err != nil {
			return nil, fmt.Errorf("reading facts: %w", err)
		}
		all = append(all, d.on(all[d.On]))
	}
	for _, f := range all {
		for _, rec := range f.Records {
			rec.Flat = Flatten(rec)
		}
	}
	return all, nil
}

// ReadFiles reads the facts in a file, of one target or more.
func ReadFiles(name string) ([]*Facts, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading facts: %w", err)
	}
	defer file.Close()
	all, err := ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("%s, which is to be a file that gen facts wrote: %w", name, err)
	}
	return all, nil
}

// readPlain reads a text, and unpacks it if it is compressed.
func readPlain(r io.Reader) ([]byte, error) {
	text, err := readLimited(r)
	if err != nil || !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		return text, err
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil {
		text, err = readLimited(z)
	}
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	return text, nil
}

// largest is how many bytes of facts are read, unpacked ones too.
const largest = 256 << 20

// readLimited reads a text of a reasonable size: a few bytes that are compressed
// can unpack to more than fits in memory.
func readLimited(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, largest+1))
	if err == nil && len(text) > largest {
		err = fmt.Errorf("more than %d MiB", largest>>20)
	}
	return text, err
}

// withoutFlat is the facts without the flat lists, which Flatten makes anew.
func withoutFlat(f *Facts) *Facts {
	out := *f
	out.Records = nil
	for _, r := range f.Records {
		bare := *r
		bare.Flat = nil
		out.Records = append(out.Records, &bare)
	}
	return &out
}

// nearest is the smallest difference of f from one of the others.
func nearest(others []*Facts, f *Facts) (best difference, err error) {
	for i, other := range others {
		d, err := differenceOf(other, f)
		if err != nil {
			return best, err
		}
		d.On = i
		if i == 0 || d.len() < best.len() {
			best = d
		}
	}
	return best, nil
}

func differenceOf(first, f *Facts) (difference, error) {
	own := *f
	d := difference{Facts: &own}
	var err error
	part := func(what string, e error) {
		if e != nil && err == nil {
			err = fmt.Errorf("%s: %w", what, e)
		}
	}
	var e error
	own.Records, e = onlyNew(&d, first.Records, f.Records)
	part("records", e)
	own.Enums, e = onlyNew(&d, first.Enums, f.Enums)
	part("enumerations", e)
	own.Macros, e = onlyNew(&d, first.Macros, f.Macros)
	part("macros", e)
	own.Aliases, e = onlyNew(&d, first.Aliases, f.Aliases)
	part("aliases", e)
	own.Functions, e = onlyNew(&d, first.Functions, f.Functions)
	part("functions", e)
	return d, err
}

// onlyNew is what first lacks or has otherwise. Of what only first has, the
// difference keeps the names.
func onlyNew[T declaration](d *difference, first, all []T) ([]T, error) {
	known := map[string][]byte{}
	for _, v := range first {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		known[v.id()] = text
	}
	var out []T
	for _, v := range all {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(known[v.id()], text) {
			out = append(out, v)
		}
		delete(known, v.id())
	}
	for _, v := range first {
		if _, left := known[v.id()]; left {
			d.Without = append(d.Without, v.id())
		}
	}
	return out, nil
}

// on applies the difference to the facts that it is of.
func (d difference) on(first *Facts) *Facts {
	f := *d.Facts
	f.Records = overlay(first.Records, f.Records, d.Without)
	f.Enums = overlay(first.Enums, f.Enums, d.Without)
	f.Macros = overlay(first.Macros, f.Macros, d.Without)
	f.Aliases = overlay(first.Aliases, f.Aliases, d.Without)
	f.Functions = overlay(first.Functions, f.Functions, d.Without)
	return &f
}

// overlay replaces declarations by others of the same name, drops some, adds
// the rest, and puts all in the order of the headers.
func overlay[T declaration](first, own []T, without []string) []T {
	replaced := map[string]bool{}
	for _, id := range without {
		replaced[id] = true
	}
	for _, v := range own {
		replaced[v.id()] = true
	}
	out := []T{}
	for _, v := range first {
		if !replaced[v.id()] {
			out = append(out, v)
		}
	}
	out = append(out, own...)
	SortByPlace(out)
	return out
}

// declaration is what stands in a header and has a name.
type declaration interface {
	id() string // its sort and name
	place() (header string, line int, name string)
}

func (r *Record) id() string   { return string(r.Kind) + " " + r.Name }
func (e *Enum) id() string     { return "enum " + e.Key() }
func (m *Macro) id() string    { return "macro " + m.Name }
func (a *Alias) id() string    { return "alias " + a.Name }
func (f *Function) id() string { return "function " + f.Name }

func (r *Record) place() (string, int, string)   { return r.Header, r.Line, r.Name }
func (e *Enum) place() (string, int, string)     { return e.Header, e.Line, e.Name }
func (m *Macro) place() (string, int, string)    { return m.Header, m.Line, m.Name }
func (a *Alias) place() (string, int, string)    { return a.Header, a.Line, a.Name }
func (f *Function) place() (string, int, string) { return f.Header, f.Line, f.Name }

// SortByPlace sorts declarations by header, line and name.
func SortByPlace[T declaration](all []T) {
	slices.SortStableFunc(all, func(a, b T) int {
		h1, l1, n1 := a.place()
		h2, l2, n2 := b.place()
		if c := strings.Compare(h1, h2); c != 0 {
			return c
		}
		if l1 != l2 {
			return l1 - l2
		}
		return strings.Compare(n1, n2)
	})
}
