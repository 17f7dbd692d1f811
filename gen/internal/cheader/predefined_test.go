package cheader_test

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/gcc"
	"github.com/goverbs/goverbs/headers"
)

// steady are the macros that are the same in every version of gcc.
var steady = regexp.MustCompile(`^(__SIZEOF_\w+__|__\w+_TYPE__|__(U?INT|LONG|S?CHAR|SHRT|SIZE|PTRDIFF|W)\w*_(MAX|MIN|WIDTH)__|_?_LP64(__)?|__BYTE_ORDER__|__CHAR_\w+__|__ELF__|__\w*(linux|unix)\w*)$`)

func TestPredefinedMacrosAgreeWithGCC(t *testing.T) {
	for _, arch := range []string{"amd64", "386", "arm64", "s390x", "riscv64", "ppc64le"} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			compiler, err := gcc.For(arch)
			require.NoError(t, err)
			want, err := compiler.Macros()
			require.NoError(t, err)
			target, err := headers.ParseTarget("linux/" + arch)
			require.NoError(t, err)
			got := target.Macros()
			require.Contains(t, want, "__LONG_MAX__")
			if want["__GNUC__"] != got["__GNUC__"] {
				changes := func(name, _ string) bool { return !steady.MatchString(name) }
				maps.DeleteFunc(got, changes)
				maps.DeleteFunc(want, changes)
				require.Greater(t, len(want), 80)
			}
			assert.Equal(t, want, got)
		})
	}
}

// Targets without a compiler to ask differ from their like where they should.
func TestPredefinedMacrosOfTargetsWithoutGCC(t *testing.T) {
	macros := func(name string) map[string]string {
		target, err := headers.ParseTarget(name)
		require.NoError(t, err)
		return target.Macros()
	}
	differ := func(a, b string, own *regexp.Regexp) (names []string) {
		one, other := macros(a), macros(b)
		for name := range maps.Keys(one) {
			if value, ok := other[name]; (!ok || value != one[name]) && !own.MatchString(name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	none := regexp.MustCompile(`^$`)
	assert.Equal(t, []string{"_STDC_PREDEF_H", "__STDC_ISO_10646__"}, differ("linux/arm64/musl", "linux/arm64", none))
	for _, name := range differ("freebsd/arm64", "linux/arm64", none) {
		assert.Regexp(t, `^__(FreeBSD__|KPRINTF_ATTRIBUTE__|U?INT_FAST(16|32)_\w+|WINT_\w+)$`, name)
	}
	assert.Equal(t, "14", macros("freebsd/amd64")["__FreeBSD__"])
	for _, name := range differ("linux/arm", "linux/386", none) {
		if steady.MatchString(name) {
			assert.Contains(t, []string{"__CHAR_UNSIGNED__", "__SIZEOF_LONG_DOUBLE__", "__WCHAR_TYPE__", "__WCHAR_MAX__", "__WCHAR_MIN__"}, name)
		}
	}
	assert.Empty(t, differ("linux/loong64", "linux/riscv64", regexp.MustCompile(`(?i)loongarch|^_ABILP64$|GCC_`)))
	assert.NotContains(t, macros("freebsd/amd64"), "__linux__")
}
