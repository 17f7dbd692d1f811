package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// problems is all that a page finds wrong, as text.
func problems(p *page) (all []string) {
	wrong, missing := p.problems()
	for _, err := range slices.Concat(wrong, missing) {
		all = append(all, err.Error())
	}
	return all
}

// Every function is dealt with once: done, or left out for a reason.
func TestProblems(t *testing.T) {
	functions := []*cFunction{{name: "ibv_a", kind: exported}, {name: "ibv_b", kind: inline}, {name: "ibv_c", kind: exported}}
	done := []*goFunction{{name: "A", c: []string{"ibv_a"}, files: []string{"a.go"}}, {name: "QP.BC", c: []string{"ibv_b", "ibv_c"}, files: []string{"bc.go"}}}
	require.Empty(t, problems(newPage(functions, done, []leftOut{{"m", macro, "no use"}})))
	for _, tt := range []struct {
		done []*goFunction
		left []leftOut
		want string
	}{
		{done[:1], []leftOut{{"ibv_c", "", "x"}}, "ibv_b (inline) is done nowhere"},
		{done[1:], nil, "ibv_a (function) is done nowhere"},
		{append(done, &goFunction{name: "Again", c: []string{"ibv_b"}}), nil, "ibv_b is done twice, by QP.BC and Again"},
		{append(done, &goFunction{name: "D", c: []string{"ibv_d"}, files: []string{"d.go"}}), nil, "D (d.go) is said to be C's ibv_d, which verbs.h does not have"},
		{done, []leftOut{{"ibv_a", "", "x"}}, "ibv_a is in leftout.txt, and done by A"},
		{done, []leftOut{{"ibv_e", "", "x"}}, "leftout.txt has ibv_e, which verbs.h does not have"},
		{done, []leftOut{{"m", macro, "x"}, {"m", macro, "x"}}, "leftout.txt has m twice"},
	} {
		problems := problems(newPage(functions, tt.done, tt.left))
		require.Len(t, problems, 1, "%v", problems)
		require.Contains(t, problems[0], tt.want)
	}
}

func TestReadLeftOut(t *testing.T) {
	left, err := readLeftOut("# a comment\n\nibv_a  for no use \n m() a macro's\nfunction:f x\ninline:g y\n")
	require.NoError(t, err)
	require.Equal(t, []leftOut{{"ibv_a", "", "for no use"}, {"m", macro, "a macro's"}, {"f", exported, "x"}, {"g", inline, "y"}}, left)
	_, err = readLeftOut("ibv_a x\nibv_b\n")
	require.EqualError(t, err, "leftout.txt:2: ibv_b has no reason")
}

func TestReadFile(t *testing.T) {
	read := func(decl string) ([]*goFunction, error) { return readFile("x.go", []byte("package ibv\n\n"+decl)) }
	for decl, want := range map[string]*goFunction{
		"// A does.\n//\n// C: ibv_a(3)\nfunc A() {}":                                       {"A", []string{"ibv_a"}, "", []string{"x.go"}, false},
		"// B does.\n//\n// C: ibv_a, ibv_b(3); it asks\n// twice\nfunc (qp *QP) B() {}":    {"QP.B", []string{"ibv_a", "ibv_b"}, "it asks twice", []string{"x.go"}, false},
		"// C does.\n//\n// C: ibv_c\n//\n//go:uintptrescapes\nfunc (r Ring[T]) C() int {}": {"Ring.C", []string{"ibv_c"}, "", []string{"x.go"}, false},
	} {
		got, err := read(decl)
		require.NoError(t, err)
		require.Equal(t, []*goFunction{want}, got)
	}
	for _, decl := range []string{"// C: ibv_a\n\nfunc A() {}", "// A is as C: ibv_a\nfunc A() {}", "// C: ibv_a\n//\n// A does.\nfunc A() {}", "// QP.\n//\n// C: struct ibv_qp\ntype QP struct{}"} {
		got, err := read(decl)
		require.NoError(t, err)
		require.Empty(t, got, decl)
	}
	for _, decl := range []string{"// a does.\n//\n// C: ibv_a\nfunc a() {}", "// A does.\n//\n// C: ibv_a\nfunc (s *secret) A() {}"} {
		_, err := read(decl)
		require.ErrorContains(t, err, "is not exported", decl)
	}
}

