package cheader_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/cheader"
	"github.com/goverbs/goverbs/gen/internal/crandom"
	"github.com/goverbs/goverbs/headers"
)

// FuzzParse: no header, however broken, makes the reader panic, run for long,
// or tell facts that cannot be written.
func FuzzParse(f *testing.F) {
	for _, c := range cases {
		f.Add(c.text)
	}
	for _, b := range bodies {
		f.Add(b.text)
	}
	for i := range uint64(4) {
		f.Add(crandom.New(i, crandom.Options{Decls: 8, Alien: true, Overaligned: true}).String())
	}
	for _, text := range stubborn {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "fuzz.h"), []byte(text), 0o644))
		start := time.Now()
		for _, name := range []string{"linux/amd64", "linux/s390x"} {
			target, err := headers.ParseTarget(name)
			require.NoError(t, err)
			facts, err := cheader.Parse(cheader.Source{Header: "fuzz.h", IncludeDirs: []string{dir}}, target)
			if err == nil {
				require.NoError(t, json.NewEncoder(io.Discard).Encode(facts))
			}
		}
		require.Less(t, time.Since(start), 20*time.Second)
	})
}

// stubborn are headers that made the reader panic or run on.
var stubborn = []string{
	"#include \"fuzz.h\"\n",
	"#define A A A\n#define B B(A) B(A)\nA B(A)\n",
	"struct { char ; char b : 3; signed char ; } enum",
	"struct a { struct a *a[sizeof(struct a *)]; };",
	"struct {int *",
	"*;",
}
