package apidoc

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"regexp"
	"slices"
	"strings"
)

// API is what users see of the package in a folder that is built of some of its files: every exported declaration as go
// doc prints it, without comments. Constants and variables come first, then functions, then types, each with what belongs
// to it, all of them sorted: what moves to another file changes nothing. Nothing is columns, so that a longer name changes
// no other line. Without files, there are no declarations.
func API(dir, importPath string, names []string) ([]string, error) {
	fset, files, err := parse(dir, names, parser.SkipObjectResolution)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	p, err := doc.NewFromFiles(fset, files, importPath)
	if err != nil {
		return nil, err
	}
	var nodes []ast.Node
	add := func(consts, vars []*doc.Value, funcs ...[]*doc.Func) {
		var values []*ast.GenDecl
		for _, v := range slices.Concat(consts, vars) {
			values = append(values, single(v.Decl)...)
		}
		slices.SortFunc(values, func(a, b *ast.GenDecl) int {
			return cmp.Or(cmp.Compare(a.Tok, b.Tok), strings.Compare(first(a), first(b)))
		})
		for _, v := range values {
			nodes = append(nodes, v)
		}
		for _, list := range funcs {
			for _, f := range list { // sorted
				nodes = append(nodes, f.Decl)
			}
		}
	}
	add(p.Consts, p.Vars, p.Funcs)
	for _, typ := range p.Types { // sorted
		nodes = append(nodes, typ.Decl)
		add(typ.Consts, typ.Vars, typ.Funcs, typ.Methods)
	}
	texts := make([]string, 0, len(nodes))
	for _, n := range nodes {
		var b bytes.Buffer
		if err := (&printer.Config{Mode: printer.RawFormat, Tabwidth: 8}).Fprint(&b, fset, n); err != nil {
			return nil, err
		}
		texts = append(texts, emptyLine.ReplaceAllString(column.ReplaceAllString(b.String(), "$1 "), "\n"))
	}
	return texts, nil
}

// column is the room that the printer makes for columns, which are behind a text, and emptyLine is where comments were.
var (
	column    = regexp.MustCompile(`(\S)\t+`)
	emptyLine = regexp.MustCompile(`\n{2,}`)
)

// single is a declaration of constants or of variables as one for each, if none has its value from the one before.
func single(d *ast.GenDecl) []*ast.GenDecl {
	var all []*ast.GenDecl
	for _, s := range d.Specs {
		if v := s.(*ast.ValueSpec); v.Values == nil && v.Type == nil {
			return []*ast.GenDecl{d}
		}
		all = append(all, &ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{s}})
	}
	return all
}

// first is the first name of a declaration.
func first(d *ast.GenDecl) string { return d.Specs[0].(*ast.ValueSpec).Names[0].Name }
