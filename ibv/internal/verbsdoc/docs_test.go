package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each function of C's is done in one place, or left out for a reason.
func TestEveryFunctionIsDealtWith(t *testing.T) {
	p, err := pageOf("../..")
	require.NoError(t, err)
	require.Empty(t, problems(p))
	require.Greater(t, len(p.rows), 170)
}

func TestPageIsUpToDate(t *testing.T) {
	p, err := pageOf("../..")
	require.NoError(t, err)
	text, err := os.ReadFile("../../../docs/verbs.md")
	require.NoError(t, err)
	require.True(t, bytes.Equal(p.markdown(), text), "docs/verbs.md is not what the documentation and the facts say: run go generate ./...")
}

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "docs", "verbs.md")
	var stdout, stderr bytes.Buffer
	require.NoError(t, run([]string{"-ibv", "../..", "-o", file}, &stdout, &stderr))
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	committed, err := os.ReadFile("../../../docs/verbs.md")
	require.NoError(t, err)
	require.True(t, bytes.Equal(committed, written))
	require.NoError(t, run([]string{"-ibv", "../.."}, &stdout, &stderr))
	require.Contains(t, stdout.String(), "are dealt with")
	require.Empty(t, stderr.String())

	// A new release's function does not stop who generates, and is reported.
	dir := doctored(t, func(functions []any) []any {
		return append(functions, map[string]any{"name": "ibv_fresh", "kind": "extern", "header": "infiniband/verbs.h"})
	})
	require.NoError(t, run([]string{"-ibv", dir, "-o", file}, &stdout, &stderr))
	require.Contains(t, stderr.String(), "ibv_fresh (function) is done nowhere")
	require.ErrorContains(t, run([]string{"-ibv", dir}, &stdout, &stderr), "ibv_fresh (function) is done nowhere")
	require.Error(t, run([]string{"-ibv", t.TempDir()}, &stdout, &stderr))
}
