package ibv

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documentation is the package as the go command documents it: with unexported
// declarations, which it leaves out when it prints.
func documentation(t *testing.T) *doc.Package {
	t.Helper()
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, e := range entries {
		built, err := build.Default.MatchFile(".", e.Name())
		require.NoError(t, err)
		if name := e.Name(); built && strings.HasSuffix(name, ".go") {
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			require.NoError(t, err)
			files = append(files, f)
		}
	}
	p, err := doc.NewFromFiles(fset, files, "github.com/goverbs/goverbs/ibv", doc.AllDecls)
	require.NoError(t, err)
	return p
}

// A newcomer finds a constructor under what it makes, and says that of all
// exported functions. A variable that is declared to be an error takes all
// functions with an error from go doc's types: that is why there is none.
func TestFunctionsAreUnderTypes(t *testing.T) {
	// These have to do with numbers and with the process, not with the package's types.
	others := []string{"DirectCalls", "FlowLabelToUDPSport", "ForkInit", "IncRKey"}
	for _, f := range documentation(t).Funcs {
		if ast.IsExported(f.Name) {
			assert.Contains(t, others, f.Name, "go doc lists it with no type")
		}
	}
}

// Every exported declaration says what it is, in a sentence, and last what it is
// in C, if it is something there.
func TestEverythingIsDocumented(t *testing.T) {
	for name, text := range declarations(documentation(t)) {
		if of, method, _ := strings.Cut(name, "."); ast.IsExported(of) && (method == "" || ast.IsExported(method)) {
			assert.Regexp(t, `[.)]\n(\nC: [^.\n]+\n)?$`, text, "the documentation of %s is a sentence", name)
		}
	}
}

// What the package's introduction refers to is there.
func TestLinksOfTheIntroduction(t *testing.T) {
	p := documentation(t)
	there := declarations(p)
	links := regexp.MustCompile(`\[([A-Z][\w.]*)\]`).FindAllStringSubmatch(p.Doc, -1)
	require.NotEmpty(t, links)
	for _, link := range links {
		assert.Contains(t, there, link[1], "the introduction links to it")
	}
}

// declarations are the texts of all types, values, functions and TYPE.METHODs.
func declarations(p *doc.Package) map[string]string {
	all := map[string]string{}
	values := func(groups ...[]*doc.Value) {
		for _, group := range groups {
			for _, v := range group {
				for _, name := range v.Names {
					all[name] = v.Doc
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
