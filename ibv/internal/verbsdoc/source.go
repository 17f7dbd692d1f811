package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// goFunction is a function or a method of package ibv that does what functions of C's do.
type goFunction struct {
	name    string   // as go doc has it: Open, QP.Modify
	c       []string // C's names
	differs string   // what differs from C, or ""
	files   []string // where it is, of all systems
	freeBSD bool     // there is one for FreeBSD
}

// readSource reads the functions of a Go package, of all systems, that name originals of C's, and of which there may be
// several in C: in the order of their names. Whoever is not exported is of no use to programs, and is left out.
func readSource(dir string) ([]*goFunction, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	freeBSD := build.Default
	freeBSD.GOOS, freeBSD.GOARCH = "freebsd", "amd64"
	var all []*goFunction
	for _, name := range names {
		base := filepath.Base(name)
		if strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "zz_generated") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		found, err := readFile(base, text)
		if err != nil {
			return nil, err
		}
		there, err := freeBSD.MatchFile(dir, base)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			f.freeBSD = there
			i := slices.IndexFunc(all, func(g *goFunction) bool { return g.name == f.name })
			if i < 0 {
				all = append(all, f)
				continue
			}
			// Another system's.
			if !slices.Equal(all[i].c, f.c) {
				return nil, fmt.Errorf("%s in %s is of %v, and in %s of %v", f.name, all[i].files[0], all[i].c, base, f.c)
			}
			if all[i].differs == "" {
				all[i].differs = f.differs
			}
			all[i].files = append(all[i].files, base)
			all[i].freeBSD = all[i].freeBSD || there
		}
	}
	slices.SortFunc(all, func(a, b *goFunction) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

func readFile(base string, text []byte) (found []*goFunction, err error) {
	syntax, err := parser.ParseFile(token.NewFileSet(), base, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, decl := range syntax.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Doc == nil {
			continue
		}
		name, public := goName(fn)
		c, differs, ok := original(fn.Doc.Text())
		switch {
		case !ok:
		case !public:
			return nil, fmt.Errorf("%s: %s says what it is in C, and is not exported", base, name)
		default:
			found = append(found, &goFunction{name: name, c: c, differs: differs, files: []string{base}})
		}
	}
	return found, nil
}

// goName is a function's name as go doc has it, and whether programs can call it.
func goName(fn *ast.FuncDecl) (name string, public bool) {
	name, public = fn.Name.Name, fn.Name.IsExported()
	if fn.Recv == nil {
		return name, public
	}
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	switch generic := typ.(type) {
	case *ast.IndexExpr:
		typ = generic.X
	case *ast.IndexListExpr:
		typ = generic.X
	}
	receiver, ok := typ.(*ast.Ident)
	if !ok {
		return name, false
	}
	return receiver.Name + "." + name, public && receiver.IsExported()
}

// original reads the last paragraph of a doc comment, "C: ibv_x(3), ibv_y; what differs".
func original(doc string) (names []string, differs string, ok bool) {
	paragraphs := strings.Split(strings.TrimSpace(doc), "\n\n")
	list, ok := strings.CutPrefix(paragraphs[len(paragraphs)-1], "C: ")
	if !ok {
		return nil, "", false
	}
	list, differs, _ = strings.Cut(strings.Join(strings.Fields(list), " "), "; ")
	for name := range strings.SplitSeq(list, ",") {
		names = append(names, strings.TrimSuffix(strings.TrimSpace(name), "(3)"))
	}
	return names, differs, true
}
