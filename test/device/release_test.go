//go:build device

package device

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// libraryFile is how rdma-core names libibverbs: by the interface's version, a count
// of its additions, and rdma-core's own release.
var libraryFile = regexp.MustCompile(`/libibverbs\.so\.1\.\d+\.(\d+)\.\d+$`)

// release is the number before the point in the release of the libibverbs that this
// process has loaded, for what providers do differently since some release.
func release(t *testing.T) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)/\S*/libibverbs[^/\s]*$`).FindString(string(maps))
	number := libraryFile.FindStringSubmatch(found)
	require.NotNil(t, number, "the file that libibverbs was loaded from, %q, does not say which release it is", found)
	n, err := strconv.Atoi(number[1])
	require.NoError(t, err)
	return n
}
