package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// page is what is to be said of all functions.
type page struct {
	rows  []*row
	wrong []error
}

// row is one of C's functions, and what does the same.
type row struct {
	*cFunction
	by     []*goFunction
	reason string // why nothing does
}

// pageOf reads package ibv in a folder.
func pageOf(dir string) (*page, error) {
	functions, err := readFacts(dir)
	if err != nil {
		return nil, err
	}
	source, err := readSource(dir)
	if err != nil {
		return nil, err
	}
	left, err := readLeftOut(leftOutText)
	if err != nil {
		return nil, err
	}
	return newPage(functions, source, left), nil
}

func newPage(functions []*cFunction, source []*goFunction, left []leftOut) *page {
	p := &page{}
	rows := map[string]*row{}
	add := func(c *cFunction) *row {
		r := &row{cFunction: c}
		rows[c.name] = r
		p.rows = append(p.rows, r)
		return r
	}
	for _, c := range functions {
		add(c)
	}
	for _, g := range source {
		for _, name := range g.c {
			if rows[name] == nil {
				p.wrong = append(p.wrong, fmt.Errorf("%s (%s) is said to be C's %s, which verbs.h does not have", g.name, g.files[0], name))
				continue
			}
			rows[name].by = append(rows[name].by, g)
		}
	}
	for _, l := range left {
		r := rows[l.name]
		switch {
		case r == nil && l.kind != "":
			add(&cFunction{name: l.name, kind: l.kind, unseen: true, linux: true}).reason = l.reason
		case r == nil:
			p.wrong = append(p.wrong, fmt.Errorf("leftout.txt has %s, which verbs.h does not have", l.name))
		case r.reason != "":
			p.wrong = append(p.wrong, fmt.Errorf("leftout.txt has %s twice", l.name))
		default:
			r.reason = l.reason
		}
	}
	slices.SortFunc(p.rows, func(a, b *row) int { return strings.Compare(a.name, b.name) })
	return p
}

// problems is what is said wrongly, of functions that are unknown or dealt with twice, and which are not dealt with.
func (p *page) problems() (wrong, missing []error) {
	wrong = slices.Clone(p.wrong)
	for _, r := range p.rows {
		switch {
		case r.missing():
			missing = append(missing, fmt.Errorf("%s (%s) is done nowhere: give what does it in Go a last line \"C: %s\", or leftout.txt a reason", r.name, r.kind, r.name))
		case len(r.by) > 0 && r.reason != "":
			wrong = append(wrong, fmt.Errorf("%s is in leftout.txt, and done by %s", r.name, r.by[0].name))
		case len(r.by) > 1:
			wrong = append(wrong, fmt.Errorf("%s is done twice, by %s and %s: name it at the one that programs should find", r.name, r.by[0].name, r.by[1].name))
		}
	}
	return wrong, missing
}

func (r *row) missing() bool { return len(r.by) == 0 && r.reason == "" }

const intro = `<!-- Written by verbsdoc: go generate ./... -->

# Every function of verbs.h, and what does it in Go

C's infiniband/verbs.h has functions that libibverbs exports, functions that are inline in the header, for which the
library has no symbol, and macros that look like functions. Here are all of them, of all releases of rdma-core that
package ibv knows, with what does the same in Go. "Since" is the release that brought one, if that is later than 33. Where
the library or the provider at hand lacks one, its Go call returns an error that says so, and is errors.ErrUnsupported.
"FreeBSD: no" says that the header there does not have it, "not in Go" that it has, and this package has no call there.
`

// sections are the parts of the page.
var sections = []struct {
	title, text string
	has         func(*row) bool
}{
	{"Functions of the library", "", func(r *row) bool { return r.kind == exported && !r.shadowed && len(r.by) > 0 }},
	{"Macros", "C code that names one of these functions of the library gets a macro, which does more than the function. So does Go.",
		func(r *row) bool { return r.shadowed && len(r.by) > 0 }},
	{"Inline functions", "Each is done in the file that is named, as the header does it.", func(r *row) bool { return r.kind == inline && len(r.by) > 0 }},
	{"Left out", "", func(r *row) bool { return r.reason != "" }},
	{"Not done yet", "", (*row).missing},
}

// markdown is the page as text.
func (p *page) markdown() []byte {
	b := bytes.NewBufferString(intro)
	for _, s := range sections {
		rows := slices.DeleteFunc(slices.Clone(p.rows), func(r *row) bool { return !s.has(r) })
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n", s.title)
		if s.text != "" {
			fmt.Fprintf(b, "%s\n\n", s.text)
		}
		if len(rows[0].by) == 0 {
			b.WriteString("| C | | since | FreeBSD | why |\n|---|---|---|---|---|\n")
			for _, r := range rows {
				writeRow(b, "`"+r.name+"`", string(r.kind), r.since, r.onFreeBSD(), r.reason)
			}
			continue
		}
		b.WriteString("| C | Go | since | FreeBSD | in | what differs |\n|---|---|---|---|---|---|\n")
		for _, r := range rows {
			g := r.by[0]
			link := fmt.Sprintf("[%s](https://pkg.go.dev/github.com/goverbs/goverbs/ibv#%s)", g.name, g.name)
			writeRow(b, "`"+r.name+"`", link, r.since, r.onFreeBSD(), strings.Join(g.files, ", "), g.differs)
		}
	}
	return b.Bytes()
}

// writeRow writes a row of a table. Nothing in it is markup: no C name, phrase or file name has any but the bar.
func writeRow(b *bytes.Buffer, cells ...string) {
	for _, cell := range cells {
		b.WriteString("| ")
		if cell != "" {
			b.WriteString(strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
	}
	b.WriteString("|\n")
}

func (r *row) onFreeBSD() string {
	switch {
	case r.unseen:
		return ""
	case !r.linux:
		return "only"
	case !r.freeBSD:
		return "no"
	case len(r.by) > 0 && !r.by[0].freeBSD:
		return "not in Go"
	}
	return ""
}
