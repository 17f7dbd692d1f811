package cheader_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/cheader"
	"github.com/goverbs/goverbs/headers"
)

// Readers share nothing that one of them changes, and no map's order reaches
// the facts.
func TestParallelReadersAgree(t *testing.T) {
	src := cheader.Source{Header: "infiniband/verbs.h", IncludeDirs: []string{"/usr/include"}}
	texts := make([]bytes.Buffer, 20)
	var wg sync.WaitGroup
	for i := range texts {
		wg.Go(func() {
			f, err := cheader.Parse(src, headers.Target{OS: "linux", Arch: "amd64", Libc: "glibc"})
			if assert.NoError(t, err) {
				assert.NoError(t, f.Write(&texts[i]))
			}
		})
	}
	wg.Wait()
	require.NotEmpty(t, texts[0].String())
	for i := range texts {
		require.Equal(t, texts[0].String(), texts[i].String(), "reader %d", i)
	}
}
