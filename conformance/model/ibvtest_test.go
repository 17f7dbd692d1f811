//go:build !freebsd

package model

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/internal/ccall"
)

// ibvtest does what the model says, whatever the calls: thousands of sequences.
// Its time is that of the test, so nobody waits for retries.
func TestInProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := Open(ibvtest.New(t).Names()[0])
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		d.Settle, d.Timeout, d.Patience = 0, 8, *patience
		n := 20 * *sequences
		if ccall.RaceDetector { // It is ten times as slow.
			n = *sequences
		}
		seed := *first
		if seed == 0 {
			seed = uint64(rand.Uint32())
		}
		replayAll(t, d, seed, n)
	})
}
