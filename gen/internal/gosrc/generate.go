// Package gosrc writes the model of package abi as Go, by way of jennifer. It
// knows Go and nothing of how C is read.
//
// A record becomes a struct whose fields stand where C's members do, a union
// becomes bytes with views, an enumeration a type with named values. Pointers in
// what is bytes to the collector are numbers: see unscanned. Nothing
// depends on which record it is: what C's types do not tell comes from a table
// of words. A record that Go cannot express is left out, and the caller is told.
package gosrc

import (
	"fmt"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
	"sync"

	"github.com/dave/jennifer/jen"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// Options say how to write a package.
type Options struct {
	Package string // its name
	About   string // its comment, or ""
	Command string // the command that writes it, for the first line of each file
	// Everywhere tells that programs for other 64-bit systems and processors get the
	// types, too, so that they compile: the first target's on other systems, and on
	// other processors of a system its first one's.
	Everywhere bool
	// Import is a package that has some of the declarations already, or nil.
	Import *Import
	// Library is the soname of the library that exports the header's functions, or "":
	// then no functions are written.
	Library string
	// Conventions are tables of how functions tell that they failed, besides those that
	// are built in.
	Conventions []Conventions
	// Unexported tells that the functions are for other files of the package only.
	Unexported bool
	// Direct names functions that are short and frequent, and record.member for what
	// members point to: they are called without leaving the goroutine's thread to others.
	Direct []string
	// LeftOut, if it is not nil, is told of what could not be written.
	LeftOut func(LeftOut)
	// Guessed, if it is not nil, is told which functions, and record.member for what
	// members point to, are called by a convention that no table has: those that return
	// an int.
	Guessed func(names []string)
}

// Generate writes the declarations of one header for several targets. It
// returns the files by name: every declaration is written once for all targets
// that have it alike.
func Generate(targets []*abi.Facts, opts Options) (map[string][]byte, error) {
	return generate(targets, opts, wordsText)
}

func generate(targets []*abi.Facts, opts Options, wordsText string) (map[string][]byte, error) {
	if len(targets) == 0 {
		return nil, fmt.Errorf("generating package %s: no targets", opts.Package)
	}
	asked := len(targets)
	if opts.Everywhere {
		targets = append(slices.Clip(targets), opts.Import.others(targets)...)
	}
	outputs := make([]*output, len(targets))
	left := make([][]LeftOut, len(targets))
	over := overviewOf(targets)
	if err := opts.checkDirect(targets); err != nil {
		return nil, err
	}
	err := each(len(targets), func(i int) error {
		table, err := parseWords(wordsText)
		if err != nil {
			return err
		}
		calls, err := opts.calls()
		if err != nil {
			return err
		}
		outputs[i], left[i], err = leaveOut(targets[i], func(facts *abi.Facts) (*output, error) { return declare(facts, table, opts.Import, over, calls) })
		if err != nil {
			return fmt.Errorf("writing Go for %s/%s: %w", targets[i].GOOS, targets[i].GOARCH, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if opts.LeftOut != nil {
		for _, l := range slices.Concat(left[:asked]...) {
			opts.LeftOut(l)
		}
	}
	if opts.Guessed != nil {
		var names []string
		for _, out := range outputs[:asked] {
			names = append(names, out.guessed...)
		}
		slices.Sort(names)
		opts.Guessed(slices.Compact(names))
	}
	divided := divide(targets, outputs, opts.Everywhere)
	if len(divided) > 0 {
		divided[0].about = opts.About
	}
	texts := make([][]byte, len(divided))
	err = each(len(divided), func(i int) (err error) {
		texts[i], err = divided[i].render(opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for i, f := range divided {
		files[f.name] = texts[i]
	}
	return files, nil
}

// each does a thing for 0 to n-1 at the same time, and returns the first error
// by number.
func each(n int, do func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// output is the declarations of one target, and each one's text to compare: what
// the Go compiler sees of it.
type output struct {
	decls   []decl
	text    map[string]string
	left    []LeftOut // functions
	guessed []string  // functions
}

// calls is how the functions are called, or nil if none are.
func (o Options) calls() (*calls, error) {
	if o.Library == "" {
		return nil, nil
	}
	table, err := newConventions(o.Conventions)
	return &calls{library: o.Library, unexported: o.Unexported, direct: o.Direct, conventions: table}, err
}

// checkDirect refuses names of functions that no target has.
func (o Options) checkDirect(targets []*abi.Facts) error {
	known := map[string]bool{}
	for _, facts := range targets {
		for _, f := range facts.Functions {
			known[f.Name] = f.Kind == abi.FunctionExtern && f.Header == facts.Header
		}
		for _, r := range facts.Records {
			for _, f := range r.Fields {
				known[r.Name+"."+f.Name] = f.Kind == abi.FuncPtr
			}
		}
	}
	for _, name := range o.Direct {
		switch {
		case o.Library == "":
			return fmt.Errorf("%s cannot be called directly: no functions are called without a library", name)
		case !known[name]:
			return fmt.Errorf("%s cannot be called directly: the header has no such function, nor member that points to one", name)
		}
	}
	return nil
}

// declare writes all declarations of one target.
func declare(facts *abi.Facts, table *words, from *Import, over *overview, calls *calls) (out *output, err error) {
	// A file of facts is input too, and no input may end the program.
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("facts that make no sense: %v", r)
		}
	}()
	s, err := newScope(facts, table, from, over, calls != nil)
	if err != nil {
		return nil, err
	}
	w := &writer{scope: s, calls: calls, viewable: map[string]bool{}, needs: map[string]bool{}}
	if err := w.all(); err != nil {
		return nil, err
	}
	out = &output{decls: w.decls, text: map[string]string{}, left: w.left, guessed: w.guessed}
	for _, d := range w.decls {
		if _, twice := out.text[d.key]; twice {
			return nil, fmt.Errorf("%s is declared twice", d.key)
		}
		text, err := d.render()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.key, err)
		}
		out.text[d.key] = withoutComments(text)
	}
	return out, nil
}

// all writes every declaration that the scope wants.
func (w *writer) all() error {
	for _, e := range w.emittedEnums() {
		if err := w.enum(e); err != nil {
			return err
		}
	}
	for _, m := range w.emittedMacros() {
		if err := w.macro(m); err != nil {
			return err
		}
	}
	var failed recordErrors
	for _, r := range w.sortedRecords() {
		if err := w.record(r); err != nil {
			failed = append(failed, recordError{r, err})
		}
	}
	if failed != nil {
		return failed
	}
	for _, r := range w.sortedRecords() {
		if name := w.types[recordKey(r)]; w.viewable[name] {
			w.viewAt(name, "C's "+string(r.Kind)+" "+r.Name)
		}
	}
	for _, key := range sortedKeys(w.opaque) {
		if err := w.undefined(key, w.opaque[key]); err != nil {
			return err
		}
	}
	w.support()
	return w.allFunctions()
}

// undefined writes a record that the headers declare and do not define.
func (w *writer) undefined(key, c string) error {
	name := w.types[key]
	if w.words.pointer[c] {
		size := w.facts.PointerSize
		doc := typeDoc(name, fmt.Sprintf("C's pointer to a %s", key), w.words.about(c))
		bytes := &abi.Record{Kind: abi.Union, Size: size, Align: size}
		return w.recordNamed(bytes, name, key, c, key, doc, true)
	}
	if own := ofTheCLibrary[key]; own != "" {
		w.add(name,
			jen.Comment(fmt.Sprintf("%s is C's %s, of which the C library alone knows what is in it: only pointers to it have a use, which C's functions return and take", name, own)+"."),
			jen.Type().Id(name).Struct(jen.Id("_").Qual("structs", "HostLayout")))
		return nil
	}
	w.add(name,
		jen.Comment(typeDoc(name, fmt.Sprintf("C's %s%s, which the headers declare and do not define: only pointers to it have a use",
			key, w.since(strings.Fields(key)[0], c)), w.words.about(c))),
		jen.Type().Id(name).Struct(jen.Id("_").Qual("structs", "HostLayout")))
	return nil
}

// withoutComments is what Go text means. A comment may say otherwise what is the
// same in Go, as how a header spells the type of a member.
func withoutComments(text string) string {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), nil, 0)
	var b strings.Builder
	for {
		switch _, tok, literal := s.Scan(); tok {
		case token.EOF:
			return b.String()
		default:
			fmt.Fprintf(&b, "%v %s\n", tok, literal)
		}
	}
}

// render is the declaration as Go, for comparing: nobody reads it, so it is not
// formatted, which would take longer than all else.
func (d decl) render() (string, error) {
	file := jen.NewFile("p")
	file.NoFormat = true
	for _, c := range d.code {
		file.Add(c)
	}
	var b strings.Builder
	err := file.Render(&b)
	return b.String(), err
}
