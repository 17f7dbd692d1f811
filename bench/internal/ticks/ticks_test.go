package ticks

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTicksGoOn(t *testing.T) {
	length := Length()
	require.Positive(t, length)
	require.LessOrEqual(t, length, 100.0, "a tick of more than 100 ns is no use")
	last := Now()
	for range 1000 {
		now := Now()
		require.GreaterOrEqual(t, now, last)
		last = now
	}
}
