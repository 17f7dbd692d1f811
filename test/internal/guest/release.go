package guest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// What the provider of Soft-RoCE has not had from the beginning, and since which release of rdma-core.
const (
	Extended = 34 // extended completion queues and queue pairs
	Windows  = 36 // memory windows
)

// Release is the release of rdma-core, without what is behind the dot, that the loaded libibverbs is of.
func Release(t *testing.T) int {
	t.Helper()
	library, err := ibv.Library()
	require.NoError(t, err)
	number, _, _ := strings.Cut(library.Release, ".")
	n, err := strconv.Atoi(number)
	require.NoError(t, err, "%v does not tell its release", library)
	return n
}

// Needs skips a test where an older release is loaded than the first that has what is tested.
func Needs(t *testing.T, since int) {
	t.Helper()
	if have := Release(t); have < since {
		t.Skipf("Soft-RoCE has it since release %d of rdma-core, and %d is loaded", since, have)
	}
}
