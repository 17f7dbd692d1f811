//go:build device

package ibv_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The package's example does on a real device what it says.
func TestExampleOnDevice(t *testing.T) {
	require.NoError(t, sendToMyself())
}
