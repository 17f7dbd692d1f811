package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/gosrc"
	"github.com/goverbs/goverbs/headers"
)

// factsName is the file beside the Go files that holds the facts they were
// written from. By it the generator knows what may not be taken away.
const factsName = "zz_generated.facts.json.gz"

const (
	verbsLibrary = "libibverbs.so.1"
	noLibrary    = "none"
)

// bindings are the generated files of one Go package.
type bindings struct {
	dir, pkg string
	imported string // the flag -import
	soname   string // the flag -library, completed
	direct   string // the flag -direct
	unbound  bool   // -library none
	tables   list   // the flag -conventions
}

// bindingsFlags makes the flags of commands that deal with generated files.
func (in *input) bindingsFlags(name, about string) (*bindings, *flag.FlagSet) {
	b := &bindings{}
	flags := newFlags(name, "", about, in)
	in.foldersFlag(flags)
	in.targetsFlag(flags)
	in.factsFlags(flags)
	in.versionFlag(flags)
	flags.StringVar(&b.dir, "o", ".", "the `folder` of the Go package")
	flags.StringVar(&b.pkg, "package", "", "the `name` of the Go package (default ibv for "+verbs+", else the header's own, such as mlx5dv)")
	flags.StringVar(&b.imported, "import", "", "the Go `package` of "+verbs+" whose types to use, or "+noImport+" (default "+defaultImport+" for headers that include that one)")
	flags.StringVar(&b.soname, "library", "", "the `soname` of the library that exports the header's functions, or "+noLibrary+" (default "+verbsLibrary+" for "+verbs+", else none)")
	flags.StringVar(&b.direct, "direct", "", "the `functions` that are short and frequent, separated by commas, or RECORD.MEMBER for what a member points to: they are called directly")
	flags.Var(&b.tables, "conventions", "a `file` that says how functions of -library tell that they failed (may be given many times)")
	return b, flags
}

// check completes the names that the user gave and finds what is wrong with them.
func (b *bindings) check(header string) error {
	named := b.pkg != ""
	switch {
	case b.soname == noLibrary:
		b.soname, b.unbound = "", true
	case b.soname == "" && header == verbs:
		b.soname = verbsLibrary
	}
	switch {
	case named:
	case header == verbs:
		b.pkg = "ibv"
	default:
		b.pkg = strings.TrimSuffix(path.Base(header), ".h")
	}
	if len(b.tables) > 0 && b.soname == "" {
		return usagef("-conventions says how functions are called: it goes with -library")
	}
	switch valid := token.IsIdentifier(b.pkg) && b.pkg != "_"; {
	case !valid && !named:
		return usagef("-header %s: a Go package cannot have the name %q; give -package", header, b.pkg)
	case !valid:
		return usagef("-package %q: a Go package cannot have this name; want a word such as ibv", b.pkg)
	}
	if info, err := os.Stat(b.dir); err == nil && !info.IsDir() {
		return usagef("-o %s: it is a file; name the folder of the Go package", b.dir)
	}
	return nil
}

// folder is the folder of the Go package as the user may not have named it.
func (b *bindings) folder() string {
	if dir, err := filepath.Abs(b.dir); err == nil {
		return dir
	}
	return b.dir
}

