package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// macrosOf is the function-like macros that the headers of an include folder define, of a text that the preprocessor has
// gone through with its directives kept.
func macrosOf(text, folder string) (names []string) {
	at := regexp.MustCompile(`^# \d+ "(.*)"`)
	define := regexp.MustCompile(`^#define (\w+)\(`)
	file := ""
	for line := range strings.Lines(text) {
		if m := at.FindStringSubmatch(line); m != nil {
			file = m[1]
		}
		if m := define.FindStringSubmatch(line); m != nil && strings.Contains(file, "/"+folder+"/") {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// functionsOf is the functions that the headers of an include folder declare or define.
func functionsOf(text, folder string) (names []string) {
	at := regexp.MustCompile(`^# \d+ "(.*)"`)
	function := regexp.MustCompile(`^[a-z][^(=;]*?\b(\w+)\(`)
	file := ""
	for line := range strings.Lines(text) {
		if m := at.FindStringSubmatch(line); m != nil {
			file = m[1]
		}
		if m := function.FindStringSubmatch(line); m != nil && strings.Contains(file, "/"+folder+"/") {
			names = append(names, m[1])
		}
	}
	return names
}

// The facts have no function-like macros but those that hide a function, and nothing that a program has to ask for, so the installed header is asked for them.
func TestMacrosAreDealtWith(t *testing.T) {
	if os.Getenv("GOVERBS_NO_CC") == "1" {
		t.Skip("GOVERBS_NO_CC=1: no C compiler to ask")
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	preprocessed := func(flags ...string) string {
		cmd := exec.Command(compiler, append(flags, "-E", "-dD", "-xc", "-")...)
		cmd.Stdin = strings.NewReader("#include <infiniband/verbs.h>\n")
		text, err := cmd.Output()
		require.NoError(t, err, "%s (GOVERBS_NO_CC=1 does without a C compiler; the headers are in libibverbs-dev or rdma-core-devel)", compiler)
		return string(text)
	}
	// For programs that are linked with their providers the header has more.
	text := preprocessed("-DRDMA_STATIC_PROVIDERS=none")
	found := macrosOf(text, "infiniband")
	require.Contains(t, found, "ibv_reg_mr")
	usual, functions := functionsOf(preprocessed(), "infiniband"), functionsOf(text, "infiniband")
	require.Contains(t, usual, "ibv_query_port")
	require.Contains(t, usual, "ibv_post_send")
	for _, name := range functions {
		if !slices.Contains(usual, name) { // the facts have the others
			found = append(found, name)
		}
	}
	p, err := pageOf("../..")
	require.NoError(t, err)
	for _, name := range found {
		require.True(t, p.has(name), "nobody has dealt with %s: give what does it in Go a last line \"C: %s\", or leftout.txt a reason", name, name)
	}
	// None is made up either; which there are has not changed in any release.
	for _, r := range p.rows {
		if r.unseen || r.shadowed {
			require.Contains(t, found, r.name)
		}
	}
}

func (p *page) has(name string) bool {
	return slices.ContainsFunc(p.rows, func(r *row) bool { return r.name == name })
}

// A header with a macro more is noticed.
func TestMacrosOf(t *testing.T) {
	require.Equal(t, []string{"ibv_fresh", "ibv_old"}, macrosOf(`# 1 "<stdin>"
#define stdin_only(x) x
# 1 "/usr/include/infiniband/verbs.h" 1 3 4
#define ibv_old(a,b) a ## b
#define IBV_VALUE 7
# 30 "/usr/include/infiniband/verbs.h" 3 4
#define ibv_fresh() 1
# 1 "/usr/include/stdio.h" 1 3 4
#define getc(f) f
`, "infiniband"))
}
