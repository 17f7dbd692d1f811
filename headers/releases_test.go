package headers

import (
	"io/fs"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReleases(t *testing.T) {
	assert.Equal(t, []string{
		"33.2", "39.0", "44.0", "50.0", "56.1", "58.0", "61.0", "61.1", "62.0", "64.0", "65.0", "freebsd-14", "freebsd-15",
	}, Releases())
	assert.Negative(t, compareReleases("9.0", "33.2"))
	assert.Positive(t, compareReleases("65.1", "65.0"))
	for _, r := range Releases() {
		text, err := Facts(r)
		require.NoError(t, err)
		assert.Equal(t, []byte{0x1f, 0x8b}, text[:2], r)
	}
	_, err := Facts("1.0")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// A system ships a release whose facts are here.
func TestSystems(t *testing.T) {
	all := Systems()
	require.Contains(t, all, System{"debian", "bookworm", "44.0"})
	for _, name := range []string{
		"alpine", "arch", "centos-stream", "debian", "fedora", "freebsd", "nixos", "opensuse-leap", "ubuntu",
	} {
		assert.True(t, slices.ContainsFunc(all, func(s System) bool { return s.Name == name }), name)
	}
	for _, s := range all {
		assert.Contains(t, Releases(), s.Release, "%s %s", s.Name, s.Version)
	}
}
