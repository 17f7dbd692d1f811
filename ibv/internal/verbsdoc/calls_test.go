package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Functions that Go does without calling any of C's.
var uncalled = map[string]string{
	"ibv_get_device_name":         "the name is a member of the struct",
	"ibv_inc_rkey":                "arithmetic",
	"ibv_is_qpt_supported":        "arithmetic",
	"ibv_flow_label_to_udp_sport": "arithmetic",
	"ibv_cq_ex_to_cq":             "the same pointer",
	"ibv_wr_abort":                "no batch is given up once it has begun",
}

// Inline functions that call a pointer of another name.
var renamed = map[string]string{
	"ibv_post_wq_recv":             "post_recv",
	"ibv_query_rt_values_ex":       "query_rt_values",
	"ibv_wc_read_invalidated_rkey": "read_imm_data",
}

// What is said to do a function of C's does it: it calls the function, or what the inline function does, by way of other
// functions of the package perhaps.
func TestGoCallsWhatItNames(t *testing.T) {
	graph := read(t, "../..")
	p, err := pageOf("../..")
	require.NoError(t, err)
	for _, r := range p.rows {
		if len(r.by) == 0 {
			continue
		}
		by, targets := r.by[0].name, graph.targets(r.cFunction)
		if strings.HasPrefix(r.name, "ibv_wc_read_") {
			by = p.by("ibv_start_poll") // an extended poll reads all that the methods of a completion give
		}
		typ, _, _ := strings.Cut(by, ".")
		reached := slices.ContainsFunc(targets, func(target string) bool {
			return graph.reach(by, target) || graph.reach("New"+typ, target) // which may look up what methods call
		})
		if uncalled[r.name] != "" {
			assert.False(t, reached, "%s calls %s after all", by, r.name)
			continue
		}
		assert.NotEmpty(t, targets, "%s has no generated call, and no struct has a pointer to it", r.name)
		assert.True(t, reached, "%s never calls %s, as %v", by, r.name, targets)
	}
}

// by is what does a function of C's.
func (p *page) by(name string) string {
	for _, r := range p.rows {
		if r.name == name && len(r.by) > 0 {
			return r.by[0].name
		}
	}
	return ""
}

// graph is who names whom in a package.
type graph struct {
	names map[string]map[string]bool // functions and variables, methods by their names alone too
	calls map[string]string          // the generated calls, by the name of C's function
	slots map[string][]string        // members of structs that point to functions, by C's name
}

// targets is the names that a function of C's, or what is behind an inline one, has in Go.
func (g *graph) targets(c *cFunction) (targets []string) {
	if call := g.calls[c.name]; call != "" {
		return []string{call}
	}
	// The underscored one behind an inline function, or the plain one before a macro.
	for _, name := range []string{"_" + c.name, strings.TrimLeft(c.name, "_")} {
		if call := g.calls[name]; call != "" {
			return []string{call}
		}
	}
	short := strings.TrimPrefix(c.name, "ibv_")
	for _, name := range []string{c.name, short, strings.TrimPrefix(short, "wc_"), renamed[c.name]} {
		targets = append(targets, g.slots[name]...)
	}
	return targets
}

// reach reports whether a function names something, by way of any others.
func (g *graph) reach(from, to string) bool {
	seen := map[string]bool{}
	for next := []string{from}; len(next) > 0; next = next[1:] {
		if next[0] == to {
			return true
		}
		for name := range g.names[next[0]] {
			if !seen[name] {
				seen[name] = true
				next = append(next, name)
			}
		}
	}
	return false
}

// read reads a package, of all systems.
func read(t *testing.T, dir string) *graph {
	t.Helper()
	g := &graph{names: map[string]map[string]bool{}, calls: map[string]string{}, slots: map[string][]string{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				g.function(decl)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					g.spec(spec)
				}
			}
		}
	}
	return g
}

var (
	prototype = regexp.MustCompile(`^(c\w+) is C's function of [^:]*: .*?(\w+)\(`)
	slot      = regexp.MustCompile(`\(\*(\w+)\)\(`)
)

func (g *graph) function(fn *ast.FuncDecl) {
	if m := prototype.FindStringSubmatch(strings.ReplaceAll(fn.Doc.Text(), "\n", " ")); m != nil {
		g.calls[m[2]] = m[1]
		return
	}
	if fn.Body == nil {
		return
	}
	name, _ := goName(fn)
	g.add(name, fn.Body)
	g.add(fn.Name.Name, fn.Body) // others name a method without its type
}

func (g *graph) spec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			for _, value := range spec.Values {
				g.add(name.Name, value)
			}
		}
	case *ast.TypeSpec:
		record, ok := spec.Type.(*ast.StructType)
		if !ok {
			return
		}
		for _, field := range record.Fields.List {
			if m := slot.FindStringSubmatch(field.Comment.Text()); m != nil && len(field.Names) == 1 {
				g.slots[m[1]] = append(g.slots[m[1]], field.Names[0].Name)
			}
		}
	}
}

func (g *graph) add(name string, body ast.Node) {
	if name == "_" {
		return // an assertion, which nothing leads to
	}
	if g.names[name] == nil {
		g.names[name] = map[string]bool{}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			g.names[name][id.Name] = true
		}
		return true
	})
}
