package headers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]Target{
		"linux/amd64":           {"linux", "amd64", "glibc"},
		"linux/arm64/musl":      {"linux", "arm64", "musl"},
		"linux/386":             {"linux", "386", "glibc"},
		"freebsd/arm64":         {"freebsd", "arm64", "freebsd"},
		"linux/s390x/glibc":     {"linux", "s390x", "glibc"},
		"freebsd/amd64/freebsd": {"freebsd", "amd64", "freebsd"},
	} {
		got, err := ParseTarget(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
		again, err := ParseTarget(got.String())
		require.NoError(t, err, text)
		assert.Equal(t, want, again, text)
	}
	for text, want := range map[string]string{
		"":                    "want os/arch or os/arch/libc",
		"linux":               "want os/arch or os/arch/libc",
		"linux/amd64/musl/x":  "want os/arch or os/arch/libc",
		"windows/amd64":       `unknown system "windows", want freebsd or linux`,
		"linux/mips":          `unknown processor "mips", want 386, amd64`,
		"freebsd/riscv64":     `unknown processor "riscv64", want amd64 or arm64`,
		"linux/amd64/newlib":  `unknown C library "newlib", want glibc or musl`,
		"freebsd/amd64/glibc": `unknown C library "glibc", want freebsd`,
	} {
		_, err := ParseTarget(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestGoTargets(t *testing.T) {
	names := func(os string) (all []string) {
		for _, target := range GoTargets(os) {
			all = append(all, target.String())
		}
		return all
	}
	assert.Equal(t, []string{
		"linux/amd64", "linux/arm64", "linux/arm64/musl", "linux/loong64", "linux/ppc64le", "linux/riscv64", "linux/s390x",
	}, names("linux"))
	assert.Equal(t, []string{"freebsd/amd64", "freebsd/arm64"}, names("freebsd"))
	assert.Empty(t, names("plan9"))
}
