// Package cheader reads C headers into the model of package abi. It knows C,
// by way of modernc.org/cc, and nothing of Go.
//
// Reading is hermetic: besides the headers asked for, only the stub system
// headers and the targets of package headers are seen, never the machine's C
// compiler or its libc headers, so that the answer is the same everywhere.
package cheader

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"modernc.org/cc/v4"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/headers"
)

// Source is what to read: a header as a C program includes it, and where to
// look for it and for what it includes in turn.
type Source struct {
	Header      string   // "infiniband/verbs.h"
	IncludeDirs []string // searched in order
}

// end follows a header. Where one breaks off in the middle of a declaration, the
// front end would wait for its next word for ever: for a semicolon, or behind a
// star for a name.
var end = strings.Repeat("; extern int __end_of_header[];\n", 32)

// partial is the RDMA header of which the stubs have a part: what rdma-core's
// headers use of the kernel's.
const partial = "rdma/ib_user_verbs.h"

// Parse reads src as a C compiler for target sees it.
func Parse(src Source, target headers.Target) (*abi.Facts, error) {
	if strings.ContainsAny(src.Header, "<>\"\n\r\\") {
		return nil, fmt.Errorf("parsing %q: not the name of a header", src.Header)
	}
	tree := newTree(src.IncludeDirs)
	tree.whole = src.Header == partial
	facts, err := parse(src, target, tree)
	if err != nil && tree.part {
		// The header may need more of a kernel header than its stub has.
		whole := newTree(src.IncludeDirs)
		whole.whole = true
		if facts, err := parse(src, target, whole); err == nil {
			return facts, nil
		}
	}
	return facts, err
}

func parse(src Source, target headers.Target, tree *tree) (facts *abi.Facts, err error) {
	// A header is input, and no input may end the program: what cc does not
	// foresee becomes an error like any other.
	defer func() {
		if r := recover(); r != nil {
			facts, err = nil, fmt.Errorf("parsing %s for %s: the C front end gave up: %v", src.Header, target, r)
		}
	}()
	ccABI, err := cc.NewABI(target.OS, target.Arch)
	if err != nil {
		return nil, fmt.Errorf("parsing %s for %s: %w", src.Header, target, err)
	}
	config := cc.Config{
		ABI:             ccABI,
		FSOnly:          true,
		IncludePaths:    []string{"", root},
		SysIncludePaths: []string{root},
		EvalAllMacros:   true,
		Header:          true,
		UnsignedEnums:   true,
		ABILayout:       true,
		ExpansionLimit:  1 << 24,
		HasBuiltin:      target.HasBuiltin,
	}
	sources := []cc.Source{
		{Name: "<predefined>", Value: target.Predefined()},
		{Name: "<builtin>", Value: cc.Builtin},
		{Name: "<" + src.Header + ">", Value: "#include <" + src.Header + ">\n" + end},
	}
	ast, err := tree.translate(config, sources)
	if err != nil && tree.refused == nil && !notFound.MatchString(err.Error()) {
		if found, effects := findBodies(config, sources, tree.again()); len(found) > 0 {
			tree = tree.again()
			tree.bodies = found
			if ast, err = tree.translate(config, sources); err == nil {
				err = tree.unchanged(config, sources, effects)
			}
		}
	}
	if err != nil {
		return nil, tree.explain(src, target, err)
	}
	r := newReader(ast, target)
	r.facts = &abi.Facts{
		Schema:      abi.Schema,
		Header:      src.Header,
		GOOS:        target.OS,
		GOARCH:      target.Arch,
		Libc:        target.Libc,
		BigEndian:   target.BigEndian(),
		PointerSize: ast.PVoid.Size(),
		LongSize:    ast.Long.Size(),
		Headers:     tree.shipped(),
		Records:     []*abi.Record{},
		Enums:       []*abi.Enum{},
		Macros:      []*abi.Macro{},
		Functions:   []*abi.Function{},
	}
	if err := r.read(); err != nil {
		return nil, fmt.Errorf("reading %s for %s: %w", src.Header, target, err)
	}
	return r.facts, nil
}

// translate parses what the headers of the tree declare.
func (t *tree) translate(config cc.Config, sources []cc.Source) (ast *cc.AST, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the C front end gave up: %v", r)
		}
	}()
	config.FS, config.PragmaHandler = t, t.pragma
	// The parser may never end where the preprocessor has, in the middle of a declaration.
	if err := cc.Preprocess(&config, sources, io.Discard); err != nil {
		return nil, err
	}
	t.restart()
	ast, err = cc.Translate(&config, sources)
	if err == nil {
		err = cmp.Or(t.refused, t.unknown())
	}
	if err != nil && strings.Contains(err.Error(), "conflicting attributes") {
		t.restart()
		if ast, parseErr := cc.Parse(&config, sources); parseErr == nil {
			err = cmp.Or(realigned(ast), err)
		}
	}
	return ast, err
}

