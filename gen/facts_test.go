package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// Of the system's headers facts hold the types that the header's own declarations
// need, on whatever way, and nothing else: another stub gives no other facts.
func TestFactsAreTheHeadersOwn(t *testing.T) {
	facts := factsOfText(t, `
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include "infiniband/other.h"
struct s { pthread_mutex_t lock; struct { struct iovec *list[2]; } u; };
int f(int (*wait)(const struct timespec *));
#define E EINVAL
`)
	var names []string
	for _, r := range facts.Records {
		names = append(names, r.Name)
		assert.Equal(t, r.Name == "s" || r.Name == "other", r.Line > 0, "the line of %s", r.Name)
	}
	assert.Equal(t, []string{"other", "s", "pthread_mutex_t", "iovec", "timespec"}, names)
	assert.Empty(t, facts.Enums)
	require.Len(t, facts.Macros, 1)
	assert.Equal(t, "22", facts.Macros[0].Value)
	require.Len(t, facts.Functions, 1)
	assert.Equal(t, "f", facts.Functions[0].Name)
}

func factsOfText(t *testing.T, text string) *abi.Facts {
	t.Helper()
	dir := include(t, "infiniband/x.h", text)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "infiniband/other.h"), []byte("struct other { int a; };"), 0o644))
	var facts abi.Facts
	require.NoError(t, json.Unmarshal([]byte(gen(t, "facts", "-header", "infiniband/x.h", "-I", dir, "-target", "linux/amd64")), &facts))
	return &facts
}

// The facts of each release are what the generator writes of them now.
func TestFactsOfReleasesAreWhatIsWritten(t *testing.T) {
	files, err := filepath.Glob("../headers/facts/*.gz")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		again := filepath.Join(t.TempDir(), "again.json")
		gen(t, "facts", "-facts", file, "-all", "-o", again)
		text, err := os.ReadFile(again)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(unpacked(t, file), text), "gen facts -facts %s -all -o %s changes it", file, file)
	}
}

func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	return text
}