// doctored is the folder of a package whose facts were changed.
func doctored(t *testing.T, change func(functions []any) []any) string {
	t.Helper()
	file, err := os.Open(filepath.Join("../..", factsName))
	require.NoError(t, err)
	defer file.Close()
	plain, err := gzip.NewReader(file)
	require.NoError(t, err)
	var facts map[string]any
	require.NoError(t, json.NewDecoder(plain).Decode(&facts))
	first := facts["first"].(map[string]any)
	first["functions"] = change(first["functions"].([]any))
	dir := t.TempDir()
	var text bytes.Buffer
	z := gzip.NewWriter(&text)
	require.NoError(t, json.NewEncoder(z).Encode(facts))
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, factsName), text.Bytes(), 0o600))
	sources, err := filepath.Glob("../../*.go")
	require.NoError(t, err)
	for _, name := range sources {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o600))
	}
	return dir
}

// A release that brings an inline function or another one that nobody has dealt
// with is noticed, and so is one that is gone.
func TestNewFunctionsAreNoticed(t *testing.T) {
	before, err := pageOf(doctored(t, func(functions []any) []any { return functions }))
	require.NoError(t, err)
	after, err := pageOf(doctored(t, func(functions []any) []any {
		return append(functions,
			map[string]any{"name": "ibv_fresh", "kind": "static inline", "header": "infiniband/verbs.h"},
			map[string]any{"name": "ibv_newest", "kind": "extern", "header": "infiniband/verbs_api.h"},
			map[string]any{"name": "strange", "kind": "extern", "header": "string.h"})
	}))
	require.NoError(t, err)
	require.Contains(t, string(after.markdown()), "| `ibv_fresh` | inline | | | |\n")
	require.Len(t, after.rows, len(before.rows)+2)
	known := problems(before)
	require.Equal(t, []string{
		`ibv_fresh (inline) is done nowhere: give what does it in Go a last line "C: ibv_fresh", or leftout.txt a reason`,
		`ibv_newest (function) is done nowhere: give what does it in Go a last line "C: ibv_newest", or leftout.txt a reason`,
	}, slices.DeleteFunc(problems(after), func(text string) bool { return slices.Contains(known, text) }))
}

// The facts know what FreeBSD lacks, what came when, and what is hidden by a macro.
func TestReadFacts(t *testing.T) {
	functions, err := readFacts("../..")
	require.NoError(t, err)
	all := map[string]cFunction{}
	for _, f := range functions {
		all[f.name] = *f
	}
	for _, want := range []cFunction{
		{"ibv_alloc_pd", exported, "", false, false, true, true},
		{"ibv_reg_dmabuf_mr", exported, "34.0", false, false, true, false},
		{"ibv_wr_flush", inline, "45.0", false, false, true, false},
		{"ibv_reg_mr", exported, "", true, false, true, true},
		{"ibv_poll_cq", inline, "", false, false, true, true},
	} {
		require.Equal(t, want, all[want.name])
	}
	require.NotContains(t, all, "strlen")
}

func TestOnFreeBSD(t *testing.T) {
	for _, tt := range []struct {
		c    cFunction
		by   []*goFunction
		want string
	}{
		{cFunction{linux: true, freeBSD: true}, []*goFunction{{freeBSD: true}}, ""},
		{cFunction{linux: true, freeBSD: true}, []*goFunction{{}}, "not in Go"},
		{cFunction{linux: true, freeBSD: true}, nil, ""},
		{cFunction{linux: true}, []*goFunction{{}}, "no"},
		{cFunction{freeBSD: true}, []*goFunction{{freeBSD: true}}, "only"},
		{cFunction{linux: true, kind: macro, unseen: true}, nil, ""},
	} {
		require.Equal(t, tt.want, (&row{cFunction: &tt.c, by: tt.by}).onFreeBSD())
	}
	source, err := readSource("../..")
	require.NoError(t, err)
	there := map[string]bool{}
	for _, g := range source {
		there[g.name] = g.freeBSD
	}
	require.True(t, there["QP.Modify"])
	require.False(t, there["WROpcode.Description"], "it is in description_other.go")
}
