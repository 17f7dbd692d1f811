package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Functions of the library that Go does without calling them.
var uncalled = map[string]string{
	"ibv_get_device_name": "the name is a member of the struct",
}

// What is said to do a function of the library's calls it, by way of other functions of the package perhaps.
func TestGoCallsWhatItNames(t *testing.T) {
	calls, generated := callsOf(t, "../..")
	p, err := pageOf("../..")
	require.NoError(t, err)
	checked := 0
	for _, r := range p.rows {
		if r.kind != exported || len(r.by) == 0 {
			continue
		}
		require.Contains(t, generated, r.name, "it has no generated call")
		if uncalled[r.name] != "" {
			require.False(t, calls.reach(r.by[0].name, generated[r.name]), "%s calls %s after all", r.by[0].name, r.name)
			continue
		}
		require.True(t, calls.reach(r.by[0].name, generated[r.name]), "%s never calls %s", r.by[0].name, r.name)
		checked++
	}
	require.Greater(t, checked, 30)
}

// calls is the names of functions that each function names, methods by their names alone too.
type calls map[string]map[string]bool

// reach reports whether a function names another, by way of any others.
func (c calls) reach(from, to string) bool {
	seen := map[string]bool{}
	next := []string{from}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if name == to {
			return true
		}
		for n := range c[name] {
			if !seen[n] {
				seen[n] = true
				next = append(next, n)
			}
		}
	}
	return false
}

// callsOf reads a package, and what its generated calls are called by the name of C's function.
func callsOf(t *testing.T, dir string) (all calls, generated map[string]string) {
	t.Helper()
	all, generated = calls{}, map[string]string{}
	prototype := regexp.MustCompile(`^(c\w+) is C's function of [^:]*: .*?(\w+)\(`)
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			if m := prototype.FindStringSubmatch(strings.ReplaceAll(fn.Doc.Text(), "\n", " ")); m != nil {
				generated[m[2]] = m[1]
				continue
			}
			named := map[string]bool{}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					named[id.Name] = true
				}
				return true
			})
			name, _ := goName(fn)
			for _, name := range []string{name, fn.Name.Name} { // other functions name a method without its type
				if all[name] == nil {
					all[name] = map[string]bool{}
				}
				for n := range named {
					all[name][n] = true
				}
			}
		}
	}
	return all, generated
}
