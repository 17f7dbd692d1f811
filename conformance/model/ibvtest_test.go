//go:build !freebsd && !race

package model

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibvtest"
)

// ibvtest does what the model says, whatever the calls: thousands of sequences.
// The race detector would report them: they give the same memory to several work
// requests at a time, and look at it meanwhile. The time is the test's, so nobody waits
// for retries.
func TestInProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := Open(ibvtest.New(t).Names()[0])
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		d.Settle, d.Timeout, d.Patience = 0, 8, *patience
		seed := *first
		if seed == 0 {
			seed = uint64(rand.Uint32())
		}
		replayAll(t, d, seed, 20**sequences)
	})
}
