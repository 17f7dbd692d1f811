//go:build device

package device

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// linux tells whether the kernel is of a release or a newer one, for what its drivers
// do differently since then.
func linux(t *testing.T, major, minor int) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	require.NoError(t, err)
	var have, haveMinor int
	_, err = fmt.Sscanf(string(text), "%d.%d", &have, &haveMinor)
	require.NoError(t, err, "%s", text)
	return have > major || have == major && haveMinor >= minor
}

// flushesOwnErrors tells whether Soft-RoCE moves a queue pair to the error state before
// it says what a work request has done wrong, and says then that it was flushed.
func flushesOwnErrors(t *testing.T) bool { return linux(t, 6, 4) }
