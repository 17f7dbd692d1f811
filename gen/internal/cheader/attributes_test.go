package cheader_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/gcc"
	"github.com/goverbs/goverbs/headers"
)

// A header that asks for an attribute is told what gcc tells it, for all
// attributes that any target has, with underscores too, and for some that none
// has.
func TestHasAttributeAgreesWithGCC(t *testing.T) {
	arches := []string{"amd64", "386", "arm64", "s390x", "riscv64", "ppc64le"}
	names := []string{"nothing", "pack", "packed_", "_packed", "__packed", "alignedx"}
	for _, arch := range arches {
		target, err := headers.ParseTarget("linux/" + arch)
		require.NoError(t, err)
		names = append(names, target.Attributes()...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	require.Contains(t, names, "packed")
	var text strings.Builder
	text.WriteString("#ifndef __has_attribute\n#error there is no such operator\n#endif\n#define ASKED packed\n")
	for i, name := range names {
		fmt.Fprintf(&text, "#if __has_attribute(%s)\n#define HAS_%d 1\n#endif\n", name, i)
		fmt.Fprintf(&text, "#if __has_attribute(__%s__)\n#define HAS_%d_TOO 1\n#endif\n", name, i)
	}
	text.WriteString("#if __has_attribute(ASKED)\n#define HAS_ASKED 1\n#endif\n")
	for _, arch := range arches {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			compiler, err := gcc.For(arch)
			require.NoError(t, err)
			out, err := compiler.Preprocess(text.String() + shown(len(names)))
			require.NoError(t, err)
			facts, _, err := parseText(t, text.String(), arch)
			require.NoError(t, err)
			got := map[string]bool{}
			for _, m := range facts.Macros {
				got[m.Name] = true
			}
			require.True(t, got["HAS_ASKED"])
			for i, name := range names {
				for _, macro := range []string{fmt.Sprintf("HAS_%d", i), fmt.Sprintf("HAS_%d_TOO", i)} {
					assert.Equal(t, strings.Contains(out, "there_is_"+macro+"."), got[macro], "%s, %s", name, macro)
				}
			}
		})
	}
}

// shown is text that says which of the macros there are, in words that are none.
func shown(n int) string {
	var b strings.Builder
	for i := range n {
		for _, macro := range []string{fmt.Sprintf("HAS_%d", i), fmt.Sprintf("HAS_%d_TOO", i)} {
			fmt.Fprintf(&b, "#ifdef %s\nthere_is_%s.\n#endif\n", macro, macro)
		}
	}
	return b.String()
}
