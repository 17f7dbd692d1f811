//go:build linux && !android

package dl

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestObjectOf(t *testing.T) {
	library, err := Load()
	require.NoError(t, err, "these tests need libibverbs")
	address, err := library.Symbol("ibv_modify_qp")
	require.NoError(t, err)
	require.Contains(t, filepath.Base(ObjectOf(address)), "libibverbs.so")
	require.Contains(t, filepath.Base(ObjectOf(address+1)), "libibverbs.so", "within a function")
	for _, nowhere := range []uintptr{0, 1, ^uintptr(0)} {
		require.Empty(t, ObjectOf(nowhere))
	}
}
