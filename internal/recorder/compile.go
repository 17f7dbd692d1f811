package recorder

import (
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/ccompile"
)

//go:embed testdata/recorder.c
var source []byte

// Slots is how many functions a library has for members of structs.
const Slots = 256

// known is the facts beside generated Go, as far as they matter here.
type known struct {
	First  facts
	Others []struct{ Facts facts }
}

type facts struct {
	Functions []struct{ Name, Kind, Header string }
	Since     map[string]string // by kind and name
}

func read(t testing.TB, name string) (k known) {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	plain, err := gzip.NewReader(file)
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(plain).Decode(&k))
	return k
}

// Functions lists the functions that the headers of an include folder declare and their library exports, by name, from
// the facts beside generated Go: of all releases and systems that are known.
func Functions(t testing.TB, factsFile, folder string) []string {
	t.Helper()
	k := read(t, factsFile)
	names := map[string]bool{}
	add := func(of facts) {
		for _, f := range of.Functions {
			if f.Kind == "extern" && strings.HasPrefix(f.Header, folder+"/") {
				names[f.Name] = true
			}
		}
	}
	add(k.First)
	for _, other := range k.Others {
		add(other.Facts)
	}
	require.NotEmpty(t, names, "%s has no functions of %s", factsFile, folder)
	return slices.Sorted(maps.Keys(names))
}

// Since says which release brought a function, from the same facts; "" if it was there from the first that is known.
func Since(t testing.TB, factsFile, function string) string {
	t.Helper()
	return read(t, factsFile).First.Since["function "+function]
}

// Compile makes a library in a folder that exports functions of these names, and returns its path. Without a C compiler
// there is nothing to test against, which has to be admitted with GOVERBS_NO_CC=1.
func Compile(t testing.TB, folder, name string, functions []string) string {
	t.Helper()
	library := filepath.Join(folder, name)
	var list strings.Builder
	for i, f := range functions {
		fmt.Fprintf(&list, "FUNCTION(%d, %s)\n", i, f)
	}
	for i := range Slots {
		fmt.Fprintf(&list, "SLOT(%d)\n", len(functions)+i)
	}
	require.NoError(t, os.WriteFile(library+".inc", []byte(list.String()), 0o600))
	require.NoError(t, os.WriteFile(library+".c", source, 0o600))
	return ccompile.Shared(t, library+".c", library, "-pthread", "-DFUNCTIONS=\""+library+".inc\"")
}