// reader turns one syntax tree into facts.
type reader struct {
	ast    *cc.AST
	target headers.Target
	facts  *abi.Facts
	errs   []error

	differs        bool                          // some size or offset is not what cc takes it for
	layouts        map[*cc.Field]*layout         // of records, by their first member
	members        map[*cc.Declarator]definition // attributes of members
	enums          map[*cc.Enumerator]definition // attributes of enumerations, by their first value
	enumTypedefs   map[*cc.Enumerator]*cc.Declarator
	bases          map[string]string   // of a typedef's name, the typedef that it is another name of
	enumSpecifiers []*cc.EnumSpecifier // the definitions, wherever they stand

	owner owner           // of the node that is looked at
	out   map[string]bool // the keys of owners that are left out
	grew  bool            // something was left out, and others may need it
}

func newReader(ast *cc.AST, target headers.Target) *reader {
	return &reader{ast: ast, target: target, layouts: map[*cc.Field]*layout{}, members: map[*cc.Declarator]definition{}, enums: map[*cc.Enumerator]definition{},
		enumTypedefs: map[*cc.Enumerator]*cc.Declarator{}, bases: map[string]string{}, out: map[string]bool{}}
}

func (r *reader) read() error {
	r.survey()
	// The scope is a map; a header has an order.
	for _, name := range slices.Sorted(maps.Keys(r.ast.Scope.Nodes)) {
		for _, n := range r.ast.Scope.Nodes[name] {
			r.node(n)
		}
	}
	r.untaggedEnums()
	r.spread()
	r.withoutOut()
	r.macros()
	sort.Slice(r.facts.Records, func(i, j int) bool {
		a, b := r.facts.Records[i], r.facts.Records[j]
		return before(a.Header, a.Line, a.Name, b.Header, b.Line, b.Name)
	})
	sort.Slice(r.facts.Enums, func(i, j int) bool {
		a, b := r.facts.Enums[i], r.facts.Enums[j]
		return before(a.Header, a.Line, a.Name, b.Header, b.Line, b.Name)
	})
	sort.Slice(r.facts.Functions, func(i, j int) bool {
		a, b := r.facts.Functions[i], r.facts.Functions[j]
		return before(a.Header, a.Line, a.Name, b.Header, b.Line, b.Name)
	})
	sort.Slice(r.errs, func(i, j int) bool { return r.errs[i].Error() < r.errs[j].Error() })
	return errors.Join(r.errs...)
}

func before(header1 string, line1 int, name1, header2 string, line2 int, name2 string) bool {
	if header1 != header2 {
		return header1 < header2
	}
	if line1 != line2 {
		return line1 < line2
	}
	return name1 < name2
}

// node takes one declaration of the file scope.
func (r *reader) node(n cc.Node) {
	switch n := n.(type) {
	case *cc.StructOrUnionSpecifier:
		r.tagged(n)
	case *cc.EnumSpecifier:
		if n.Case == cc.EnumSpecifierDef {
			if t, ok := n.Type().(*cc.EnumType); ok {
				r.enum(t, n)
			}
		}
	case *cc.Declarator:
		switch {
		case n.IsTypename():
			r.typedef(n)
		case n.Type().Kind() == cc.Function:
			r.function(n)
		}
	}
}

// where is the header, as a C program includes it, and the line of a node.
func where(n cc.Node) (header string, line int, shipped bool) {
	p := n.Position()
	header, shipped = strings.CutPrefix(p.Filename, root+"/")
	return header, p.Line, shipped
}

func (r *reader) failf(n cc.Node, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: %s", position(n), fmt.Sprintf(format, args...)))
}

// leaveOut notes what is no fact, and refuses no header.
func (r *reader) leaveOut(n cc.Node, format string, args ...any) {
	r.facts.LeftOut = append(r.facts.LeftOut, fmt.Sprintf("%s: %s", position(n), fmt.Sprintf(format, args...)))
}

// position is where a node is in the headers.
func position(n cc.Node) string {
	p := n.Position()
	p.Filename = strings.TrimPrefix(p.Filename, root+"/")
	return p.String()
}
