//go:build device

package main

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// It lists the device that the guest has.
func TestDevices(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	before := os.Stdout
	os.Stdout = w
	main()
	os.Stdout = before
	require.NoError(t, w.Close())
	output, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Regexp(t, `(?m)^rxe0 \(InfiniBand or RoCE\)$`, string(output))
}
