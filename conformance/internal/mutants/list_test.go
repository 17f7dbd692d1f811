package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the module's folder, where the files' names begin.
const root = "../../../"

// Each fault has a name of its own, and something to break.
func TestList(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants {
		require.False(t, names[m.name], m.name)
		names[m.name] = true
		source, err := os.ReadFile(root + m.file)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(source), m.old), "%s: %s", m.name, m.old)
		require.NotEqual(t, m.old, m.new, m.name)
	}
}

// A sample is the same for the same seed, and has no fault twice.
func TestChosen(t *testing.T) {
	sample := chosen(6, 1, "")
	require.Len(t, sample, 6)
	require.Equal(t, sample, chosen(6, 1, ""))
	require.NotEqual(t, sample, chosen(6, 2, ""))
	require.Len(t, chosen(0, 0, ""), len(mutants))
	require.Len(t, chosen(0, 0, mutants[3].name), 1)
	require.Empty(t, chosen(0, 0, "no such"))
}

// What does not compile, or is not there, is an error, and what changes nothing survives.
func TestTry(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(root)
	try := func(file, old, new string) outcome {
		overlay, err := mutant{name: "this", file: file, old: old, new: new}.overlay(folder)
		if err != nil {
			return outcome{err: err}
		}
		noticed, err := fails("./conformance/internal/mutants/testdata/sum", overlay)
		return outcome{noticed: noticed, err: err}
	}
	const file = "conformance/internal/mutants/testdata/sum/sum.go"
	require.Contains(t, try(file, "a + b", "a - b").noticed, "TestSum/small")
	require.Equal(t, outcome{}, try(file, "a + b", "b + a"))
	require.ErrorContains(t, try(file, "a + b", "a + c").err, "does not compile")
	require.ErrorContains(t, try(file, "a * b", "a - b").err, "0 times")
	require.ErrorIs(t, try("no such file", "", "").err, os.ErrNotExist)
}

// The page has each of them, with the test that noticed it: make mutants writes it.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(root + "docs/mutants.md")
	require.NoError(t, err)
	for _, m := range mutants {
		require.Contains(t, string(page), "| "+m.name+" | ["+m.file+"]")
	}
	require.Equal(t, len(mutants), strings.Count(string(page), "](../"))
}