// known reads the facts that the committed files were written from. There are
// none before the first time.
func (b *bindings) known() ([]*abi.Facts, error) {
	all, err := abi.ReadFiles(filepath.Join(b.dir, factsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return ownFacts(all), err
}

// ownFacts is the facts that are the headers' own, of each target.
func ownFacts(all []*abi.Facts) []*abi.Facts {
	out := make([]*abi.Facts, len(all))
	for i, f := range all {
		out[i] = f.Own()
	}
	return out
}

// readForGo reads what Go is to be written for: of a facts file without wanted
// targets, those that Go bindings are written for.
func (in *input) readForGo() ([]*abi.Facts, error) {
	read, err := in.read()
	if err != nil || in.facts == "" || len(in.targets) > 0 {
		return read, err
	}
	var some []*abi.Facts
	for _, f := range read {
		for _, t := range headers.GoTargets(f.GOOS) {
			if f.GOARCH == t.Arch && f.Libc == t.Libc {
				some = append(some, f)
			}
		}
	}
	if some == nil {
		return nil, fmt.Errorf("%s holds facts of no target that Go bindings are written for; name one with -target", in.facts)
	}
	return some, nil
}

// knownOf is known for a header: one package is of one header.
func (b *bindings) knownOf(header string) ([]*abi.Facts, error) {
	all, err := b.known()
	if err == nil && len(all) > 0 && all[0].Header != header {
		return nil, fmt.Errorf("-o %s: the package there is of %s, not of %s; name the folder of another, or give -header %s",
			b.dir, all[0].Header, header, all[0].Header)
	}
	return all, err
}

// checkOthers refuses a folder whose other Go files are of another package: the
// go command would take neither.
func (b *bindings) checkOthers() error {
	generated, err := b.leftovers(nil)
	if err != nil {
		return err
	}
	// Its error is of no interest: there may be no folder yet, no Go file in it, or
	// one with a fault that the go command will tell of.
	there, _ := build.ImportDir(b.dir, 0)
	for _, name := range slices.Concat(there.GoFiles, there.CgoFiles, there.TestGoFiles) {
		file := filepath.Join(b.dir, name)
		if slices.Contains(generated, file) {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly)
		if err == nil && syntax.Name.Name != b.pkg {
			return fmt.Errorf("-o %s: %s there is of package %s, and one folder has one package; name another folder, or give -package %s",
				b.dir, name, syntax.Name.Name, syntax.Name.Name)
		}
	}
	return nil
}

// plan is what the headers and the committed facts amount to.
type plan struct {
	facts []*abi.Facts            // of all targets
	added map[string][]abi.Change // what the headers add, by target
	first bool                    // nothing was known before
}

// merge adds what was read to what is known, target by target. Targets that
// were not read stay as they are.
func merge(known, read []*abi.Facts) (*plan, error) {
	known, read = withPrefixes(known, read)
	p := &plan{facts: slices.Clone(known), added: map[string][]abi.Change{}, first: len(known) == 0}
	var conflicts []error
	for _, r := range read {
		i := slices.IndexFunc(p.facts, func(k *abi.Facts) bool { return k.Target() == r.Target() })
		if i < 0 {
			p.facts = append(p.facts, r)
			continue
		}
		merged, added, err := abi.Merge(p.facts[i], r)
		if err != nil {
			conflicts = append(conflicts, err)
			continue
		}
		p.facts[i] = merged
		if added != nil {
			p.added[r.Target()] = added
		}
	}
	// Linux, where most users are, gives the order of what all targets share.
	slices.SortFunc(p.facts, func(a, b *abi.Facts) int {
		return cmp.Or(strings.Compare(b.GOOS, a.GOOS), strings.Compare(a.GOARCH, b.GOARCH), strings.Compare(a.Libc, b.Libc))
	})
	return p, errors.Join(conflicts...)
}

// withPrefixes gives the facts of all targets the prefixes that their names lose
// in Go. Those that the package had when it was first written stay for good:
// another release, in which other names are the most, renames nothing.
func withPrefixes(known, read []*abi.Facts) (knownToo, readToo []*abi.Facts) {
	first := known
	if len(known) == 0 {
		first = read
	}
	if len(first) == 0 || first[0].Header == verbs {
		return known, read
	}
	prefixes := first[0].Prefixes
	if prefixes == nil {
		prefixes = append([]string{}, gosrc.Prefixes(first)...)
	}
	with := func(all []*abi.Facts) []*abi.Facts {
		out := make([]*abi.Facts, len(all))
		for i, f := range all {
			copied := *f
			copied.Prefixes = prefixes
			out[i] = &copied
		}
		return out
	}
	return with(known), with(read)
}

// goFiles is the Go that the facts give, by file name. from is the package whose
// types it uses, or nil.
func (b *bindings) goFiles(header string, from *gosrc.Import, all []*abi.Facts) (map[string][]byte, error) {
	options := gosrc.Options{
		Package: b.pkg, Command: fmt.Sprintf("gen generate -header %s -package %s", header, b.pkg), Import: from,
		Library: b.soname, Unexported: header == verbs && b.pkg == "ibv",
	}
	for _, name := range b.tables {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading the table of -conventions: %w", err)
		}
		options.Conventions = append(options.Conventions, gosrc.Conventions{File: name, Text: string(text)})
	}
	// Linux's layouts go for systems without any, too, unless a target was asked for.
	options.Everywhere = !slices.ContainsFunc(headers.GoTargets("linux"), func(t headers.Target) bool { return factsOf(all, t) == nil })
	if b.imported != "" {
		options.Command += " -import " + b.imported
	}
	switch {
	case header == verbs && b.soname == "":
		options.Command += " -library " + noLibrary
	case header != verbs && b.soname != "":
		options.Command += " -library " + b.soname
	}
	if b.direct != "" {
		options.Direct = strings.Split(b.direct, ",")
		options.Command += " -direct " + b.direct
	}
	for _, name := range b.tables {
		options.Command += " -conventions " + filepath.ToSlash(b.fromPackage(name))
	}
	var left notes
	options.LeftOut = func(l gosrc.LeftOut) { left.add(l.Why.Error(), l.Target) }
	files, err := gosrc.Generate(all, options)
	left.print(stderr, len(all))
	return files, err
}

// fromPackage is a file's name as seen from the folder of the package, which does
// not depend on where the command was run.
func (b *bindings) fromPackage(name string) string {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(b.folder(), absolute); err == nil {
		return rel
	}
	return name
}

// leftovers lists generated files that the generator does not write any more.
func (b *bindings) leftovers(files map[string][]byte) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(b.dir, "zz_generated*.go"))
	if err != nil {
		return nil, fmt.Errorf("looking for generated files: %w", err)
	}
	var out []string
	for _, name := range names {
		if _, ours := files[filepath.Base(name)]; ours {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(text, []byte(`// Code generated by "gen generate `)) {
			out = append(out, name)
		}
	}
	return out, nil
}

