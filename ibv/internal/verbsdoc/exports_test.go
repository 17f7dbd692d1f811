package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FreeBSD's libibverbs exports every function that the packages call by name there: what a program would find out at the
// first call is found out here.
func TestFreeBSDExports(t *testing.T) {
	exports := freeBSDExports(t)
	facts, err := readFacts("../..")
	require.NoError(t, err)
	for _, f := range facts {
		if f.freeBSD && f.kind == exported {
			assert.Contains(t, exports, f.name, "the header declares it, so the list is not whole")
		}
	}
	for _, dir := range []string{"../..", "../../../rdma"} {
		called := calledByName(t, dir)
		assert.NotEmpty(t, called, dir)
		for name, where := range called {
			// The C library's are found by way of libibverbs, which needs that library.
			if !strings.HasPrefix(name, "pthread_") {
				assert.Contains(t, exports, name, where)
			}
		}
	}
	assert.Contains(t, calledByName(t, "../.."), "ibv_query_gid_type", "which no header declares")
}

func freeBSDExports(t *testing.T) (names []string) {
	text, err := os.ReadFile("testdata/freebsd-exports.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			names = append(names, line)
		}
	}
	require.True(t, slices.IsSorted(names))
	return names
}

// calledByName is the names in a package's values of type clib.Function, as it is compiled for FreeBSD, and where they are.
func calledByName(t *testing.T, dir string) map[string]token.Position {
	freeBSD := build.Default
	freeBSD.GOOS, freeBSD.GOARCH = "freebsd", "amd64"
	pkg, err := freeBSD.ImportDir(dir, 0)
	require.NoError(t, err)
	called := map[string]token.Position{}
	for _, name := range pkg.GoFiles {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			value, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			typ, ok := value.Type.(*ast.SelectorExpr)
			if !ok || typ.Sel.Name != "Function" {
				return true
			}
			for _, member := range value.Elts {
				pair, ok := member.(*ast.KeyValueExpr)
				if !ok || pair.Key.(*ast.Ident).Name != "Name" {
					continue
				}
				if text, ok := pair.Value.(*ast.BasicLit); ok {
					function, err := strconv.Unquote(text.Value)
					require.NoError(t, err)
					called[function] = files.Position(text.Pos())
				}
			}
			return true
		})
	}
	return called
}
