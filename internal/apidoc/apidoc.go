// Package apidoc reads a package's documentation, for tests of it.
package apidoc

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Read is the package in a folder as the go command documents it for this system: with unexported declarations, which it
// leaves out when it prints.
func Read(dir, importPath string) (*doc.Package, error) {
	names, err := Files(&build.Default, dir)
	if err != nil {
		return nil, err
	}
	fset, files, err := parse(dir, names, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	return doc.NewFromFiles(fset, files, importPath, doc.AllDecls)
}

// Files are the names of a folder's files that are built for a target, tests too.
func Files(target *build.Context, dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		built, err := target.MatchFile(dir, e.Name())
		if err != nil {
			return nil, err
		}
		if built {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// parse reads files of a folder.
func parse(dir string, names []string, mode parser.Mode) (*token.FileSet, []*ast.File, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, mode)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	return fset, files, nil
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
