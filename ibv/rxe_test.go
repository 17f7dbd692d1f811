//go:build !freebsd

package ibv

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// How a poll ends is by the release, as far as the files tell it; where they do
// not, one completion is taken at a time, which every release can do.
func TestPollsOfSoftRoCE(t *testing.T) {
	const how, nextEnds, single, right = "/usr/lib/libibverbs/", 1, 2, 0
	for _, tt := range []struct {
		provider, library string
		want              int
	}{
		{"librxe-rdmav34.so", "/lib/libibverbs.so.1.14.39.0", nextEnds},
		{"librxe-rdmav34.so", "/lib/libibverbs.so.1.14.44.0", nextEnds},
		{"librxe-rdmav34.so", "/lib/libibverbs.so.1.14.54.0", nextEnds},
		{"librxe-rdmav34.so", "/lib/libibverbs.so.1.14.54.3", nextEnds},
		{"librxe-rdmav34.so", "/lib/libibverbs.so.1.14.54.4", single},
		{"librxe-rdmav34.so", "/lib/libibverbs.so.1.14.44.11", single},
		{"librxe-rdmav34.so", "/lib/libibverbs.so.1.14.55.0", single},
		{"librxe-rdmav34.so", "/lib/libibverbs.so.1", single},
		{"librxe-rdmav34.so", "", single},
		{"librxe-rdmav57.so", "/lib/libibverbs.so.1.14.44.0", single},
		{"librxe-rdmav57.so", "/lib/libibverbs.so.1.15.58.0", single},
		{"librxe-rdmav59.so", "/lib/libibverbs.so.1.15.61.0", right},
		{"librxe-rdmav65.so", "/lib/libibverbs.so.1.16.65.0", right},
		{"libmlx5-rdmav34.so", "/lib/libibverbs.so.1.14.44.0", right},
		{"librxe.so", "/lib/libibverbs.so.1.14.44.0", right},
		{"librxe-rdmav99999999999999999999.so", "", right},
	} {
		ends, singly := rxePollsOf(how+tt.provider, tt.library)
		require.Equal(t, [2]bool{tt.want == nextEnds, tt.want == single}, [2]bool{ends, singly}, "%v", tt)
	}
}
