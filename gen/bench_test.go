package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// One go generate reads the headers for all targets, compares them with what is
// known, and makes all Go files. It is to take less than a second; on an idle machine
// of two cores it took 0.62 s:
//
//	go test ./gen -run '^$' -bench Generate
func BenchmarkGenerate(b *testing.B) {
	for b.Loop() {
		require.NoError(b, run([]string{"check", "-o", "../ibv"}, io.Discard))
	}
}
