//go:build device && linux

package rdma

import "testing"

// hasty is by what tests that take long are shortened with -short, which is for guests
// that are emulated, for the race detector, and for all runs but one.
const hasty = 20

// effort is how often a test does something that it does n times to be sure: n, or
// with -short a part of that, 1 at least. The test's log says so.
func effort(t *testing.T, n int) int {
	t.Helper()
	if !testing.Short() {
		return n
	}
	short := max(n/hasty, 1)
	t.Logf("-short: %d in place of %d", short, n)
	return short
}
