// Package apidoc reads a package's documentation, for tests of it.
package apidoc

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
)

// Read is the package in a folder as the go command documents it for this system: with unexported declarations, which it
// leaves out when it prints.
func Read(dir, importPath string) (*doc.Package, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		built, err := build.Default.MatchFile(dir, name)
		if err != nil {
			return nil, err
		}
		if built {
			f, err := parser.ParseFile(fset, dir+"/"+name, nil, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	}
	return doc.NewFromFiles(fset, files, importPath, doc.AllDecls)
}

// Declarations are the texts of all types, values, functions and TYPE.METHODs.
func Declarations(p *doc.Package) map[string]string {
	all := map[string]string{}
	values := func(groups ...[]*doc.Value) {
		for _, group := range groups {
			for _, v := range group {
				text := v.Doc
				for _, spec := range v.Decl.Specs {
					spec := spec.(*ast.ValueSpec)
					if spec.Doc != nil { // which tells of those that follow too
						text = spec.Doc.Text()
					}
					for _, name := range spec.Names {
						all[name.Name] = text
					}
				}
			}
		}
	}
	values(p.Consts, p.Vars)
	for _, f := range p.Funcs {
		all[f.Name] = f.Doc
	}
	for _, typ := range p.Types {
		all[typ.Name] = typ.Doc
		values(typ.Consts, typ.Vars)
		for _, f := range typ.Funcs {
			all[f.Name] = f.Doc
		}
		for _, m := range typ.Methods {
			all[typ.Name+"."+m.Name] = m.Doc
		}
	}
	return all
}

// IsExported reports whether users see what Declarations calls so.
func IsExported(name string) bool {
	of, method, _ := strings.Cut(name, ".")
	return ast.IsExported(of) && (method == "" || ast.IsExported(method))
}

// Sentence is what the documentation of a declaration looks like: it ends as a sentence, but for a last line that says
// what it is in C.
var Sentence = regexp.MustCompile(`[.):?]\n(\n?\t[^\n]*\n)*(\nC: [^\n]+\n([^\n]+\n)*)?$`)

// link is one to a declaration of the package itself, or of another one.
var link = regexp.MustCompile(`\[((?:[a-z]\w*\.)?[A-Z][\w.]*)\]`)

// Links are the declarations that a text links to: NAME, TYPE.METHOD, or these behind another package's name.
func Links(text string) []string {
	var all []string
	for _, l := range link.FindAllStringSubmatch(text, -1) {
		all = append(all, l[1])
	}
	return all
}