// reportAdded tells what the headers add, each change once however many
// targets have it.
func reportAdded(w io.Writer, p *plan) {
	type seen struct {
		change  abi.Change
		targets []string
	}
	var order []string
	changes := map[string]*seen{}
	for _, f := range p.facts {
		for _, c := range p.added[f.Target()] {
			key := c.String()
			if changes[key] == nil {
				changes[key] = &seen{change: c}
				order = append(order, key)
			}
			changes[key].targets = append(changes[key].targets, f.Target())
		}
	}
	for _, key := range order {
		s := changes[key]
		where := ""
		if len(s.targets) < len(p.added) {
			where = " (" + strings.Join(s.targets, ", ") + ")"
		}
		first, details, _ := strings.Cut(key, "\n")
		fmt.Fprintf(w, "%s%s\n", first, where)
		if details != "" {
			fmt.Fprintln(w, details)
		}
	}
}

// release is what to call the headers that facts were read from.
func release(read []*abi.Facts) string {
	if len(read) == 0 || read[0].Version == "" {
		return "this release"
	}
	return read[0].Version
}

// writeFacts writes the facts when they are not those that the file holds. The
// file's own bytes do not tell: they depend on the compressor.
func (b *bindings) writeFacts(p *plan) (changed bool, err error) {
	name := filepath.Join(b.dir, factsName)
	known, err := b.known()
	if err != nil {
		return false, err
	}
	if len(known) > 0 {
		var have, want bytes.Buffer
		if err := abi.WriteSet(&have, known); err != nil {
			return false, err
		}
		if err := abi.WriteSet(&want, p.facts); err != nil {
			return false, err
		}
		if bytes.Equal(have.Bytes(), want.Bytes()) {
			return false, nil
		}
	}
	return true, writeFactsFile(name, p.facts)
}
